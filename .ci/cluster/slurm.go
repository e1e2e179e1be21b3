//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// slurm is the Slurm of the distribution.
var slurm = engine{
	files: []string{"scenarios/deploy/slurm.sh"},
	packages: []software{
		{[]string{"ip"}, "iproute2"},
		{[]string{"munged"}, "munge"},
		{[]string{"slurmctld", "slurmd", "srun", "sbatch", "scontrol", "sinfo"}, "slurm-wlm"},
	},
	up: upSlurm,
}

// A slurmPlatform runs scenarios/deploy/slurm.sh on nodes of a lab.
type slurmPlatform struct {
	lab  *lab
	jobs int
}

// slurmNodes are the names of the nodes.
var slurmNodes = []string{"n1", "n2", "n3", "n4"}

// slurmAddr returns the address of a node.
func slurmAddr(i int) string { return fmt.Sprintf("%s.%d", network, 11+i) }

// slurmConf returns the configuration of Slurm. Its files are in the folder dir.
func slurmConf(dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `ClusterName=lab
SlurmctldHost=head(%s)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=%s/munge/socket
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation=%[2]s/slurm/state
SlurmdSpoolDir=%[2]s/slurm/%%n
SlurmctldPidFile=%[2]s/slurm/slurmctld.pid
SlurmdPidFile=%[2]s/slurm/%%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmdTimeout=20
KillWait=5
MessageTimeout=5
`, headAddr, dir)
	for i, name := range slurmNodes {
		fmt.Fprintf(&b, "NodeName=%s NodeAddr=%s CPUs=2 RealMemory=1000\n", name, slurmAddr(i))
	}
	b.WriteString("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n")
	return b.String()
}

// upSlurm starts Slurm in a lab.
func upSlurm(ctx context.Context, l *lab) (platform, error) {
	hosts := "127.0.0.1 localhost\n" + headAddr + " head\n"
	for i, name := range slurmNodes {
		hosts += slurmAddr(i) + " " + name + "\n"
	}
	key := make([]byte, 128)
	rand.Read(key) // never fails
	for _, f := range []string{"etc", "munge", "slurm/state"} {
		if err := os.MkdirAll(filepath.Join(l.dir, f), 0o755); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(l.dir, "hosts"), []byte(hosts), 0o644),
		os.WriteFile(filepath.Join(l.dir, "munge/key"), key, 0o400),
		os.WriteFile(filepath.Join(l.dir, "etc/slurm.conf"), []byte(slurmConf(l.dir)), 0o644),
		hide("/etc/hosts", filepath.Join(l.dir, "hosts")),
		hide("/etc/slurm", filepath.Join(l.dir, "etc")),
	); err != nil {
		return nil, err
	}
	munge := filepath.Join(l.dir, "munge")
	if err := errors.Join(
		l.daemon("munged", "munged", "--foreground", "--key-file="+munge+"/key", "--socket="+munge+"/socket",
			"--pid-file="+munge+"/pid", "--log-file="+munge+"/log", "--seed-file="+munge+"/seed"),
		until(ctx, 10*time.Second, func() error { _, err := os.Stat(munge + "/socket"); return err }),
		l.daemon("slurmctld", "slurmctld", "-D", "-c"),
	); err != nil {
		return nil, err
	}
	for i, name := range slurmNodes {
		if _, err := l.start(ctx, machine{Name: name, Addr: slurmAddr(i), Commands: [][]string{{"slurmd", "-D"}}}); err != nil {
			return nil, err
		}
	}
	return &slurmPlatform{lab: l}, until(ctx, time.Minute, func() error {
		out, err := command(ctx, "sinfo", "--noheader", "--format=%T")
		if err == nil && out != "idle" {
			err = fmt.Errorf("sinfo: %q: want all nodes idle", out)
		}
		return err
	})
}

func (p *slurmPlatform) submit(ctx context.Context, variables map[string]string, out string) (job, error) {
	p.jobs++
	variables["LLMBENCH_OUT"] = out
	j := &slurmJob{out: out, log: filepath.Join(p.lab.dir, fmt.Sprintf("job-%d", p.jobs))}
	cmd := exec.CommandContext(ctx, "sbatch", append([]string{"--parsable", "--output=" + j.log, "slurm.sh"}, arguments...)...)
	cmd.Dir, cmd.Env = p.lab.dir, environment(variables)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("sbatch: %w: %s", err, &stderr)
	}
	j.id = strings.TrimSpace(stdout.String())
	return j, nil
}

// ways returns the only way to kill a shard on Slurm: to kill its node.
func (p *slurmPlatform) ways() []way {
	return []way{{"node", func(ctx context.Context, _ job) ([]string, error) {
		const shard = 2 // Slurm runs one task on each node, in the order of the nodes
		return []string{fmt.Sprintf("shard %d (%s)", shard, slurmNodes[shard])}, p.lab.kill(ctx, p.lab.nodes[shard])
	}}}
}

// A slurmJob is a job of Slurm.
type slurmJob struct{ id, log, out string }

// records returns the folder LLMBENCH_OUT, which all nodes share.
func (j *slurmJob) records(context.Context) (string, error) { return j.out, nil }

func (j *slurmJob) wait(ctx context.Context) (ending, error) {
	var end ending
	err := until(ctx, jobTime, func() error {
		out, err := command(ctx, "scontrol", "--oneliner", "show", "job", j.id)
		if err != nil {
			return err
		}
		state := slurmValue(out, "JobState")
		switch state {
		case "COMPLETED", "FAILED", "NODE_FAIL", "TIMEOUT", "CANCELLED":
			end.failed = state != "COMPLETED"
			end.status = fmt.Sprintf("JobState=%s ExitCode=%s", state, slurmValue(out, "ExitCode"))
			return nil
		}
		return fmt.Errorf("job %s is %s", j.id, state)
	})
	text, errLog := os.ReadFile(j.log)
	end.log = string(text)
	if err = errors.Join(err, errLog); err != nil {
		err = fmt.Errorf("%w\n%s", err, text)
	}
	return end, err
}

// slurmValue returns the value that follows a name in a line that scontrol prints.
func slurmValue(line, name string) string {
	for _, f := range strings.Fields(line) {
		if value, ok := strings.CutPrefix(f, name+"="); ok {
			return value
		}
	}
	return ""
}
