//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// apiURL is the URL of the API server.
const apiURL = "https://" + headAddr + ":6443"

// These are the images of a lab. They are in no registry.
const (
	scenariosImage = "llmbench/scenarios:lab"
	sandboxImage   = "llmbench/sandbox:lab"
)

// kubeconfig returns the configuration with which a client reaches the API server.
func kubeconfig(token string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: lab
clusters: [{name: lab, cluster: {server: "%s", insecure-skip-tls-verify: true}}]
users: [{name: lab, user: {token: "%s"}}]
contexts: [{name: lab, context: {cluster: lab, user: lab}}]
`, apiURL, token)
}

// corefile returns the configuration of CoreDNS.
func corefile(config string) string {
	return fmt.Sprintf(`cluster.local:53 {
	bind %s
	errors
	kubernetes cluster.local {
		kubeconfig %s lab
		ttl 0
	}
}
`, headAddr, config)
}

// A kubeNode is a node of Kubernetes.
type kubeNode struct {
	name, addr string
	pods       string // the first three numbers of the addresses of its pods
	dir        string // the folder of its files
	cgroup     string // the root of its control groups
}

// kubeNodes returns the nodes of a lab, whose files are in the folder dir.
func kubeNodes(dir string) (all []kubeNode) {
	for i, name := range []string{"k1", "k2"} {
		all = append(all, kubeNode{
			name: name, addr: fmt.Sprintf("%s.%d", network, 21+i), pods: fmt.Sprintf("10.78.%d", i),
			dir: filepath.Join(dir, name), cgroup: "/" + filepath.Base(dir) + "-" + name,
		})
	}
	return all
}

// socket returns the path of the socket of the node's containerd.
func (n kubeNode) socket() string { return n.dir + "/containerd.sock" }

// containerd returns the configuration of the node's containerd.
func (n kubeNode) containerd() string {
	return fmt.Sprintf(`version = 2
root = "%[1]s/containerd/root"
state = "%[1]s/containerd/state"
[grpc]
  address = "%[2]s"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/%[3]s"
  disable_tcp_service = true
  disable_apparmor = true
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "%[4]s"
    conf_dir = "%[1]s/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`, n.dir, n.socket(), sandboxImage, cniDir)
}

// cni returns the configuration of the network of the node's pods, which is a bridge on the node.
func (n kubeNode) cni() string {
	return fmt.Sprintf(`{"cniVersion":"0.4.0","name":"pods","plugins":[{"type":"bridge","bridge":"pods","isGateway":true,"hairpinMode":true,
"ipam":{"type":"host-local","dataDir":"%s/ipam","ranges":[[{"subnet":"%s.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
`, n.dir, n.pods)
}

// kubelet returns the configuration of the node's kubelet.
func (n kubeNode) kubelet() string {
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: %[3]s
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
cgroupRoot: %[4]s
enforceNodeAllocatable: []
containerRuntimeEndpoint: unix://%[2]s
healthzBindAddress: 127.0.0.1
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
clusterDomain: cluster.local
clusterDNS: ["%[5]s"]
resolvConf: %[1]s/resolv.conf
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi}
podLogsDir: %[1]s/logs
volumePluginDir: %[1]s/plugins
makeIPTablesUtilChains: false
`, n.dir, n.socket(), n.addr, n.cgroup, headAddr)
}

// volume returns a volume that is a folder of the lab. Only one node can mount it, as with the
// disks of most clusters. A pod with the volume runs on that node or not at all.
func volume(name, path string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: PersistentVolume
metadata: {name: %s}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  persistentVolumeReclaimPolicy: Retain
  claimRef: {namespace: %[1]s, name: llmbench}
  hostPath: {path: "%s", type: Directory}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [%s]}]
`, name, path, kubeNodes("")[0].name)
}

// deployment returns a file of Kubernetes as a List in JSON, with two changes. The image is the lab's
// image, and the variables, if there are any, are added to the ConfigMap. Also, each container requests at
// most half a CPU. If each requested one, four containers would fill the two nodes of the lab, and there
// might be no room for shard 0, which can run on only one of them. Everything else is as in the file.
func deployment(file []byte, variables map[string]string) ([]byte, error) {
	var items []any
	for decoder := yaml.NewDecoder(bytes.NewReader(file)); ; {
		var item map[string]any
		err := decoder.Decode(&item)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if item["kind"] == "List" {
			items = append(items, item["items"].([]any)...)
		} else {
			items = append(items, item)
		}
	}
	maps, containers := 0, 0
	for _, one := range items {
		item := one.(map[string]any)
		spec, _ := item["spec"].(map[string]any)
		switch item["kind"] {
		case "ConfigMap":
			addTo(item["data"].(map[string]any), variables)
			maps++
			continue
		case "Job":
			spec = spec["template"].(map[string]any)["spec"].(map[string]any)
		case "Pod":
		default:
			continue
		}
		for _, c := range spec["containers"].([]any) {
			c := c.(map[string]any)
			c["image"] = scenariosImage
			if resources, ok := c["resources"].(map[string]any); ok {
				if requests := resources["requests"].(map[string]any); requests["cpu"] == "1" {
					requests["cpu"] = "500m"
				}
			}
			containers++
		}
	}
	if containers == 0 || len(variables) > 0 && maps != 1 {
		return nil, fmt.Errorf("%d ConfigMaps and %d containers: want one ConfigMap for the variables, and containers", maps, containers)
	}
	return json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}

// addTo adds variables to the data of a ConfigMap.
func addTo(data map[string]any, variables map[string]string) {
	if _, open := variables["LLMBENCH_RATE"]; open {
		delete(data, "LLMBENCH_CONCURRENCY") // a load sets either the concurrency or a rate
	}
	for name, value := range variables {
		data[name] = value
	}
}
