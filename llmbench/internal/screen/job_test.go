package screen

import (
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

func TestFirsts(t *testing.T) {
	for pattern, want := range map[string][]string{
		"": {""}, ".": {"."}, "Chat": {"Chat"}, "Serve/backend=mock/.*": {"Serve"}, "A|B/x=1|C": {"A", "B", "C"},
		"(A|B/)c/d": {"(A|B/)c"}, "[/|]x/y": {"[/|]x"}, `\/a|\[b/c`: {`\/a`, `\[b`}, "^(Chat|Serve)$": {"^(Chat|Serve)$"},
	} {
		assert.DeepEqual(t, firsts(pattern), want)
	}
}

// TestJob checks the positions of benchmarks and the remaining time, in a job whose benchmarks take ten
// seconds each.
func TestJob(t *testing.T) {
	all := &struct{ benchmarks []testing.InternalBenchmark }{[]testing.InternalBenchmark{{Name: "BenchmarkA"}, {Name: "BenchmarkB"}, {Name: "BenchmarkNot"}, {Name: "BenchmarkC"}}}
	synctest.Test(t, func(t *testing.T) {
		j := NewJob(all, "[A-C]$/x", "")
		time.Sleep(time.Minute) // the process may have to wait for other shards
		j.Begin()
		for i, c := range []struct{ benchmark, place, left string }{
			{"BenchmarkA/x=1", "1/3", ""}, {"BenchmarkB", "2/3", "20s left"}, {"BenchmarkC/x=1/y=2", "3/3", "10s left"},
		} {
			place, left := j.Place(c.benchmark)
			assert.Equal(t, place, c.place, "%d", i)
			assert.Equal(t, left, c.left, "%d", i)
			time.Sleep(10 * time.Second)
		}
		place, left := j.Place("BenchmarkNot")
		assert.Equal(t, place+left, "")
	})
	for _, j := range []*Job{NewJob(all, ".", "A"), NewJob(all, "(", ""), NewJob(&struct{ benchmarks int }{}, ".", ""), NewJob(&struct{ benchmarks []int }{[]int{1}}, ".", "")} {
		place, left := j.Place("BenchmarkA")
		assert.Equal(t, place+left, "")
	}
}

// TestLabelOfJob checks which parts of the position are shown if there is little room.
func TestLabelOfJob(t *testing.T) {
	p := Pass{Benchmark: "BenchmarkServe/backend=mock/concurrency=8", Place: "16/22", Left: "45s left", Last: "7 tok/s"}
	for room, want := range map[int]string{
		80: "16/22, 45s left: Serve concurrency=8, last 7 tok/s", 40: "16/22, 45s left: Serve concurrency=8", 30: "16/22 Serve concurrency=8", 10: "16/22 Serv",
	} {
		assert.Equal(t, p.label(room), want)
	}
}
