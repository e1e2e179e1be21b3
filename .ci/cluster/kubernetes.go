//go:build linux

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// cniDir is the folder in which Debian and Ubuntu install the plugins for the networks of pods.
const cniDir = "/usr/lib/cni"

// kubernetes is the release of Kubernetes that is built, with the other programs that it needs from
// the distribution.
var kubernetes = engine{
	files: []string{"scenarios/deploy/kubernetes.yaml", "scenarios/deploy/records.yaml"},
	packages: []software{
		{[]string{"ip"}, "iproute2"},
		{[]string{"etcd"}, "etcd-server"},
		{[]string{"containerd", "ctr"}, "containerd"},
		{[]string{"runc"}, "runc"},
		{[]string{cniDir + "/bridge", cniDir + "/host-local", cniDir + "/loopback"}, "containernetworking-plugins"},
		{[]string{"docker"}, "docker.io"},
	},
	prepare: prepareKubernetes,
	up:      upKubernetes,
	down: func(dir string) (err error) {
		for _, n := range kubeNodes(dir) {
			err = errors.Join(err, removeCgroup(n.cgroup))
		}
		return err
	},
}

// prepareKubernetes puts the programs and the images in a folder, and makes the control groups of
// the nodes.
func prepareKubernetes(ctx context.Context, dir string, out io.Writer) error {
	bin, err := programs(ctx, out)
	if err != nil {
		return err
	}
	module, err := root(ctx)
	if err != nil {
		return err
	}
	// The process of a sandbox can be any process that waits.
	sandbox := fmt.Sprintf("FROM %s\nENTRYPOINT [\"/mockserver\", \"-addr=127.0.0.1:0\"]\nCMD []\n", scenariosImage)
	defer exec.Command("docker", "rmi", "--force", scenariosImage, sandboxImage).Run() // by then the images are in a file
	for _, step := range []struct {
		args  []string
		stdin string
	}{
		{[]string{filepath.Join(module, ".ci/image")}, ""},
		{[]string{"docker", "build", "--quiet", "--tag", sandboxImage, "-"}, sandbox},
		{[]string{"docker", "save", "--output", filepath.Join(dir, "images.tar"), scenariosImage, sandboxImage}, ""},
	} {
		cmd := exec.CommandContext(ctx, step.args[0], step.args[1:]...)
		cmd.Env = append(os.Environ(), "IMAGE="+scenariosImage)
		cmd.Stdin = strings.NewReader(step.stdin)
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(step.args, " "), err, text)
		}
	}
	err = os.Symlink(bin, filepath.Join(dir, "bin"))
	for _, n := range kubeNodes(dir) {
		err = errors.Join(err, makeCgroup(n.cgroup))
	}
	return err
}

// A kube runs scenarios/deploy/kubernetes.yaml on nodes of a lab.
type kube struct {
	lab  *lab
	jobs int
}

// path returns the path of a file in the folder of the lab.
func (k *kube) path(name string) string { return filepath.Join(k.lab.dir, name) }

// kubectl runs kubectl.
func (k *kube) kubectl(ctx context.Context, args ...string) (string, error) {
	return command(ctx, append([]string{k.path("bin/kubectl"), "--kubeconfig=" + k.path("kubeconfig"), "--cache-dir=" + k.path("cache")}, args...)...)
}

