//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

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

// A manifest holds the fields of an object that the tests read.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string
	Spec     struct {
		podSpec
		AccessModes                                                   []string
		CompletionMode                                                string
		Completions, Parallelism, BackoffLimit, ActiveDeadlineSeconds int
		Template                                                      struct{ Spec podSpec }
	}
}

// A podSpec holds the fields of a pod that the tests read.
type podSpec struct {
	Hostname, Subdomain          string
	AutomountServiceAccountToken *bool
	SecurityContext              map[string]any
	Containers                   []struct {
		Image           string
		Env             []struct{ Name, Value string }
		SecurityContext map[string]any
	}
	Volumes []struct {
		PersistentVolumeClaim struct{ ClaimName string }
	}
}

// deployed returns the objects in a file of scenarios/deploy as the lab deploys them.
func deployed(t *testing.T, file string, variables map[string]string) []manifest {
	t.Helper()
	text, err := os.ReadFile("../../scenarios/deploy/" + file)
	assert.NilError(t, err)
	out, err := deployment(text, variables)
	assert.NilError(t, err)
	var list struct{ Items []manifest }
	assert.NilError(t, json.Unmarshal(out, &list))
	return list.Items
}

// checkPod checks that a pod has the image of the lab, has no privileges, and cannot reach the API
// server.
func checkPod(t *testing.T, pod podSpec) {
	t.Helper()
	assert.Equal(t, *pod.AutomountServiceAccountToken, false)
	assert.Equal(t, pod.SecurityContext["runAsNonRoot"], true)
	assert.DeepEqual(t, pod.SecurityContext["seccompProfile"], map[string]any{"type": "RuntimeDefault"})
	assert.Equal(t, len(pod.Containers), 1)
	c := pod.Containers[0]
	assert.Equal(t, c.Image, scenariosImage)
	assert.DeepEqual(t, c.SecurityContext, map[string]any{
		"readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}},
	})
}

// TestDeployment checks that only the images and the ConfigMap of the file change. It also checks
// what the file promises: pods have no privileges, no second attempt and no secret. The cluster has
// time to start nodes. Only the pod of shard 0 has a volume, and only one node at a time can mount
// this volume.
func TestDeployment(t *testing.T) {
	var names []string
	for _, item := range deployed(t, "kubernetes.yaml", map[string]string{"LLMBENCH_URL": mockURL, "LLMBENCH_RATE": "5"}) {
		names = append(names, item.Kind+" "+item.Metadata.Name)
		switch s := item.Spec; item.Kind {
		case "ConfigMap":
			assert.Equal(t, item.Data["LLMBENCH_URL"], mockURL)
			assert.Equal(t, item.Data["LLMBENCH_RATE"], "5")
			assert.Equal(t, item.Data["LLMBENCH_CONCURRENCY"], "")
			assert.Equal(t, item.Data["LLMBENCH_RENDEZVOUS"], "shard0.llmbench:9000")
			assert.Equal(t, item.Data["LLMBENCH_RENDEZVOUS_TOKEN"], "")
			limit, err := time.ParseDuration(item.Data["LLMBENCH_RENDEZVOUS_TIMEOUT"])
			assert.NilError(t, err)
			assert.Assert(t, limit >= 10*time.Minute, "%v", limit)
		case "PersistentVolumeClaim":
			assert.DeepEqual(t, s.AccessModes, []string{"ReadWriteOnce"})
		case "Job":
			assert.Equal(t, s.BackoffLimit, 0)
			assert.Assert(t, s.ActiveDeadlineSeconds > 0)
			pod := s.Template.Spec
			checkPod(t, pod)
			assert.Equal(t, pod.Subdomain, "llmbench")
			env := map[string]string{}
			for _, v := range pod.Containers[0].Env {
				env[v.Name] = v.Value
			}
			if item.Metadata.Name == "llmbench" {
				assert.Equal(t, pod.Hostname, "shard0")
				assert.DeepEqual(t, env, map[string]string{"LLMBENCH_SHARD": fmt.Sprintf("0/%d", shards), "LLMBENCH_OUT": "/records"})
				assert.Equal(t, len(pod.Volumes), 1)
				assert.Equal(t, pod.Volumes[0].PersistentVolumeClaim.ClaimName, "llmbench")
				continue
			}
			assert.Equal(t, s.CompletionMode, "Indexed")
			assert.DeepEqual(t, []int{s.Completions, s.Parallelism}, []int{shards - 1, shards - 1})
			assert.DeepEqual(t, env, map[string]string{"INDEX": "", "LLMBENCH_SHARD": fmt.Sprintf("$(INDEX)+1/%d", shards)})
			assert.Equal(t, len(pod.Volumes), 0)
		}
	}
	assert.DeepEqual(t, names, []string{"ConfigMap llmbench", "Service llmbench", "PersistentVolumeClaim llmbench", "Job llmbench", "Job llmbench-others"})
	_, err := deployment([]byte("kind: Service\n"), nil)
	assert.ErrorContains(t, err, "0 ConfigMaps and 0 containers")
	_, err = deployment([]byte("kind: Pod\nspec: {containers: [{}]}\n"), map[string]string{"LLMBENCH_RATE": "5"})
	assert.ErrorContains(t, err, "0 ConfigMaps and 1 containers")
}

// TestImageNames checks that no file names an image that somebody else could own. Nobody can
// register the name registry.example (RFC 2606).
func TestImageNames(t *testing.T) {
	for _, file := range []string{"kubernetes.yaml", "records.yaml"} {
		text, err := os.ReadFile("../../scenarios/deploy/" + file)
		assert.NilError(t, err)
		images := regexp.MustCompile(`(?m)^ +image: (.*)$`).FindAllStringSubmatch(string(text), -1)
		assert.Equal(t, len(images), 1, file)
		assert.Equal(t, images[0][1], "registry.example/llmbench/scenarios", file)
	}
}

// TestRecordsPod checks that the pod with which records are copied out has the volume and no
// privileges, and that the lab runs the command in the file.
func TestRecordsPod(t *testing.T) {
	items := deployed(t, "records.yaml", nil)
	assert.Equal(t, len(items), 1)
	checkPod(t, items[0].Spec.podSpec)
	assert.Equal(t, items[0].Spec.Volumes[0].PersistentVolumeClaim.ClaimName, "llmbench")
	text, err := os.ReadFile("../../scenarios/deploy/records.yaml")
	assert.NilError(t, err)
	assert.Assert(t, cmp.Contains(string(text), "\n#   kubectl "+strings.Join(takeOut, " ")+" | tar xv\n"))
}

// TestKubeNodes checks that the nodes share nothing, and that their configurations are valid.
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

// TestPrograms checks that programs that are already in the cache are not built again.
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
