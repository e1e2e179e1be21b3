package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"gotest.tools/v3/assert"
)

// abShards runs "benchgate ab" in count shards, and checks that each exits with the status want. The function
// change may modify the command of each shard. abShards returns the outputs, and for each shard the values that its
// benchmarks had, in order.
func abShards(t *testing.T, count int, units string, want int, change func(i int, cmd *exec.Cmd)) (stdout, stderr, values []string) {
	t.Helper()
	program, err := os.Executable()
	assert.NilError(t, err)
	addr := runtest.FreeAddr(t)
	out, logs := t.TempDir(), t.TempDir()
	var commands []*exec.Cmd
	var outs, errs []*bytes.Buffer
	for i := range count {
		cmd := exec.CommandContext(t.Context(), program, "ab", "-base=HEAD", "-units="+units, "-out="+out, "--", "-bench=X", "-benchtime=1x")
		cmd.Env = append(os.Environ(), "BENCHGATE_TEST_MAIN=1", "LLMBENCH_RENDEZVOUS="+addr,
			fmt.Sprintf("LLMBENCH_SHARD=%d/%d", i, count), "FIXTURE_LOG="+filepath.Join(logs, fmt.Sprint(i)), "TMPDIR="+t.TempDir())
		outs, errs = append(outs, &bytes.Buffer{}), append(errs, &bytes.Buffer{})
		cmd.Stdout, cmd.Stderr = outs[i], errs[i]
		if change != nil {
			change(i, cmd)
		}
		assert.NilError(t, cmd.Start())
		commands = append(commands, cmd)
	}
	var texts strings.Builder
	var statuses, wanted []int
	for i, cmd := range commands {
		cmd.Wait()
		statuses, wanted = append(statuses, cmd.ProcessState.ExitCode()), append(wanted, want)
		fmt.Fprintf(&texts, "\nshard %d:\n%s%s", i, outs[i], errs[i])
		stdout, stderr = append(stdout, outs[i].String()), append(stderr, errs[i].String())
		text, _ := os.ReadFile(filepath.Join(logs, fmt.Sprint(i)))
		values = append(values, string(text))
	}
	assert.Assert(t, slices.Equal(statuses, wanted), "exit statuses %v, want %v:%s", statuses, wanted, texts.String())
	noSources(t, out)
	return stdout, stderr, values
}

// TestABShards checks that the commands of all shards run the same versions in the same order, that only shard
// 0 prints the verdict, and that all exit with shard 0's status.
func TestABShards(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	measure, units := fixture(t)
	measure("X", "106")
	stdout, stderr, values := abShards(t, 3, units, command.Regression, nil)
	assert.Assert(t, strings.Contains(stdout[0], "regression"), stdout[0]+stderr[0])
	assert.Equal(t, len(strings.Fields(values[0])), 16, values[0]) // eight rounds, after which benchgate judges for the first time
	for i := 1; i < 3; i++ {
		assert.Equal(t, stdout[i], "")
		assert.Equal(t, values[i], values[0])
	}
}

// TestABShardFails checks that all commands end if a process of one command fails, or if one command runs other
// benchmarks.
func TestABShardFails(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	_, units := fixture(t)
	for _, c := range []struct {
		name, want string
		change     func(cmd *exec.Cmd)
	}{
		{"a benchmark that fails", "example.com/fixture: exit status 1", func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "FIXTURE=broken") }},
		{"other flags", "flags: ", func(cmd *exec.Cmd) { cmd.Args[len(cmd.Args)-1] = "-benchtime=2x" }},
		{"another token", "LLMBENCH_RENDEZVOUS_TOKEN", func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, "LLMBENCH_RENDEZVOUS_TOKEN=another one", "LLMBENCH_RENDEZVOUS_TIMEOUT=5s")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			stdout, stderr, _ := abShards(t, 2, units, command.CannotJudge, func(i int, cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, "LLMBENCH_RENDEZVOUS_TIMEOUT=5s")
				if i == 1 {
					c.change(cmd)
				}
			})
			assert.Assert(t, strings.HasPrefix(stdout[0], "cannot judge: ") && strings.Count(stdout[0], "cannot judge") == 1, stdout[0])
			assert.Equal(t, stdout[1], "")
			for i := range 2 {
				assert.Assert(t, strings.Contains(stderr[i], c.want), stderr[i])
			}
		})
	}
}