// upKubernetes starts Kubernetes in a lab.
func upKubernetes(ctx context.Context, l *lab) (platform, error) {
	k := &kube{lab: l}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, err
	}
	token := rand.Text()
	if err := errors.Join(
		os.WriteFile(k.path("sa.key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600),
		os.WriteFile(k.path("tokens.csv"), []byte(token+",admin,admin,system:masters\n"), 0o600),
		os.WriteFile(k.path("kubeconfig"), []byte(kubeconfig(token)), 0o600),
		os.WriteFile(k.path("Corefile"), []byte(corefile(k.path("kubeconfig"))), 0o644),
		os.WriteFile(k.path("token"), []byte(rand.Text()), 0o600),
	); err != nil {
		return nil, err
	}
	if err := errors.Join(
		l.daemon("etcd", "etcd", "--data-dir="+k.path("etcd"), "--unsafe-no-fsync"),
		l.daemon("apiserver", k.path("bin/kube-apiserver"), "--etcd-servers=http://127.0.0.1:2379", "--bind-address="+headAddr, "--cert-dir="+k.path("certs"),
			"--service-cluster-ip-range=10.96.0.0/24", "--endpoint-reconciler-type=none", "--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file="+k.path("sa.key"), "--service-account-signing-key-file="+k.path("sa.key"),
			"--kubelet-preferred-address-types=InternalIP", "--token-auth-file="+k.path("tokens.csv"), "--authorization-mode=RBAC"),
		until(ctx, 2*time.Minute, func() error { _, err := k.kubectl(ctx, "get", "--raw=/readyz"); return err }),
		l.daemon("controllers", k.path("bin/kube-controller-manager"), "--kubeconfig="+k.path("kubeconfig"), "--cert-dir="+k.path("certs"),
			"--service-account-private-key-file="+k.path("sa.key"), "--leader-elect=false", "--flex-volume-plugin-dir="+k.path("plugins")),
		l.daemon("scheduler", k.path("bin/kube-scheduler"), "--kubeconfig="+k.path("kubeconfig"), "--cert-dir="+k.path("certs"), "--leader-elect=false"),
		l.daemon("dns", k.path("bin/coredns"), "-conf", k.path("Corefile")),
	); err != nil {
		return nil, err
	}
	for _, n := range kubeNodes(l.dir) {
		if err := k.startNode(ctx, n); err != nil {
			return nil, err
		}
	}
	return k, until(ctx, 2*time.Minute, func() error {
		out, err := k.kubectl(ctx, "get", "nodes", "--no-headers")
		if err == nil && strings.Count(out, " Ready ") != len(kubeNodes(l.dir)) {
			err = fmt.Errorf("nodes: %q: want all to be ready", out)
		}
		return err
	})
}

// startNode starts a node. On it run a kubelet and a containerd, which has the images.
func (k *kube) startNode(ctx context.Context, n kubeNode) error {
	if err := os.MkdirAll(n.dir+"/cni", 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"containerd.toml": n.containerd(), "cni/pods.conflist": n.cni(), "kubelet.yaml": n.kubelet(), "resolv.conf": "",
	} {
		if err := os.WriteFile(filepath.Join(n.dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	m := machine{
		Name: n.name, Addr: n.addr, Socket: n.socket(),
		Commands: [][]string{
			{"containerd", "--config", n.dir + "/containerd.toml"},
			{k.path("bin/kubelet"), "--config=" + n.dir + "/kubelet.yaml", "--kubeconfig=" + k.path("kubeconfig"), "--root-dir=" + n.dir + "/kubelet",
				"--cert-dir=" + n.dir + "/certs", "--hostname-override=" + n.name, "--node-ip=" + n.addr},
		},
		Private: []string{"/run", "/var/lib", "/var/log"},
		Sysctls: []string{"/proc/sys/kernel/panic", "/proc/sys/kernel/panic_on_oops", "/proc/sys/vm/overcommit_memory", "/proc/sys/vm/panic_on_oom",
			"/proc/sys/kernel/keys/root_maxkeys", "/proc/sys/kernel/keys/root_maxbytes"},
	}
	for _, other := range kubeNodes(k.lab.dir) {
		if other.name != n.name {
			m.Routes = append(m.Routes, other.pods+".0/24 via "+other.addr)
		}
	}
	if _, err := k.lab.start(ctx, m); err != nil {
		return err
	}
	if _, err := command(ctx, "ip", "route", "add", n.pods+".0/24", "via", n.addr); err != nil {
		return err
	}
	return until(ctx, time.Minute, func() error {
		_, err := command(ctx, "ctr", "--address="+n.socket(), "--namespace=k8s.io", "images", "import", k.path("images.tar"))
		return err
	})
}
