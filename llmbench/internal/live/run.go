package live

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Run describes what a file of records shows so far. Latencies and rates are of finished requests, and the
// run lasts until the end of the newest of these.
type Run struct {
	File      string    `json:"file"` // file name
	Benchmark string    `json:"benchmark"`
	Model     string    `json:"model,omitempty"`
	Load      string    `json:"load,omitempty"` // such as "concurrency 8" or "poisson rate=4"
	Start     time.Time `json:"start"`
	Changed   time.Time `json:"changed"` // when the file was last written
	State     string    `json:"state"`
	Why       string    `json:"why,omitempty"` // the reason for StateFailed or StateBroken
	Unread    int64     `json:"unread"`        // bytes not read yet; until they are read, the metrics cover only the start of the run

	Requests int            `json:"requests"` // number of finished requests
	Passes   int            `json:"passes"`
	Failures map[string]int `json:"failures,omitempty"` // number of failed requests, keyed by outcome
	// InFlight is the number of requests in flight just before the newest finished request ended, including
	// that request. At is the time at which it ended. InFlight is 0 if the records lack the number, if the run
	// has several client processes, and when the run is over.
	InFlight int       `json:"inFlight"`
	At       time.Time `json:"at"`

	OutputTokens int     `json:"outputTokens"` // total of the successful requests
	TokensPerS   float64 `json:"tokensPerS"`   // output tokens per second of all passes; a pass is one execution of the load
	RecentPerS   float64 `json:"recentPerS"`   // tokens per second over the last Recent of the current pass
	TTFTs        int     `json:"ttfts"`        // number of requests with a TTFT
	TTFT50       float64 `json:"ttft50"`       // median in ns; 0 if TTFTs is 0
	TTFT99       float64 `json:"ttft99"`       // 99th percentile in ns; 0 if TTFTs is below 100

	Course *Course `json:"course,omitempty"` // of a running benchmark; nil if it has lasted fewer than two steps
}

// The states of a run.
const (
	StateRunning = "running" // the file has no final line yet: the run goes on, or its process was killed
	StateEnded   = "ended"
	StateFailed  = "failed"
	StateBroken  = "broken" // the file has no valid records, or they contradict each other
)

// Recent is the length of time over which RecentPerS is computed.
const Recent = 10 * time.Second

// A tracker reads a file of records and keeps the Run up to date.
type tracker struct {
	follower *records.Follower
	run      Run
	ttft     sample.Distribution
	elapsed  time.Duration // total length of the passes before the current one
	tokens   float64       // output tokens within that time and the current pass
	pass     int32
	from, to time.Duration // when the current pass's first request was due, and when its last one ended; both within what is measured
	recent   []tokensAt    // one element per successful request of the current pass
	course   course
}

// tokensAt holds the output tokens of a request and the time at which it ended.
type tokensAt struct {
	end    time.Duration
	tokens int
}

// maxRecent is the number of elements in recent at which old ones are dropped. No client finishes so many
// requests within the time Recent.
const maxRecent = 1 << 20

func newTracker(folder, file string) *tracker {
	return &tracker{follower: records.Follow(filepath.Join(folder, file)), run: Run{File: file, State: StateRunning}, pass: -1}
}

// read reads up to most further bytes of the file. It reports whether the file was replaced by another; the
// tracker must then be replaced, too.
func (t *tracker) read(most int64) (replaced bool) {
	left, err := t.follower.Next(most, t.add)
	t.run.Unread = left
	switch {
	case errors.Is(err, records.ErrReplaced):
		return true
	case errors.Is(err, fs.ErrNotExist): // the next look at the folder will notice
	case err != nil:
		t.run.State, t.run.Why = StateBroken, err.Error()
		return false
	}
	if h := t.follower.Head(); h != nil && t.run.Benchmark == "" {
		t.run.Benchmark, t.run.Model, t.run.Start, t.run.Load = cmp.Or(h.Benchmark, t.run.File), h.Model, h.Start, h.Load()
	}
	if end := t.follower.End(); end != nil {
		t.run.State, t.run.Why, t.run.InFlight = StateEnded, end.Why, 0
		if end.Outcome != records.EndedOK {
			t.run.State = StateFailed
		}
		t.figures()
		t.ttft, t.recent, t.course = sample.Distribution{}, nil, course{} // no more requests will be added
		return false
	}
	t.figures()
	return false
}

// add adds a finished request to the run.
func (t *tracker) add(q *records.Request) {
	head := t.follower.Head()
	begin, end := max(q.Due, head.WarmupFor), max(q.End, head.WarmupFor)
	if head.Duration > 0 {
		end = min(end, head.WarmupFor+head.Duration)
	}
	if q.Pass != t.pass {
		if t.pass >= 0 {
			t.elapsed += t.to - t.from
		}
		t.pass, t.from, t.to, t.recent = q.Pass, begin, end, nil
	}
	t.from, t.to = min(t.from, begin), max(t.to, end)
	t.run.Requests++
	t.run.Passes = int(q.Pass) + 1
	if t.run.InFlight = int(q.InFlight); head.Shards > 1 {
		t.run.InFlight = 0 // each process counts only its own requests
	}
	at := head.Start.Add(t.elapsed + q.End - t.from) // for older records, which lack the epoch
	if q.Epoch > 0 {
		at = time.Unix(0, q.Epoch).Add(q.End)
		t.run.At = at
	}
	t.course.add(at, t.run.InFlight, q)
	if q.Failed() {
		if t.run.Failures == nil {
			t.run.Failures = map[string]int{}
		}
		t.run.Failures[string(q.Outcome)]++
	}
	if !q.OK() {
		return
	}
	t.tokens += head.Within(q) * float64(q.OutputTokens)
	if !head.Measures(q) {
		return
	}
	t.run.OutputTokens += int(q.OutputTokens)
	if t.recent = append(t.recent, tokensAt{q.End, int(q.OutputTokens)}); len(t.recent) > maxRecent {
		t.forget()
	}
	if ttft, ok := q.TTFT(); ok {
		t.ttft.Add(ttft)
	}
}

// forget drops the requests of t.recent that ended longer than Recent ago.
func (t *tracker) forget() {
	kept := t.recent[:0]
	for _, r := range t.recent {
		if r.end > t.to-Recent {
			kept = append(kept, r)
		}
	}
	t.recent = kept
}

// figures updates the rates and latencies of the run.
func (t *tracker) figures() {
	r := &t.run
	r.TokensPerS, r.RecentPerS = 0, 0
	if elapsed := t.elapsed + t.to - t.from; elapsed > 0 {
		r.TokensPerS = t.tokens / elapsed.Seconds()
	}
	t.forget()
	recent := 0
	for _, at := range t.recent {
		recent += at.tokens
	}
	if window := min(Recent, t.to-t.from); window > 0 {
		r.RecentPerS = float64(recent) / window.Seconds()
	}
	if r.TTFTs = t.ttft.N(); r.TTFTs > 0 {
		r.TTFT50 = t.ttft.Sketch(0.5)
	}
	if r.TTFTs >= 100 {
		r.TTFT99 = t.ttft.Sketch(0.99)
	}
}

// snapshot returns a copy of the current run.
func (t *tracker) snapshot() Run {
	r := t.run
	r.Failures = maps.Clone(r.Failures)
	r.Course = t.course.over()
	return r
}
