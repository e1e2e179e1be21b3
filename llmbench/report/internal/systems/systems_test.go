package systems

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
)

// rowsOf returns the rows in a benchmark file.
func rowsOf(t *testing.T, text string) []*results.Row {
	t.Helper()
	rows, _, err := results.Parse([]byte(text), "dir/a.txt")
	assert.NilError(t, err)
	return rows
}

// TestLabels checks that labels contain the keys that differ, and no others.
func TestLabels(t *testing.T) {
	line := func(name string) string { return "Benchmark" + name + " 1 5 req/s\n" }
	for _, c := range []struct {
		name, text string
		except     []string
		want       []string
	}{
		{"one row", line("Chat/backend=vllm/concurrency=8-2"), nil, []string{""}},
		{"loads", line("Chat/backend=vllm/concurrency=8-2") + line("Chat/backend=vllm/concurrency=16-2"), nil, []string{"concurrency=8", "concurrency=16"}},
		{"loads excepted", line("Chat/backend=vllm/concurrency=8-2") + line("Chat/backend=vllm/concurrency=16-2"), []string{"concurrency"}, []string{"", ""}},
		{"direct and gateway", line("Chat/via=direct/concurrency=8") + line("Chat/via=gateway/concurrency=8"), nil, []string{"direct", "gateway"}},
		{"several keys", line("Chat/concurrency=8/backend=vllm/quant=fp16/p=1") + line("Chat/concurrency=16/backend=tgi/quant=awq4/p=1"), nil, []string{"vllm fp16 concurrency=8", "tgi awq4 concurrency=16"}},
		{"a key that one lacks", line("Chat/backend=vllm/cache=on") + line("Chat/backend=vllm"), nil, []string{"cache=on", "without cache"}},
		{"bases", line("Chat/backend=vllm") + line("Serve/backend=vllm"), nil, []string{"Chat", "Serve"}},
		{"GOMAXPROCS alone", line("Chat/backend=vllm-2") + line("Chat/backend=vllm-4"), nil, []string{"gomaxprocs=2", "gomaxprocs=4"}},
		{"GOMAXPROCS beside another key", line("Chat/backend=vllm-2") + line("Chat/backend=tgi-4"), nil, []string{"vllm", "tgi"}},
		{"a configuration line", "gpu: A\n" + line("Chat/backend=vllm") + "gpu: B\n" + line("Chat/backend=vllm"), nil, []string{"gpu=A", "gpu=B"}},
		{"a configuration line that is not needed", "gpu: A\n" + line("Chat/backend=vllm") + "gpu: B\n" + line("Chat/backend=tgi"), nil, []string{"vllm", "tgi"}},
		{"some need it", "gpu: A\n" + line("Chat/backend=vllm") + "gpu: B\n" + line("Chat/backend=tgi") + line("Chat/backend=vllm"), nil, []string{"vllm gpu=A", "tgi", "vllm gpu=B"}},
	} {
		assert.DeepEqual(t, Labels(rowsOf(t, c.text), c.except...), c.want)
	}
	var files []*results.Row
	for _, name := range []string{"runs/old/out.txt", "runs/new/out.txt"} {
		rows, _, err := results.Parse([]byte(line("Chat")), name)
		assert.NilError(t, err)
		files = append(files, rows...)
	}
	assert.DeepEqual(t, Labels(files), []string{"old", "new"})
}

// TestGroups checks that systems are named by what differs between them, and ordered by load.
func TestGroups(t *testing.T) {
	text := ""
	for _, c := range []int{1, 16, 2, 8} {
		for _, backend := range []string{"vllm", "tgi"} {
			text += fmt.Sprintf("BenchmarkServe/backend=%s/workload=w/concurrency=%d 1 5 req/s\n", backend, c)
		}
	}
	all := Groups(rowsOf(t, text), DefaultParts)
	assert.Equal(t, len(all), 1)
	assert.Equal(t, all[0].Title, "Serve w")
	load, swept, left := all[0].Swept()
	assert.Equal(t, fmt.Sprint(load, len(swept), left), "concurrency2 0")
	for i, name := range []string{"vllm", "tgi"} {
		assert.Equal(t, swept[i].Name, name)
		for j, x := range []float64{1, 2, 8, 16} {
			_, got := swept[i].Rows[j].Load()
			assert.Equal(t, got, x)
		}
	}
	both := Groups(rowsOf(t, "BenchmarkA/rate=5 1 5 req/s\nBenchmarkA/concurrency=5 1 5 req/s\n"), nil)
	assert.Equal(t, both[0].Systems[0].Name+"; "+both[0].Systems[1].Name, "over rate; over concurrency")

	// The knee that a search has found is not another system. So there is only one measured system,
	// and its name is empty.
	found := "BenchmarkSweep/concurrency=1 1 5 req/s\nBenchmarkSweep/concurrency=2 1 9 req/s\nBenchmarkSweep/knee=power/upto=512 1 2 knee-concurrency\n"
	sweep := Groups(rowsOf(t, found), nil)[0].Systems
	assert.Equal(t, fmt.Sprint(len(sweep), sweep[0].Found, sweep[1].Found), "2 false true")
	assert.Equal(t, sweep[0].Name, "")
}

