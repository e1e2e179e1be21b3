//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// These are the versions of the modules that are built.
const (
	kubernetesVersion = "v1.36.3"
	stagingVersion    = "v0.36.3" // the modules in the folder staging of Kubernetes
	coreDNSVersion    = "v1.14.7"
)

// buildTime is the time limit for building the programs of Kubernetes.
const buildTime = 2 * time.Hour

// kubernetesPrograms are the programs that upKubernetes starts, apart from CoreDNS.
var kubernetesPrograms = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kubectl"}

// coreDNSProgram is CoreDNS with the few plugins that a cluster needs.
const coreDNSProgram = `package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
)

func main() {
	dnsserver.Directives = []string{"bind", "errors", "kubernetes"}
	coremain.Run()
}
`

var staging = regexp.MustCompile(`(?m)^\s*(k8s\.io/[a-z-]+) => \./staging/`)

// kubernetesModule returns a go.mod that requires k8s.io/kubernetes. It is made from the go.mod of
// Kubernetes, whose replacements by folders mean nothing elsewhere.
func kubernetesModule(goMod string) (string, error) {
	replaced := staging.FindAllStringSubmatch(goMod, -1)
	if len(replaced) == 0 {
		return "", errors.New("go.mod of k8s.io/kubernetes: want replacements of k8s.io/… by ./staging/…")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module cluster\n\ngo 1.26.0\n\ngodebug default=go1.26\n\nrequire k8s.io/kubernetes %s\n\nreplace (\n", kubernetesVersion)
	for _, m := range replaced {
		fmt.Fprintf(&b, "\t%s => %[1]s %s\n", m[1], stagingVersion)
	}
	b.WriteString(")\n")
	return b.String(), nil
}

// programs returns the folder with the programs of Kubernetes. If they are not in the cache,
// programs says so on out, and builds them.
func programs(ctx context.Context, out io.Writer) (string, error) {
	cache := os.Getenv("LLMBENCH_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(user, "llmbench")
	}
	dir := filepath.Join(cache, "kubernetes", kubernetesVersion+"-coredns-"+coreDNSVersion)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	fmt.Fprintf(out, "building Kubernetes %s and CoreDNS %s: a quarter of an hour of CPU time\n", kubernetesVersion, coreDNSVersion)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, buildTime, fmt.Errorf("not built within %v", buildTime))
	defer cancel()
	work, err := os.MkdirTemp(filepath.Dir(dir), "build-")
	if err != nil {
		return "", err
	}
	err = errors.Join(build(ctx, work), context.Cause(ctx))
	if err == nil {
		err = os.Rename(filepath.Join(work, "bin"), dir)
	}
	return dir, errors.Join(err, os.RemoveAll(work))
}

// build builds all programs, and puts them in the folder bin of work. Its caches are in work too:
// they take 10 GB, and nobody needs them again.
func build(ctx context.Context, work string) error {
	bin := filepath.Join(work, "bin")
	kubernetes, dns := filepath.Join(work, "kubernetes"), filepath.Join(work, "dns")
	if err := errors.Join(os.Mkdir(bin, 0o755), os.Mkdir(kubernetes, 0o755), os.Mkdir(dns, 0o755)); err != nil {
		return err
	}
	text, err := goCommand(ctx, work, kubernetes, "mod", "download", "-json", "k8s.io/kubernetes@"+kubernetesVersion)
	if err != nil {
		return err
	}
	var module struct{ GoMod string }
	if err := json.Unmarshal(text, &module); err != nil {
		return err
	}
	goMod, err := os.ReadFile(module.GoMod)
	if err != nil {
		return err
	}
	mod, err := kubernetesModule(string(goMod))
	if err != nil {
		return err
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(kubernetes, "go.mod"), []byte(mod), 0o644),
		os.WriteFile(filepath.Join(dns, "go.mod"), []byte("module dns\n\ngo 1.26.0\n\nrequire github.com/coredns/coredns "+coreDNSVersion+"\n"), 0o644),
		os.WriteFile(filepath.Join(dns, "main.go"), []byte(coreDNSProgram), 0o644),
	); err != nil {
		return err
	}
	const version = "k8s.io/component-base/version"
	args := []string{"build", "-trimpath", "-o", bin + "/", "-ldflags", fmt.Sprintf("-s -w -X %s.gitVersion=%s -X %[1]s.gitMajor=1 -X %[1]s.gitMinor=36 -X k8s.io/client-go/pkg/version.gitVersion=%[2]s", version, kubernetesVersion)}
	for _, p := range kubernetesPrograms {
		args = append(args, "k8s.io/kubernetes/cmd/"+p)
	}
	if _, err := goCommand(ctx, work, kubernetes, args...); err != nil {
		return err
	}
	_, err = goCommand(ctx, work, dns, "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(bin, "coredns"), ".")
	return err
}

// goCommand runs the go command in a module, at a low priority, and returns what the command
// printed.
func goCommand(ctx context.Context, work, dir string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "nice", append([]string{"-n", "15", "go"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(work, "gocache"), "GOMODCACHE="+filepath.Join(work, "gomod"),
		"GOFLAGS=-mod=mod -modcacherw", "GOWORK=off", "CGO_ENABLED=0")
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Minute
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, &stderr)
	}
	return out, nil
}
