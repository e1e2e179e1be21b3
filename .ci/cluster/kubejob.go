//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A kubeJob is the two Jobs that run in one namespace.
type kubeJob struct {
	kube      *kube
	namespace string
	cancel    context.CancelFunc // stops copying the logs
	following sync.WaitGroup     // the copying of the logs of all pods
}

// kubectl runs kubectl in the namespace of the job.
func (j *kubeJob) kubectl(ctx context.Context, args ...string) (string, error) {
	return j.kube.kubectl(ctx, append([]string{"--namespace=" + j.namespace}, args...)...)
}

// log returns the path of the file with the log of a shard.
func (j *kubeJob) log(shard int) string {
	return j.kube.path(fmt.Sprintf("%s-%d.log", j.namespace, shard))
}

// submit applies the file in a new namespace. That namespace admits only pods that the restricted
// Pod Security Standard allows.
func (k *kube) submit(ctx context.Context, variables map[string]string, out string) (job, error) {
	k.jobs++
	j := &kubeJob{kube: k, namespace: fmt.Sprintf("run-%d", k.jobs)}
	text, err := os.ReadFile(k.path("kubernetes.yaml"))
	if err != nil {
		return nil, err
	}
	changed, err := deployment(text, variables)
	if err != nil {
		return nil, err
	}
	manifest, disk := k.path(j.namespace+".json"), k.path(j.namespace+"-volume.yaml")
	if err := errors.Join(os.WriteFile(manifest, changed, 0o644), os.WriteFile(disk, []byte(volume(j.namespace, out)), 0o644)); err != nil {
		return nil, err
	}
	if _, err := k.kubectl(ctx, "create", "namespace", j.namespace); err != nil {
		return nil, err
	}
	if err := until(ctx, time.Minute, func() error { _, err := j.kubectl(ctx, "get", "serviceaccount", "default"); return err }); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"label", "namespace", j.namespace, "pod-security.kubernetes.io/enforce=restricted"},
		{"create", "secret", "generic", "llmbench", "--from-file=LLMBENCH_RENDEZVOUS_TOKEN=" + k.path("token")},
		{"apply", "--filename=" + disk},
		{"apply", "--dry-run=server", "--filename=" + k.path("kubernetes.yaml")}, // the file without changes
		{"apply", "--filename=" + manifest},
	} {
		if _, err := j.kubectl(ctx, args...); err != nil {
			return nil, err
		}
	}
	ctx, j.cancel = context.WithTimeout(ctx, jobTime)
	for shard := range shards {
		j.following.Go(func() { j.follow(ctx, shard) })
	}
	return j, nil
}

// pod returns a field of the pod of a shard.
func (j *kubeJob) pod(ctx context.Context, shard int, field string) (string, error) {
	selector := "--selector=batch.kubernetes.io/job-name=llmbench"
	if shard > 0 {
		selector += fmt.Sprintf("-others,batch.kubernetes.io/job-completion-index=%d", shard-1)
	}
	return j.kubectl(ctx, "get", "pods", selector, "--output=jsonpath={.items[0]"+field+"}")
}

// follow copies the log of a shard to a file, until the log or ctx ends. It does so while the job
// runs, because Kubernetes removes the logs of a pod with the pod.
func (j *kubeJob) follow(ctx context.Context, shard int) {
	log, err := os.Create(j.log(shard))
	if err != nil {
		return // wait reports that the file is missing
	}
	defer log.Close()
	for ctx.Err() == nil {
		time.Sleep(200 * time.Millisecond)
		name, err := j.pod(ctx, shard, ".metadata.name")
		if err != nil {
			continue
		}
		cmd := exec.CommandContext(ctx, j.kube.path("bin/kubectl"), "--kubeconfig="+j.kube.path("kubeconfig"), "--cache-dir="+j.kube.path("cache"),
			"--namespace="+j.namespace, "logs", "--follow", name)
		cmd.Stdout = log
		if cmd.Run() == nil { // otherwise the container has not started yet
			return
		}
	}
}

// settle is how long it may take, once a Job is known to fail, until all its pods have ended. If a
// node is gone, its pods never end.
const settle = 20 * time.Second