// TestEndpoints checks that the endpoints in a file of Locust are not compared with one another, but with the same endpoint of
// another file.
func TestEndpoints(t *testing.T) {
	var rows []*results.Row
	for _, file := range []string{"old/run_stats.csv", "new/run_stats.csv"} {
		all, _, err := results.Parse([]byte("tool: Locust\nBenchmarkLocust/type=POST/name=_v1 1 5 req/s\nBenchmarkLocust/type=GET/name=_health 1 50 req/s\nBenchmarkLocust/type=TTFT/name=ttft 1 9 p50-ttft-ns\n"), file)
		assert.NilError(t, err)
		rows = append(rows, all...)
	}
	groups := Groups(rows, DefaultParts)
	assert.Equal(t, len(groups), 3)
	for i, title := range []string{"Locust POST _v1", "Locust GET _health", "Locust TTFT ttft"} {
		assert.Equal(t, groups[i].Title, title)
		assert.Equal(t, len(groups[i].Systems), 2)
		assert.Equal(t, groups[i].Systems[0].Name+" "+groups[i].Systems[1].Name, "old new")
	}
}

// TestKnee checks that the knee is the one that package search finds from the medians of samples.
func TestKnee(t *testing.T) {
	var b strings.Builder
	for _, c := range []int{1, 2, 4, 8, 16} {
		for sample := range 3 {
			fmt.Fprintf(&b, "BenchmarkA/concurrency=%d 1 %d output-tok/s %d p50-e2e-ns\n", c, 10*min(c, 8)+100*(sample/2), 1000*max(1, c/8))
		}
	}
	s := Groups(rowsOf(t, b.String()), nil)[0].Systems[0]
	knee, err := s.Knee()
	assert.NilError(t, err)
	assert.Equal(t, knee.Key("concurrency"), "8")
	s.Rows = s.Rows[:4]
	_, err = s.Knee()
	assert.ErrorContains(t, err, "want higher loads")
}

// TestCarries checks up to which load a system meets an SLO.
func TestCarries(t *testing.T) {
	s := Groups(rowsOf(t, "BenchmarkA/concurrency=1 1 10 req/s 10 good-req/s\nBenchmarkA/concurrency=2 1 20 req/s 19.2 good-req/s\n"+
		"BenchmarkA/concurrency=4 1 30 req/s 30 good-req/s 10 fail-%\nBenchmarkA/concurrency=8 1 40 req/s 40 good-req/s\n"), nil)[0].Systems[0]
	c := s.Carries(SLO{Share: 0.95})
	assert.Equal(t, c.Met.Key("concurrency")+" "+c.Missed.Key("concurrency"), "2 4")
	assert.Equal(t, c.Shares[c.Missed], 0.9)
	assert.Assert(t, s.Carries(SLO{Share: 0.95, Given: true}) == nil, "good-req/s counts other limits")
	c = s.Carries(SLO{Share: 1.1})
	assert.Assert(t, c.Met == nil && c.Missed == s.Rows[0])
	faster := Groups(rowsOf(t, "mock-speed: 8\nBenchmarkA/concurrency=1 1 10 req/s 10 good-req/s\n"), nil)[0].Systems[0]
	assert.Assert(t, faster.Carries(SLO{Share: 0.95}) == nil, "its time is not that of the limits")
}

// TestUserSpeed checks which figure is the speed of a user. If the TPOT was withheld, no other figure takes its place.
func TestUserSpeed(t *testing.T) {
	warned := func(unit string) string {
		return "--- BENCH: BenchmarkA/concurrency=8\n    run.go:1: llmbench warns (client: " + unit + "): " + unit + " is withheld\n"
	}
	for _, c := range []struct {
		text         string
		speed        float64
		doubt, known bool
	}{
		{"20000000 mean-tpot-ns 40 user-tok/s\n", 50, false, true},
		{"20000000 mean-tpot-ns\n" + warned("mean-tpot-ns"), 50, true, true},
		{"40 user-tok/s\n", 40, false, true},
		{"40 user-tok/s\n" + warned("mean-tpot-ns"), 0, true, false},
		{"2000000000 p50-e2e-ns 60 out-tok/req\n", 30, false, true},
		{"2000000000 p50-e2e-ns 60 out-tok/req\n" + warned("p50-e2e-ns"), 30, true, true},
		{"2000000000 p50-e2e-ns\n", 0, false, false},
	} {
		speed, doubt, known := UserSpeed(rowsOf(t, "BenchmarkA/concurrency=8 1 "+c.text)[0])
		assert.Check(t, speed == c.speed && doubt == c.doubt && known == c.known, "%s: %v %v %v", c.text, speed, doubt, known)
	}
}
