package llmbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/prefix"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// essays returns n prompts of 200 different words, each with a different beginning.
func essays(n, out int) []Request {
	all := make([]Request, n)
	for i := range all {
		var b strings.Builder
		for k := range 200 {
			fmt.Fprintf(&b, "word%dof%d ", k, i)
		}
		all[i] = Request{Prompt: b.String(), MaxTokens: out, FixedOutput: true}
	}
	return all
}

// slowPrefill returns an engine whose TTFT for an essay is about 40 ms, or 2 ms if the prefix cache holds
// the essay.
func slowPrefill(cache bool) mockserver.Config {
	return mockserver.Config{Engine: &engine.Profile{Step: 1000, Prefill: 1000, PrefillPerToken: 200, MaxBatch: 8, PrefixCache: cache}}
}

// TestControlCache checks, in virtual time, that the control finds out whether a server has a prefix cache,
// and that it ends if the server fails.
func TestControlCache(t *testing.T) {
	for _, c := range []struct {
		name       string
		cfg        mockserver.Config
		requests   []Request
		stream     bool
		warm, cold bool
		pairs      int
	}{
		{"a cache", slowPrefill(true), essays(20, 4), true, true, false, prefix.Pairs},
		{"a cache, not streamed", slowPrefill(true), essays(20, 4), false, true, false, prefix.Pairs},
		{"no cache", slowPrefill(false), essays(20, 4), true, false, true, prefix.Pairs},
		{"a noisy server without a cache", mockserver.Config{TTFT: 20 * time.Millisecond, PerToken: time.Millisecond, Jitter: 0.02}, essays(20, 4), true, false, true, prefix.Pairs},
		{"few prompts", slowPrefill(true), essays(3, 4), true, true, false, prefix.Pairs},
		{"few prompts, no cache", slowPrefill(false), essays(3, 4), true, false, true, prefix.Pairs},
		{"a failing server", mockserver.Config{Engine: &engine.Profile{Step: 1000, Prefill: 1000, PrefillPerToken: 200, MaxBatch: 8, MaxContext: 10}}, essays(20, 4), true, false, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, err := mockserver.New(c.cfg)
				assert.NilError(t, err)
				target, stop := inMemory(t, srv)
				defer stop()
				cl, err := newClient(target)
				assert.NilError(t, err)
				defer cl.Close()
				l, err := Load{Requests: c.requests, Concurrency: 1, NoStream: !c.stream}.check()
				assert.NilError(t, err)
				w := testWorker(cl, &l)
				for _, r := range c.requests { // the pass
					p, err := newPost(&l, target, r)
					assert.NilError(t, err)
					w.Do(t.Context(), p, 0, false)
				}
				pairs := controlCache(t.Context(), cl, target, &l, sourceOf(c.requests), prefix.Pairs, 7)
				v := prefix.Judge(pairs)
				assert.Equal(t, v.Pairs, c.pairs)
				assert.Equal(t, v.Warm, c.warm, "%v", pairs)
				assert.Equal(t, v.Cold, c.cold, "%v", pairs)

				ended, cancel := context.WithCancel(t.Context())
				cancel()
				assert.Equal(t, len(controlCache(ended, cl, target, &l, sourceOf(c.requests), prefix.Pairs, 7)), 0)
			})
		})
	}
}

// helperWarmCache measures a server of the kind that the variable TEST_HELPER_CACHE names.
func helperWarmCache(b *testing.B) {
	kind := os.Getenv("TEST_HELPER_CACHE")
	srv, target := loopback(b, slowPrefill(!strings.Contains(kind, "none")))
	if strings.Contains(kind, "silent") {
		target.Dialect = dialect.TGI{} // this dialect reports no cached tokens
	}
	requests := essays(12, 2)
	if strings.Contains(kind, "short") {
		requests = words(12, 2)
	}
	if strings.Contains(kind, "sessions") {
		for i := range requests {
			requests[i].Then = []Turn{{Prompt: "more", MaxTokens: 2, FixedOutput: true}}
		}
	}
	Run(b, target, Load{Requests: requests, Concurrency: 2, MeasuresCache: strings.Contains(kind, "wanted")})
	b.Logf("requests: %d", len(srv.Log()))
}

// TestPrefixCacheVerdict checks the verdict on the prefix cache in the records, in the results and in the
// log. It also checks that no control is sent if all prompts are new.
func TestPrefixCacheVerdict(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	for _, c := range []struct {
		kind, passes string
		want         records.PrefixCache // without Ratio and Cached
		unit         bool
		log          string
		requests     int
	}{
		{"silent", "1x", records.PrefixCache{Verdict: records.CacheNew, Prompts: 12}, false, "", 12},
		{"silent", "2x", records.PrefixCache{Verdict: records.CacheWarm, By: records.CacheByControl, Prompts: 24, Repeated: 12, Pairs: 11}, true, "llmbench warns (cache: ", 24 + 22},
		{"silent none", "2x", records.PrefixCache{Verdict: records.CacheCold, By: records.CacheByControl, Prompts: 24, Repeated: 12, Pairs: 11}, false, "", 24 + 22},
		{"stated", "2x", records.PrefixCache{Verdict: records.CacheWarm, By: records.CacheByAnswers, Prompts: 24, Repeated: 12}, false, "tokens from its cache", 24},
		{"stated wanted", "2x", records.PrefixCache{Verdict: records.CacheWarm, By: records.CacheByAnswers, Prompts: 24, Repeated: 12}, false, "", 24},
		{"stated sessions", "1x", records.PrefixCache{Verdict: records.CacheWarm, By: records.CacheByAnswers, Prompts: 24, Repeated: 12}, false, "", 24},
		{"silent wanted", "2x", records.PrefixCache{Verdict: records.CacheWarm, By: records.CacheByControl, Prompts: 24, Repeated: 12, Pairs: 11}, true, "", 24 + 22},
		{"silent short", "2x", records.PrefixCache{Verdict: records.CacheNew, Prompts: 24}, false, "", 24},
	} {
		t.Run(c.kind+" "+c.passes, func(t *testing.T) {
			stdout, _, code, folder := runHelper(t, "WarmCache", []string{"-test.benchtime=" + c.passes}, nil, "TEST_HELPER_CACHE="+c.kind)
			assert.Equal(t, code, 0, stdout)
			end := ended(t, folder)
			got := *end.PrefixCache
			if c.kind == "silent none" && got.Verdict == records.CacheUnknown { // on a machine that delays single requests
				assert.Assert(t, got.By == "" && strings.Contains(stdout, "cannot tell whether a prefix cache"), stdout)
				return
			}
			assert.Equal(t, got.Cached > 0.1, got.By == records.CacheByAnswers)
			assert.Equal(t, got.Ratio > 0, got.By == records.CacheByControl)
			got.Cached, got.Ratio = 0, 0
			assert.DeepEqual(t, got, c.want)
			all, units := results(t, stdout)
			v, has := all[0].Value(sample.WarmCache)
			assert.Assert(t, has == c.unit && (!has || v == 1), stdout)
			if has {
				assert.Assert(t, units.Get(sample.WarmCache, "same") != nil, stdout)
			}
			assert.Assert(t, strings.Contains(stdout, c.log), stdout)
			assert.Assert(t, c.log != "" || !strings.Contains(stdout, "(cache"), stdout)
			assert.Assert(t, strings.Contains(stdout, fmt.Sprintf("requests: %d", c.requests)), stdout)
		})
	}
}

// ended returns the end of the only file of records in a folder.
func ended(t *testing.T, folder string) *records.End {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), 1)
	run, err := records.Open(files[0])
	assert.NilError(t, err)
	return run.End
}