func (j *kubeJob) wait(ctx context.Context) (ending, error) {
	var end ending
	var decided time.Time
	err := until(ctx, jobTime, func() error {
		const conditions = `--output=jsonpath={range .status.conditions[*]}{.type}={.status} {.reason}; {end}`
		out, err := j.kubectl(ctx, "get", "job", "llmbench", conditions)
		if err != nil {
			return err
		}
		others, err := j.kubectl(ctx, "get", "job", "llmbench-others", conditions)
		if err != nil {
			return err
		}
		end.status = strings.TrimSuffix(out, "; ")
		failing := strings.Contains(out, "FailureTarget=True")
		end.failed = failing || strings.Contains(out, "Failed=True")
		if failing && decided.IsZero() {
			decided = time.Now()
		}
		if strings.Contains(out, "Complete=True") && strings.Contains(others, "Complete=True") || strings.Contains(out, "Failed=True") || failing && time.Since(decided) > settle {
			return nil
		}
		return fmt.Errorf("the Job of shard 0 is %q, and the other one %q", out, others)
	})
	if err != nil {
		pods, _ := j.kubectl(ctx, "describe", "pods")
		err = fmt.Errorf("%w\n%s", err, pods)
	}
	// The logs of pods that still exist end at once.
	timer := time.AfterFunc(5*time.Second, j.cancel)
	defer timer.Stop()
	j.following.Wait()
	j.cancel()
	for shard := range shards {
		text, e := os.ReadFile(j.log(shard))
		err = errors.Join(err, e)
		end.log += string(text)
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, end.log)
	}
	return end, err
}

// name returns the name of a shard in errors. It is the name of a pod of the Indexed Job: the name
// of the Job and the index.
func (j *kubeJob) name(shard int) string {
	if shard == 0 {
		return "shard 0 (shard0)"
	}
	return fmt.Sprintf("shard %d (llmbench-others-%d)", shard, shard-1)
}

// takeOut is the command that copies out records. It is what records.yaml says after "kubectl".
var takeOut = []string{"exec", "llmbench-records", "--", "/scenarios.test", "tar", "/records"}

// records copies the records of the job to a folder, with the commands of records.yaml.
func (j *kubeJob) records(ctx context.Context) (string, error) {
	text, err := os.ReadFile(j.kube.path("records.yaml"))
	if err != nil {
		return "", err
	}
	changed, err := deployment(text, nil)
	if err != nil {
		return "", err
	}
	manifest, dir := j.kube.path(j.namespace+"-records.json"), j.kube.path(j.namespace+"-records")
	if err := errors.Join(os.WriteFile(manifest, changed, 0o644), os.Mkdir(dir, 0o755)); err != nil {
		return "", err
	}
	var archive string
	for _, args := range [][]string{
		{"apply", "--filename=" + manifest},
		{"wait", "--for=condition=Ready", "--timeout=50s", "pod/llmbench-records"},
		takeOut,
	} {
		if archive, err = j.kubectl(ctx, args...); err != nil {
			return "", err
		}
	}
	// Otherwise the pod would keep CPU that the next job needs.
	if _, err := j.kubectl(ctx, "delete", "--filename="+manifest, "--timeout=50s"); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "tar", "x", "-C", dir)
	cmd.Stdin = strings.NewReader(archive)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("tar: %w: %s", err, out)
	}
	return dir, nil
}

// ways returns the ways to kill a shard on Kubernetes.
func (k *kube) ways() []way {
	return []way{{"pod", k.killPod}, {"node", k.killNode}}
}

// killPod kills the process of shard 2, as the kernel does when there is too little memory.
func (k *kube) killPod(_ context.Context, one job) ([]string, error) {
	const shard = 2
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, err
	}
	killed := 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || !slices.Contains(strings.Split(string(text), "\x00"), fmt.Sprintf("LLMBENCH_SHARD=%d+1/%d", shard-1, shards)) {
			continue // another process, or one that has already ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err != nil {
			return nil, err
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return nil, err
		}
		killed++
	}
	if killed != 1 {
		return nil, fmt.Errorf("%d processes of shard %d: want one", killed, shard)
	}
	return []string{one.(*kubeJob).name(shard)}, nil
}

// killNode kills a node on which shard 0 does not run.
func (k *kube) killNode(ctx context.Context, one job) (names []string, err error) {
	j := one.(*kubeJob)
	var on [shards]string
	for shard := range on {
		if on[shard], err = j.pod(ctx, shard, ".spec.nodeName"); err != nil {
			return nil, err
		}
		if on[shard] != on[0] {
			names = append(names, j.name(shard))
		}
	}
	for _, n := range k.lab.nodes {
		if n.name != on[0] && len(names) > 0 {
			return names, k.lab.kill(ctx, n)
		}
	}
	return nil, fmt.Errorf("the shards are on the nodes %q: want two nodes", on)
}
