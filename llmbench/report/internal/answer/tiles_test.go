package answer

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
)

// shown returns the tiles as lines: the label, the values and the detail. The best value has a star.
func shown(all []Tile) (lines []string) {
	for _, t := range all {
		var values []string
		for _, v := range t.Values {
			values = append(values, strings.TrimSpace(v.Name+" "+v.Text)+map[bool]string{true: "*"}[v.Best])
		}
		lines = append(lines, t.Label+": "+strings.Join(values, ", ")+"; "+t.Detail)
	}
	return lines
}

// line returns the line of a tile, or "".
func line(all []Tile, label string) string {
	for _, l := range shown(all) {
		if strings.HasPrefix(l, label+": ") {
			return l
		}
	}
	return ""
}

// loadsOf returns a benchmark file of one server at several loads, of which each has so many runs.
func loadsOf(runs int, users []int, format string, values ...[]float64) string {
	var b strings.Builder
	for range runs {
		for i, n := range users {
			fmt.Fprintf(&b, "BenchmarkServe/backend=x/concurrency=%d-2 1", n)
			for at, unit := range strings.Fields(format) {
				fmt.Fprintf(&b, " %v %s", values[at][i], unit)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// TestOneServer checks the sentence, the tiles and the next step of one server at several loads.
func TestOneServer(t *testing.T) {
	users := []int{1, 4, 16, 64}
	full := []float64{45, 180, 700, 705}
	tpot := []float64{1e9 / 45., 1e9 / 45., 1e9 / 44., 1e9 / 40.}
	latency := []float64{1e9, 1e9, 1.1e9, 4e9}
	for _, c := range []struct {
		name, text, want, next string
	}{
		{"a knee", loadsOf(1, users, "output-tok/s mean-tpot-ns p50-e2e-ns", full, tpot, latency), "Up to 16 users at 44 tok/s each; more users only wait", ""},
		{"a knee below the peak", loadsOf(1, users, "output-tok/s mean-tpot-ns p50-e2e-ns", []float64{45, 180, 700, 900}, tpot, latency), "Up to 16 users at 44 tok/s each; 64 users get 900 tok/s in all, but wait longer", ""},
		{"no knee", loadsOf(1, users, "output-tok/s mean-tpot-ns", []float64{45, 180, 700, 2560}, tpot), "64 users get 40 tok/s each; the server may carry more", "measure more than 64 users"},
		{"no speed of a user", loadsOf(1, users, "req/s p50-e2e-ns", full, latency), "Up to 16 users at 700 req/s in all; more users only wait", ""},
		{"a limit", loadsOf(1, users, "output-tok/s mean-tpot-ns req/s good-req/s", full, tpot, full, []float64{45, 180, 690, 100}), "Keeps the SLO up to 16 users, at 44 tok/s each; misses it at 64 users", "measure 32 users"},
		{"no limit", loadsOf(1, users, "output-tok/s mean-tpot-ns req/s good-req/s", full, tpot, full, full), "Keeps the SLO up to 64 users, at 705 tok/s in all; more was not measured", "measure more than 64 users"},
		{"users that wait", loadsOf(1, users, "output-tok/s mean-tpot-ns req/s good-req/s", []float64{45, 180, 181, 182}, tpot, full, []float64{45, 180, 690, 100}), "Keeps the SLO up to 16 users, at 181 tok/s in all; misses it at 64 users", "measure 32 users"},
		{"one user that waits", loadsOf(1, users, "output-tok/s mean-tpot-ns p50-e2e-ns", []float64{20, 21, 21, 21}, tpot, []float64{1e9, 4e9, 16e9, 64e9}), "1 user gets 20 tok/s; more users only wait", ""},
		{"always too slow", loadsOf(1, users, "output-tok/s mean-tpot-ns req/s good-req/s", full, tpot, full, []float64{0, 0, 0, 0}), "Misses the SLO even at 1 user: 45 tok/s each", ""},
		{"failures", loadsOf(1, users, "output-tok/s mean-tpot-ns p50-e2e-ns fail-%", full, tpot, latency, []float64{0, 0, 40, 0}), "Up to 16 users at 44 tok/s each; more users only wait; 40 % got no answer", ""},
		{"failures at the last load", loadsOf(1, users[:2], "output-tok/s fail-%", full, []float64{0, 30}), "The throughput is greatest at 4 users: 180 tok/s in all; 30 % got no answer", ""},
		{"the highest load has room", loadsOf(1, users[:2], "output-tok/s mean-tpot-ns", full, tpot), "4 users get 45 tok/s each; the server may carry more", "measure more than 4 users"},
		{"a queue at the last load", loadsOf(1, users[:2], "output-tok/s mean-tpot-ns p50-ttft-ns srv-queue-ns", full, tpot, latency, []float64{0, 5e8}), "The throughput is greatest at 4 users: 45 tok/s each", ""},
		{"one load", loadsOf(1, users[:1], "output-tok/s mean-tpot-ns p50-ttft-ns", full, tpot, latency), "1 user: 45 tok/s each, 45 tok/s in all, the first token after 1 s", ""},
		{"an open loop", strings.ReplaceAll(loadsOf(1, users, "output-tok/s p50-e2e-ns", full, latency), "concurrency", "rate"), "Answers take 1 s at 1 req/s, and 4 s at 64 req/s", "measure more than 64 req/s"},
		{"nothing that is known", "BenchmarkA 1 3 frogs/s\n", "", ""},
	} {
		a := answerOf(t, c.text, nil)
		assert.Equal(t, a.Short, c.want, c.name)
		assert.Equal(t, strings.Join(a.Next, "; "), c.next, c.name)
	}
	a := answerOf(t, loadsOf(3, users, "output-tok/s mean-tpot-ns p50-e2e-ns p50-ttft-ns p99-ttft-ns price/Mtok", full, tpot, latency, []float64{3e7, 3e7, 4e7, 9e8}, []float64{3e7, 3e7, 5e7, 1e9}, []float64{4, 1, 0.25, 0.24}), nil)
	assert.DeepEqual(t, shown(a.Tiles), []string{
		"Greatest throughput: 705 tok/s; at 64 users, the most that was measured",
		"Speed for one user: 44 tok/s; after the first token, at 16 users",
		"First token: 40 ms; median, at 16 users, p99 50 ms",
		"A million output tokens: 0.25; at 16 users: 0.0394 an hour for each",
		"How sure: ± 0 %; the throughput of 3 runs at each load",
	})
	a = answerOf(t, loadsOf(1, users[1:2], "price/Mtok p50-ttft-ns", tpot, latency), nil)
	assert.Assert(t, !strings.Contains(line(a.Tiles, "A million output tokens"), "an hour"), "the throughput is not known")
}

// TestTwoServers checks the tiles of a comparison.
func TestTwoServers(t *testing.T) {
	a := answerOf(t, fourRuns(""), nil)
	assert.DeepEqual(t, shown(a.Tiles), []string{
		"Faster: vllm 2.00 times*; 2.00 to 2.00 with 95 % confidence, against tgi, at 256 users",
		"Users within the SLO: vllm 16, tgi 16; the limits of good-req/s",
		"First token: vllm 20 ms, tgi 20 ms; median, at 16 users",
		"How sure: More than chance; over all loads: ahead in 48 of 48 pairs of runs, p < 0.001",
	})
	assert.DeepEqual(t, a.Next, []string{"measure 32 users"})
	assert.Equal(t, a.Tiles[0].Values[0].System, 0)

	// A system that sheds requests is not only fast, and prices are those of the loads within the SLO.
	text := ""
	for i, backend := range []string{"vllm", "tgi"} {
		for _, users := range []int{1, 8} {
			text += fmt.Sprintf("BenchmarkServe/backend=%s/concurrency=%d 1 %d output-tok/s %d req/s %d good-req/s %d price/Mtok %d fail-%%\n", backend, users, (200-100*i)*users, 100, 99-50*i*(users/8), 4/users+i, 12*(1-i))
		}
	}
	a = answerOf(t, text, nil)
	assert.Equal(t, line(a.Tiles, "Unanswered"), "Unanswered: vllm 12 %; of the requests at one load")
	assert.Equal(t, line(a.Tiles, "Users within the SLO"), "Users within the SLO: vllm none, tgi 1*; the limits of good-req/s")
	assert.Equal(t, line(a.Tiles, "A million output tokens"), "A million output tokens: vllm no such load, tgi 5; each at the most that it carries within the SLO")

	// The ratio is that of a load at which the winner is ahead, and of figures that both have.
	for _, c := range []struct{ text, want string }{
		{serving("a", "1 120 output-tok/s", "8 480 output-tok/s", "64 700 output-tok/s") + serving("b", "1 100 output-tok/s", "8 400 output-tok/s", "64 700 output-tok/s"), "Ahead so far: a 1.20 times*; against b, at 8 users"},
		{serving("a", "1 120 output-tok/s", "8 480 output-tok/s") + serving("b", "1 100 output-tok/s", "8 0 output-tok/s"), "Ahead so far: a 1.20 times*; against b, at 1 user"},
		{serving("a", "1 100 output-tok/s 12 req/s", "8 400 output-tok/s 40 req/s") + serving("b", "1 10 req/s", "8 32 req/s"), "Ahead so far: a 1.25 times*; against b, at 8 users"},
	} {
		assert.Equal(t, line(answerOf(t, c.text, nil).Tiles, "Ahead so far"), c.want)
	}

	// The only price is not the best one.
	a = answerOf(t, serving("a", "1 100 output-tok/s 4 price/Mtok")+serving("b", "1 50 output-tok/s"), nil)
	assert.Equal(t, line(a.Tiles, "A million output tokens"), "A million output tokens: a 4, b no price; at 1 user")
}

// serving returns a benchmark file of a server. A load is a number of users with values.
func serving(backend string, loads ...string) (text string) {
	for _, l := range loads {
		users, values, _ := strings.Cut(l, " ")
		text += fmt.Sprintf("BenchmarkServe/backend=%s/concurrency=%s 1 %s\n", backend, users, values)
	}
	return text
}

// TestTilesInDoubt checks that no tile has a figure that is in doubt, or that is computed from one.
func TestTilesInDoubt(t *testing.T) {
	sound := loadsOf(1, []int{1, 8}, "output-tok/s mean-tpot-ns p50-ttft-ns price/Mtok", []float64{123, 987}, []float64{1e9 / 123., 1e9 / 119.}, []float64{3.21e7, 4.56e7}, []float64{7.89, 0.987})
	warned := func(units string) string {
		text := sound
		for _, users := range []int{1, 8} {
			text += fmt.Sprintf("--- BENCH: BenchmarkServe/backend=x/concurrency=%d-2\n    run.go:1: llmbench warns (client: %s): the client may distort these figures by more than 5%%\n", users, units)
		}
		return text
	}
	for units, absent := range map[string][]string{
		"output-tok/s": {"987"}, "mean-tpot-ns": {"119"}, "p50-ttft-ns": {"45.6"}, "price/Mtok": {"0.987", "an hour"},
	} {
		with, without := answerOf(t, sound, nil), answerOf(t, warned(units), nil)
		for _, text := range absent {
			assert.Assert(t, strings.Contains(strings.Join(shown(with.Tiles), "\n")+with.Short, text), "%s is not a test", text)
			assert.Assert(t, !strings.Contains(strings.Join(shown(without.Tiles), "\n"), text), "%s in doubt: %q", units, shown(without.Tiles))
		}
		assert.Assert(t, strings.Contains(strings.Join(shown(without.Tiles), "\n"), withheld), "%s: %q", units, shown(without.Tiles))
	}
	assert.Assert(t, strings.HasPrefix(answerOf(t, warned("output-tok/s"), nil).Short, "In doubt: "))
	assert.Assert(t, !strings.Contains(answerOf(t, warned("mean-tpot-ns"), nil).Short, "119"))
	both := loadsOf(1, []int{8}, "output-tok/s", []float64{100}) + loadsOf(1, []int{64}, "output-tok/s", []float64{800}) + "--- BENCH: BenchmarkServe/backend=x/concurrency=64-2\n    run.go:1: llmbench warns (client: output-tok/s): output-tok/s is uncertain\n"
	assert.Equal(t, answerOf(t, both, nil).Short, "In doubt: The throughput is greatest at 64 users")

	// All figures of a comparison are in doubt.
	a := answerOf(t, "BenchmarkServe/backend=vllm/concurrency=8 1 200 output-tok/s 20 client-err-%\nBenchmarkServe/backend=tgi/concurrency=8 1 100 output-tok/s 60 client-err-%\n", nil)
	assert.DeepEqual(t, shown(a.Tiles), []string{"Faster: Cannot tell; the figures are in doubt", "How sure: In doubt; see the warnings"})
	assert.Assert(t, strings.HasPrefix(a.Short, "In doubt: "), a.Short)
}

// TestGatewayTiles checks the tiles of what a gateway adds: without an interval nothing is sure.
func TestGatewayTiles(t *testing.T) {
	const name = "BenchmarkGatewayOverhead/stream=true/via="
	text := name + "direct/concurrency=1 1 118 output-tok/s\n" + name + "gateway/concurrency=1 1 100 output-tok/s 0.38 added-ttft-ms"
	a := answerOf(t, text+" 0.34 added-ttft-low-ms 0.46 added-ttft-high-ms\n", nil)
	assert.DeepEqual(t, shown(a.Tiles), []string{"Added to the first token: 0.38 ms; 0.34 to 0.46 with 95 % confidence, at 1 user", "How sure: 95 % confidence; "})
	assert.Equal(t, a.Short, "The gateway adds 0.38 ms to the first token, at 1 user")
	for ms, want := range map[string]string{"0.0000123": "0 ms", "12345.6": "12346 ms"} {
		a = answerOf(t, strings.Replace(text, "0.38", ms, 1)+"\n", nil)
		assert.Equal(t, a.Tiles[0].Values[0].Text, want)
		assert.Equal(t, a.Short, "The gateway adds "+want+" to the first token, at 1 user")
	}
	a = answerOf(t, text+"\n", nil)
	assert.DeepEqual(t, shown(a.Tiles), []string{"Added to the first token: 0.38 ms; at 1 user", "How sure: No interval; "})
	assert.DeepEqual(t, a.Next, []string{"make six rounds (-benchtime=8x)"})

	// A figure in doubt is left out if there are others.
	const doubt = "--- BENCH: " + name + "gateway/concurrency=1\n    run.go:1: llmbench warns (client: added-ttft-ms): added-ttft-ms is uncertain\n"
	a = answerOf(t, text+"\n"+doubt, nil)
	assert.Equal(t, a.Short, "In doubt: The gateway adds 0.38 ms to the first token, at 1 user")
	assert.Equal(t, len(a.Tiles), 0)
	a = answerOf(t, text+" 0.02 added-itl-ms\n"+doubt, nil)
	assert.Equal(t, a.Short, "The gateway adds 0.02 ms to each gap between tokens, at 1 user")
}

// TestStatedBy checks that what a server said is told once, with the name of the server if there are several, and that
// the server's cache is told there too.
func TestStatedBy(t *testing.T) {
	text := func(backend string, slots int) string {
		return fmt.Sprintf("backend: %s\nserver: llama.cpp\nslots: %d\n", backend, slots) + strings.ReplaceAll(loadsOf(2, []int{1, 8}, "output-tok/s", []float64{1, 2}), "backend=x", "backend="+backend)
	}
	const four = "llama.cpp serves 4 requests at once: the others only wait, 4 of 8 users. To serve more, start it with a larger -np."
	assert.DeepEqual(t, answerOf(t, text("a", 4), nil).Stated, []string{four})
	assert.DeepEqual(t, answerOf(t, text("a", 4)+text("b", 8)+text("c", 4), nil).Stated, []string{"a: " + four, "c: " + four})
	cached := loadsOf(1, []int{8}, "output-tok/s p50-ttft-ns", []float64{1}, []float64{1}) + "--- BENCH: BenchmarkServe/backend=x/concurrency=8-2\n    run.go:1: llmbench warns (cache: p50-ttft-ns): the server took 77% of the prompts' tokens from its cache, which shortens the TTFT\n"
	a := answerOf(t, cached, nil)
	assert.DeepEqual(t, a.Stated, []string{"The server took 77% of the prompts' tokens from its cache, which shortens the TTFT. About: Serve/backend=x/concurrency=8-2"})
	assert.Equal(t, len(a.Warnings), 0)
}

// TestShortOfMany checks the short sentences of pages of many groups, and of many benchmarks of one server.
func TestShortOfMany(t *testing.T) {
	text := ""
	for i := range 6 {
		for backend, rate := range map[string]int{"vllm": 200, "tgi": 100} {
			text += fmt.Sprintf("BenchmarkServe/backend=%s/model=m%d/concurrency=8 1 %d output-tok/s\n", backend, i, rate)
		}
	}
	a := answerOf(t, text, nil)
	assert.Equal(t, a.Short, "Preliminary: vllm has the fastest median in 6 of 6 comparisons: choose a model and a workload")
	assert.Assert(t, len(strings.Fields(a.Short)) <= compare.MaxWords && len(a.Sentences) == 1)
	a = answerOf(t, strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(text, "vllm/model=m1", "x/model=m1"), "vllm/model=m3", "x/model=m3"), "vllm/model=m5", "x/model=m5"), nil)
	assert.Equal(t, a.Short, "Preliminary: no system leads most of 6 comparisons: choose a model and a workload")
	text = ""
	for _, base := range []string{"Chat", "Serve", "Decode", "SLO"} {
		text += "Benchmark" + base + "/backend=x/concurrency=8 1 100 output-tok/s 5 slo-concurrency\n"
	}
	a = answerOf(t, text, nil)
	assert.Equal(t, a.Short, "The server gives at most 100 tok/s, at 8 users (Chat)")
	assert.DeepEqual(t, a.Sentences, []string{"It keeps the SLO up to 5 users (SLO)."})
	// The main job has benchmarks with servers of their own, and benchmarks of the harness.
	text += "BenchmarkRouting/backend=fleet/router=hash/concurrency=8 1 50 output-tok/s\nBenchmarkRouting/backend=fleet/router=queue/concurrency=8 1 60 output-tok/s\n" +
		"BenchmarkHTTP/tokens=spread/http=1.1/concurrency=64 1 2000 output-tok/s\nBenchmarkHTTP/tokens=spread/http=2/concurrency=64 1 2100 output-tok/s\n"
	assert.Equal(t, answerOf(t, text, nil).Short, a.Short)
}
