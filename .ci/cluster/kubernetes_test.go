//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"
)

func TestKubernetesModule(t *testing.T) {
	got, err := kubernetesModule(`module k8s.io/kubernetes

require (
	k8s.io/api v0.0.0
	k8s.io/kube-openapi v0.0.0-2026
)

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/kube-scheduler => ./staging/src/k8s.io/kube-scheduler
)
`)
	assert.NilError(t, err)
	_, replaced, _ := strings.Cut(got, "replace (\n")
	assert.Equal(t, replaced, "\tk8s.io/api => k8s.io/api v0.36.3\n\tk8s.io/kube-scheduler => k8s.io/kube-scheduler v0.36.3\n)\n")
	assert.Assert(t, cmp.Contains(got, "require k8s.io/kubernetes v1.36.3\n"))
	_, err = kubernetesModule("module k8s.io/kubernetes\n")
	assert.ErrorContains(t, err, "want replacements")
}

// TestDeployment checks that only the image and the ConfigMap of the file change, and that the file
// keeps its promises: no privileges, no second attempt, and no secret.
func TestDeployment(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/deploy/kubernetes.yaml")
	assert.NilError(t, err)
	out, err := deployment(text, map[string]string{"LLMBENCH_URL": mockURL, "LLMBENCH_RATE": "5"})
	assert.NilError(t, err)
	var list struct {
		Items []struct {
			Kind string
			Data map[string]string
			Spec struct {
				CompletionMode                                                string
				Completions, Parallelism, BackoffLimit, ActiveDeadlineSeconds *int
				Template                                                      struct {
					Spec struct {
						AutomountServiceAccountToken *bool
						SecurityContext              map[string]any
						Containers                   []struct {
							Image           string
							SecurityContext map[string]any
						}
					}
				}
			}
		}
	}
	assert.NilError(t, json.Unmarshal(out, &list))
	var kinds []string
	for _, item := range list.Items {
		kinds = append(kinds, item.Kind)
		switch item.Kind {
		case "ConfigMap":
			assert.Equal(t, item.Data["LLMBENCH_URL"], mockURL)
			assert.Equal(t, item.Data["LLMBENCH_RATE"], "5")
			assert.Equal(t, item.Data["LLMBENCH_CONCURRENCY"], "")
			assert.Equal(t, item.Data["LLMBENCH_SHARDS"], "4")
			assert.Equal(t, item.Data["LLMBENCH_RENDEZVOUS_TOKEN"], "")
		case "Job":
			s := item.Spec
			assert.Equal(t, s.CompletionMode, "Indexed")
			assert.DeepEqual(t, []int{*s.Completions, *s.Parallelism, *s.BackoffLimit}, []int{shards, shards, 0})
			assert.Assert(t, *s.ActiveDeadlineSeconds > 0)
			pod := s.Template.Spec
			assert.Equal(t, *pod.AutomountServiceAccountToken, false)
			assert.Equal(t, pod.SecurityContext["runAsNonRoot"], true)
			assert.DeepEqual(t, pod.SecurityContext["seccompProfile"], map[string]any{"type": "RuntimeDefault"})
			c := pod.Containers[0]
			assert.Equal(t, c.Image, scenariosImage)
			assert.DeepEqual(t, c.SecurityContext, map[string]any{
				"readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}},
			})
		}
	}
	assert.DeepEqual(t, kinds, []string{"ConfigMap", "Service", "PersistentVolumeClaim", "Job"})
	_, err = deployment([]byte("kind: Service\n"), nil)
	assert.ErrorContains(t, err, "0 ConfigMaps and containers")
}

// TestKubeNodes checks that nodes share nothing, and that their configurations can be read.
func TestKubeNodes(t *testing.T) {
	nodes := kubeNodes("/tmp/lab-1")
	assert.Equal(t, len(nodes), 2)
	used := map[string]bool{}
	for _, n := range nodes {
		for _, one := range []string{n.name, n.addr, n.pods, n.dir, n.cgroup, n.socket()} {
			assert.Assert(t, !used[one], one)
			used[one] = true
		}
		var kubelet struct {
			CgroupRoot string `yaml:"cgroupRoot"`
			Endpoint   string `yaml:"containerRuntimeEndpoint"`
		}
		assert.NilError(t, yaml.Unmarshal([]byte(n.kubelet()), &kubelet))
		assert.Equal(t, kubelet.CgroupRoot, "/lab-1-"+n.name)
		assert.Equal(t, kubelet.Endpoint, "unix:///tmp/lab-1/"+n.name+"/containerd.sock")
		var network struct{ Plugins []map[string]any }
		assert.NilError(t, json.Unmarshal([]byte(n.cni()), &network))
		assert.Equal(t, network.Plugins[0]["type"], "bridge")
		assert.Assert(t, cmp.Contains(n.containerd(), `conf_dir = "/tmp/lab-1/`+n.name+`/cni"`))
	}
	for _, text := range []string{volume("run-1", "/d/closed loop"), kubeconfig("secret")} {
		var any map[string]any
		assert.NilError(t, yaml.Unmarshal([]byte(text), &any))
	}
}

// TestPrograms checks that programs in the cache are not built again.
func TestPrograms(t *testing.T) {
	t.Setenv("LLMBENCH_CACHE", t.TempDir())
	want := filepath.Join(os.Getenv("LLMBENCH_CACHE"), "kubernetes", "v1.36.3-coredns-v1.14.7")
	assert.NilError(t, os.MkdirAll(want, 0o755))
	var out strings.Builder
	got, err := programs(t.Context(), &out)
	assert.NilError(t, err)
	assert.Equal(t, got, want)
	assert.Equal(t, out.String(), "")
}
