package report

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// synthetic writes the records of n streamed requests with a number of tokens each, at concurrency
// 1000. It returns the path of the file. One of a thousand requests was cut off.
func synthetic(tb testing.TB, n, tokens int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "BenchmarkSynthetic,concurrency=1000.1.jsonl")
	synthesize(tb, path, "mock", 1000, n, tokens)
	return path
}

// synthesize writes such records to a path, for a backend at a concurrency.
func synthesize(tb testing.TB, path, backend string, concurrency, n, tokens int) {
	tb.Helper()
	f, err := os.Create(path)
	assert.NilError(tb, err)
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintf(w, `{"version":1,"benchmark":"BenchmarkSynthetic/backend=%s/model=m/concurrency=%d","dialect":"openai-chat","model":"m","stream":true,"concurrency":%[2]d,"slo":"ttft=40ms","start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}`+"\n", backend, concurrency)
	rng := rand.New(rand.NewPCG(1, uint64(concurrency)))
	free := make([]int64, concurrency)
	line := make([]byte, 0, 4096)
	for i := range n {
		start := free[i%concurrency] + rng.Int64N(1000)
		first := start + 20e6 + rng.Int64N(30e6)
		last := first
		outcome := "ok"
		if i%1000 == 999 {
			outcome = "http"
		}
		line = fmt.Appendf(line[:0], `{"id":"3f2a9c1b-%d","pass":0,"due_ns":%d,"start_ns":%d,"connect_ns":0,"wrote_ns":%d,"first_byte_ns":%d,"gaps_ns":[`, i, start, start, start+9000, first-90000)
		for t := range tokens - 1 {
			gap := 8e6 + rng.Int64N(4e6)
			last += gap
			if t > 0 {
				line = append(line, ',')
			}
			line = strconv.AppendInt(line, gap, 10)
		}
		end := last + 200000
		line = fmt.Appendf(line, `],"first_ns":%d,"last_ns":%d,"end_ns":%d,"choices":{"before":1,"amid":0,"after":1,"first_ns":%d,"last_ns":%d},"last_event_ns":%d,"done_ns":%d,"prompt_tokens":512,"output_tokens":%d,"usage_alone":true,"token_source":"usage","finish":"length","outcome":%q,"status":200}`+"\n",
			first, last, end, first-80000, last, last+100000, last+150000, tokens, outcome)
		w.Write(line)
		free[i%concurrency] = end
	}
	assert.NilError(tb, w.Flush())
}

// TestThreeSystems checks that the page about three systems is smaller than 1 MB. Each system has
// six loads, with three samples and with all records.
func TestThreeSystems(t *testing.T) {
	dir := t.TempDir()
	for i, backend := range []string{"a", "b", "c"} {
		for load := 1; load <= 32; load *= 2 {
			for sample := range 3 {
				synthesize(t, filepath.Join(dir, fmt.Sprintf("%s,%d.%d.jsonl", backend, load, sample)), backend, load, 32+load, 24+8*i)
			}
		}
	}
	r, page := pageOf(t, Options{}, dir)
	if len(page) >= 1_000_000 {
		t.Errorf("a page of %d bytes, want less than 1,000,000", len(page))
	}
	detail := r.Sections[len(r.Sections)-1]
	assert.Equal(t, len(detail.Folds), 19)
	assert.Equal(t, detail.Folds[0].Title+", "+detail.Folds[5].Title+", "+detail.Folds[6].Title, "a concurrency=1, a concurrency=32, b concurrency=1")
	assert.Assert(t, strings.HasPrefix(r.Headline.ID, "frontier"), r.Headline.ID)
}

// TestSize checks how much memory each request needs, and that the page does not grow with the
// number of requests.
func TestSize(t *testing.T) {
	size := func(n int) (heap uint64, page int) {
		path := synthetic(t, n, 32)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		d, err := Read(path)
		assert.NilError(t, err)
		runtime.GC()
		runtime.ReadMemStats(&after)
		r, err := New(d, Options{})
		assert.NilError(t, err)
		var b bytes.Buffer
		assert.NilError(t, r.HTML(&b))
		return (after.HeapAlloc - before.HeapAlloc) / uint64(n), b.Len()
	}
	_, small := size(1000)
	heap, page := size(10000)
	if heap > 640 { // the 31 gaps of 4 bytes each take 124 bytes, and a Sample takes about 400
		t.Errorf("%d bytes a request, want at most 640", heap)
	}
	if page > small*3/2 || page > 1<<20 {
		t.Errorf("a page of %d bytes for ten times the requests of one of %d", page, small)
	}
}

// BenchmarkMillion makes a report about a million requests with 32 tokens each, from 757 MB of
// records. It took 8.3 s on two shared cores, and the command used 909 MiB.
func BenchmarkMillion(b *testing.B) {
	path := synthetic(b, 1_000_000, 32)
	for b.Loop() {
		d, err := Read(path)
		assert.NilError(b, err)
		r, err := New(d, Options{})
		assert.NilError(b, err)
		var page bytes.Buffer
		assert.NilError(b, r.HTML(&page))
		b.ReportMetric(float64(page.Len()), "html-bytes")
	}
}
