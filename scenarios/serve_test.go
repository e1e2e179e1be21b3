package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

func TestServeUsers(t *testing.T) {
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{}, "[1 4 16 64]"},
		{Options{Requests: 64}, "[1 4 16 64]"},
		{Options{Requests: 63}, "[1 4 16]"},
		{Options{Requests: 1}, "[1]"},
		{Options{Requests: 1, Concurrencies: []int{2, 8}}, "[2 8]"}, // prepareServe refuses it
	} {
		assert.Equal(t, fmt.Sprint(c.options.serveUsers()), c.want)
	}
}

// TestServeStops checks which of Serve's loads are measured on a server with a URL, and which are skipped with a reason.
func TestServeStops(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	for _, c := range []struct {
		name  string
		alone bool   // the server answers one request at a time, and more slowly from the second load on
		users string // LLMBENCH_CONCURRENCY
		in    string // a comparison, if not ""
		want  string // the concurrencies that are measured
		says  string
	}{
		{"more users, more tokens", false, "", "", "1 1 4 4 16 16", ""},
		{"more users only wait", true, "", "", "1 1 4 4", "concurrency=16 is skipped: 4 users got less than 21 % more output-tok/s than 1, so that more users would only wait; LLMBENCH_CONCURRENCY=1,4,16 measures them, too"},
		{"asked for", true, "1,4,16", "", "1 1 4 4 16 16", ""},
		{"compared", true, "", "1", "1 1 4 4 16 16", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ttft := 100 * time.Millisecond // much more than a busy client adds
			if c.alone {
				ttft /= 20
			}
			mock, err := mockserver.New(mockserver.Config{TTFT: ttft})
			assert.NilError(t, err)
			var one sync.Mutex
			chats := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if c.alone && r.URL.Path == "/v1/chat/completions" {
					one.Lock()
					defer one.Unlock()
					if chats++; chats > 44 { // two of the probe, 2 x 18 of one user, and a few of the next warm-up came before
						time.Sleep(50 * time.Millisecond)
					}
				}
				mock.ServeHTTP(w, r)
			}))
			defer server.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, self, "-test.run=^$", "-test.bench=Serve", "-test.benchtime=1x", "-test.count=2")
			cmd.Env = append(os.Environ(), "LLMBENCH_URL="+server.URL, "LLMBENCH_CLIENT_BOUND=report", "LLMBENCH_REQUESTS=16", "LLMBENCH_OUTPUT=2", "LLMBENCH_CONCURRENCY="+c.users, env.Comparison+"="+c.in)
			out, err := cmd.CombinedOutput()
			assert.NilError(t, err, "%s", out)
			var measured []string
			for _, m := range regexp.MustCompile(`(?m)^BenchmarkServe/.*/concurrency=(\d+).* req/s`).FindAllSubmatch(out, -1) {
				measured = append(measured, string(m[1]))
			}
			assert.Equal(t, strings.Join(measured, " "), c.want, "%s", out)
			assert.Assert(t, strings.Contains(string(out), c.says), "%s", out)
		})
	}
}

// TestServeMix checks that a mix divides the requests among its models, by another draw in each pass, and that
// results name it.
func TestServeMix(t *testing.T) {
	o := Options{Dataset: "random", Input: 4, Output: 2, Mix: []benchdata.Share{{Model: "base", Weight: 3}, {Model: "sql", Weight: 1}}}
	s := server{options: o, counter: counter{tokens: tokenizer.Words{}}}
	draw := func(seed uint64) (models string) {
		requests, err := s.drawDataset(8, seed, 0)
		assert.NilError(t, err)
		count := map[string]int{}
		for _, r := range requests {
			count[r.Model]++
			models += r.Model + " "
		}
		assert.DeepEqual(t, count, map[string]int{"base": 6, "sql": 2})
		return models
	}
	assert.Equal(t, draw(1), draw(1))
	assert.Assert(t, draw(1) != draw(2))
	assert.Equal(t, configLines(o)["mix"], "base=3,sql=1")
	assert.DeepEqual(t, modelsOf(o.Mix), []string{"base", "sql"})
	o.Mix = nil
	_, has := configLines(o)["mix"]
	assert.Assert(t, !has)
}

// TestServeForTime checks how many requests a load for a time has, and that its sequence is the same for each time: the parts
// differ, and a data set that does not repeat ends it.
func TestServeForTime(t *testing.T) {
	s := server{options: Options{Dataset: "random", Input: 4, Output: 2, Seed: 1, Duration: time.Second}, counter: counter{tokens: tokenizer.Words{}}}
	for rate, want := range map[float64]int{0.5: 1, 1: 1, 10: 10, 10.5: 11} { // due before the time is over
		assert.Equal(t, s.due(rate), want)
	}
	s.options.Requests = 7
	assert.Equal(t, s.due(10), 7)
	kinds, err := filepath.Abs("../benchdata/testdata/kinds")
	assert.NilError(t, err)
	for _, c := range []struct {
		o           Options
		arrivals    arrivals.Process
		first, more int // numbers of requests
	}{
		{Options{Dataset: "random", Input: 4, Output: 2}, nil, 256, 256},
		{Options{Dataset: "random", Input: 4, Output: 2, Requests: 16}, nil, 16, 0},
		{Options{Dataset: "random", Input: 4, Output: 2, WarmupFor: time.Minute}, nil, 256, 256},
		{Options{Dataset: "random", Input: 4, Output: 2, Users: arrivals.Users{{For: time.Second, Rate: 3}}}, nil, 256, 256},
		{Options{Dataset: "random", Input: 4, Output: 2}, arrivals.Constant{Rate: 1}, 16, 0},
		{Options{Dataset: "sharegpt:" + kinds + "/sharegpt.json"}, nil, 4096, 4096},
		{Options{Dataset: "sharegpt-sglang:" + kinds + "/sharegpt.json"}, nil, 2, 0},
	} {
		c.o.Seed, c.o.Warmup = 1, -1
		if len(c.o.Users) == 0 {
			c.o.Duration = time.Second
		}
		s := server{options: c.o, target: llmbench.Target{KeepsPrompts: true}, counter: counter{tokens: tokenizer.Words{}}}
		onePass(t, func(b *testing.B) {
			l := llmbench.Load{Arrivals: c.arrivals, Users: c.o.Users}
			if c.arrivals == nil {
				l.Concurrency = 3
			}
			l = s.serveLoad(b, l, 16, 0)
			first, err := l.Fresh(0)
			assert.NilError(t, err)
			assert.Equal(t, len(first), c.first)
			assert.Equal(t, l.WarmupFor, c.o.WarmupFor)
			if l.Duration == 0 || l.More == nil {
				assert.Equal(t, c.more, 0)
				assert.Equal(t, l.Duration > 0, c.arrivals == nil)
				return
			}
			one, err := l.More(0, 1)
			assert.NilError(t, err)
			assert.Equal(t, len(one), c.more)
			again, err := l.More(0, 1)
			assert.NilError(t, err)
			assert.DeepEqual(t, one, again)
			other, err := l.More(0, 2)
			assert.NilError(t, err)
			assert.Assert(t, c.more == 0 || other[0].Prompt != one[0].Prompt && one[0].Prompt != first[0].Prompt)
		})
	}
}
