//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// srunLog is what srun prints. The number of the task is at the beginning of each line.
const srunLog = `0: goos: linux
2: # the result of all 4 shards is that of shard 0; this is shard 2
0: BenchmarkServe/backend=url/concurrency=16-2         	       1	      2418 output-tok/s	       186.0 req/s
0: --- BENCH: BenchmarkServe/backend=url/concurrency=16-2
0: PASS
`

func TestResults(t *testing.T) {
	line := "BenchmarkServe/backend=url/concurrency=16-2         	       1	      2418 output-tok/s	       186.0 req/s"
	assert.DeepEqual(t, results(srunLog), []string{line})
	assert.DeepEqual(t, results("BenchmarkServe\nBenchmarkServe/a\n"+line+"\n"), []string{line}) // with -test.v the names are printed too

	assert.NilError(t, oneResult([]string{line}, []string{line}))
	assert.ErrorContains(t, oneResult([]string{line}, nil), "0 of all shards")
	assert.ErrorContains(t, oneResult([]string{line}, []string{line, line}), "2 of all shards")
	assert.ErrorContains(t, oneResult([]string{line}, []string{strings.Replace(line, "16-2", "8-2", 1)}), "one process measured")
}

func TestSameRequests(t *testing.T) {
	for _, c := range []struct {
		want, got []string
		err       string
	}{
		{[]string{"a", "b", "b"}, []string{"a", "b", "b"}, ""},
		{[]string{"a", "b", "b"}, []string{"a", "b"}, "only the latter sent b"},
		{[]string{"a", "b"}, []string{"a", "b", "b"}, "only the former sent b"},
		{[]string{"a", "b"}, []string{"b", "c"}, "only the latter sent a"},
		{[]string{"b"}, []string{"a", "b"}, "only the former sent a"},
	} {
		if err := sameRequests(c.want, c.got); c.err == "" {
			assert.NilError(t, err)
		} else {
			assert.ErrorContains(t, err, c.err)
		}
	}
}

// run returns records that consist of a head, the given lines of requests, and an end.
func run(t *testing.T, lines ...string) *records.Run {
	t.Helper()
	r, err := records.Read(strings.NewReader(strings.Join(lines, "\n")+"\n"), "test")
	assert.NilError(t, err)
	return r
}

func TestCannotJudge(t *testing.T) {
	const why = "cannot judge: shard 2 (n3) is lost: nothing heard for 10s"
	head := `{"version":2,"benchmark":"BenchmarkServe","dialect":"openai-chat","start":"2026-11-23T04:00:00Z","host":{"go":"go1.26"},"shards":4,"ends":true}`
	request := `{"id":"a-1","pass":0,"due_ns":0,"start_ns":0,"connect_ns":0,"first_ns":20,"last_ns":50,"end_ns":60,"gaps_ns":[30],"prompt_tokens":5,"output_tokens":2,"token_source":"usage","outcome":"ok","status":200}`
	end := `{"end":{"outcome":"failed","why":"` + why + `"}}`
	good, log := run(t, head, request, end), "0: "+why+"\n"
	assert.NilError(t, cannotJudge(good, log, []string{"shard 1 (n2)", "shard 2 (n3)"}))
	assert.ErrorContains(t, cannotJudge(good, log, []string{"shard 1 (n2)"}), "the records say")
	assert.ErrorContains(t, cannotJudge(good, "", []string{"shard 1 (n2)", "shard 2 (n3)"}), "the log has no")
	assert.ErrorContains(t, cannotJudge(good, log+srunLog, []string{"shard 1 (n2)", "shard 2 (n3)"}), "there is a result")
	assert.ErrorContains(t, cannotJudge(run(t, head, end), log, []string{"shard 1 (n2)", "shard 2 (n3)"}), "no records")
	assert.ErrorContains(t, cannotJudge(run(t, head, request), log, []string{"shard 1 (n2)", "shard 2 (n3)"}), "the records say")
}

// TestMockTake checks that requests are returned once, and sorted, and that two requests with the
// same id are an error.
func TestMockTake(t *testing.T) {
	m := &mock{requests: []request{{"2", "b"}, {"1", "a"}}}
	got, err := m.take()
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []string{"a", "b"})
	got, err = m.take()
	assert.NilError(t, err)
	assert.Equal(t, len(got), 0)
	m.requests = []request{{"1", "a"}, {"1", "b"}}
	_, err = m.take()
	assert.ErrorContains(t, err, "two requests have the id 1")
}

func TestBegun(t *testing.T) {
	dir := t.TempDir()
	assert.ErrorContains(t, begun(dir), "0 files")
	write := func(two int) {
		text := strings.Repeat(`{"shard":0}{"shard":1}{"shard":3}{"shard":21}`+"\n", 10) + strings.Repeat(`{"shard":2}`+"\n", two)
		assert.NilError(t, os.WriteFile(filepath.Join(dir, "a.jsonl"), []byte(text), 0o666))
	}
	write(9)
	assert.ErrorContains(t, begun(dir), "9 requests of shard 2")
	write(10)
	assert.NilError(t, begun(dir))
}

func TestSlurm(t *testing.T) {
	conf := slurmConf("/d")
	for _, line := range []string{
		"SlurmctldHost=head(10.77.0.1)", "AuthInfo=socket=/d/munge/socket", "SlurmdSpoolDir=/d/slurm/%n",
		"NodeName=n1 NodeAddr=10.77.0.11 CPUs=2 RealMemory=1000", "NodeName=n4 NodeAddr=10.77.0.14 CPUs=2 RealMemory=1000",
	} {
		assert.Assert(t, cmp.Contains(conf, line+"\n"))
	}
	line := "JobId=1 JobName=llmbench JobState=NODE_FAIL Reason=NodeDown ExitCode=1:0 DerivedExitCode=0:0"
	assert.Equal(t, slurmValue(line, "JobState"), "NODE_FAIL")
	assert.Equal(t, slurmValue(line, "ExitCode"), "1:0")
	assert.Equal(t, slurmValue(line, "Exit"), "")
}

// TestInstalled checks that an error names each missing program once, and each package once.
func TestInstalled(t *testing.T) {
	assert.NilError(t, installed([]software{{[]string{"go"}, "golang"}}))
	err := installed([]software{{[]string{"go"}, "golang"}, {[]string{"no-such-a", "no-such-b"}, "some"}, {[]string{"no-such-c"}, "other"}})
	assert.Error(t, err, "not installed: no-such-a, no-such-b, no-such-c: apt-get install --no-install-recommends some other")
}

// TestUsage checks that wrong arguments give an error that says which arguments are allowed.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"nomad"}, {"slurm", "slurm"}} {
		var stdout, stderr bytes.Buffer
		assert.Equal(t, cluster(t.Context(), args, &stdout, &stderr), 1)
		assert.Assert(t, cmp.Contains(stderr.String(), "slurm"))
	}
}
