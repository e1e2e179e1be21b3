package live

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Run is what a file of records says so far. Latencies and rates count the requests that have
// ended, and time ends with the newest of them.
type Run struct {
	File      string    `json:"file"` // its name in the folder
	Benchmark string    `json:"benchmark"`
	Model     string    `json:"model,omitempty"`
	Load      string    `json:"load,omitempty"` // such as "concurrency 8" or "poisson rate=4"
	Start     time.Time `json:"start"`
	Changed   time.Time `json:"changed"` // when the file was last written
	State     string    `json:"state"`
	Why       string    `json:"why,omitempty"` // of a failure
	Unread    int64     `json:"unread"`        // bytes; if there are many, the figures are of the beginning

	Requests int            `json:"requests"` // that have ended
	Passes   int            `json:"passes"`
	Failures map[string]int `json:"failures,omitempty"` // by outcome
	// InFlight is the number of requests in flight just before the newest one ended, itself
	// included, and At the instant of that end. InFlight is 0 if the records do not have it,
	// if several processes make the run, and after the end.
	InFlight int       `json:"inFlight"`
	At       time.Time `json:"at"`

	OutputTokens int     `json:"outputTokens"` // of successful requests
	TokensPerS   float64 `json:"tokensPerS"`   // per second of the passes
	RecentPerS   float64 `json:"recentPerS"`   // the same of requests that ended in the last Recent of the run
	TTFTs        int     `json:"ttfts"`        // number of TTFTs
	TTFT50       float64 `json:"ttft50"`       // in ns; of at least one
	TTFT99       float64 `json:"ttft99"`       // in ns; of at least 100

	Course *Course `json:"course,omitempty"` // of a run that goes on; nil if it is short
}

// The states of a run.
const (
	StateRunning = "running" // or its process was killed: the file has no line about the end
	StateEnded   = "ended"
	StateFailed  = "failed"
	StateBroken  = "broken" // not records, or records that contradict themselves
)

// Recent is the time over which RecentPerS is computed.
const Recent = 10 * time.Second

// A tracker adds up what a file of records says.
type tracker struct {
	follower *records.Follower
	run      Run
	ttft     sample.Distribution
	elapsed  time.Duration // of the passes before the current one
	pass     int32
	from, to time.Duration // first t0 and last end of the current pass
	recent   []tokensAt    // of successful requests of the current pass, by end
	course   course
}

// tokensAt are the output tokens of a request that ended at an instant.
type tokensAt struct {
	end    time.Duration
	tokens int
}

// maxRecent is the largest number of requests in recent. More than that in the time Recent are
// more than any client sends.
const maxRecent = 1 << 20

func newTracker(folder, file string) *tracker {
	return &tracker{follower: records.Follow(filepath.Join(folder, file)), run: Run{File: file, State: StateRunning}, pass: -1}
}

// read reads up to most bytes. It reports whether the file has been replaced: then the tracker
// must be, too.
func (t *tracker) read(most int64) (replaced bool) {
	left, err := t.follower.Next(most, t.add)
	t.run.Unread = left
	switch {
	case errors.Is(err, records.ErrReplaced):
		return true
	case errors.Is(err, fs.ErrNotExist): // the folder is looked at again
	case err != nil:
		t.run.State, t.run.Why = StateBroken, err.Error()
		return false
	}
	if h := t.follower.Head(); h != nil && t.run.Benchmark == "" {
		t.run.Benchmark, t.run.Model, t.run.Start, t.run.Load = cmp.Or(h.Benchmark, t.run.File), h.Model, h.Start, load(h)
	}
	if end := t.follower.End(); end != nil {
		t.run.State, t.run.Why, t.run.InFlight = StateEnded, end.Why, 0
		if end.Outcome != records.EndedOK {
			t.run.State = StateFailed
		}
		t.figures()
		t.ttft, t.recent, t.course = sample.Distribution{}, nil, course{} // nothing is added any more
		return false
	}
	t.figures()
	return false
}

// load returns how requests are sent.
func load(h *records.Head) string {
	switch {
	case h.Concurrency > 0:
		return fmt.Sprintf("concurrency %d", h.Concurrency)
	case h.Arrivals != nil:
		return h.Arrivals.String()
	}
	return "open loop"
}

// add adds a request that has ended.
func (t *tracker) add(q *records.Request) {
	if q.Pass != t.pass {
		if t.pass >= 0 {
			t.elapsed += t.to - t.from
		}
		t.pass, t.from, t.to, t.recent = q.Pass, q.Due, q.End, nil
	}
	t.from, t.to = min(t.from, q.Due), max(t.to, q.End)
	t.run.Requests++
	t.run.Passes = int(q.Pass) + 1
	if t.run.InFlight = int(q.InFlight); t.follower.Head().Shards > 1 {
		t.run.InFlight = 0 // each process counts its own
	}
	at := t.follower.Head().Start.Add(t.elapsed + q.End - t.from) // older records do not have the epoch
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
	t.run.OutputTokens += int(q.OutputTokens)
	if t.recent = append(t.recent, tokensAt{q.End, int(q.OutputTokens)}); len(t.recent) > maxRecent {
		t.forget()
	}
	if ttft, ok := q.TTFT(); ok {
		t.ttft.Add(ttft)
	}
}

// forget drops requests that ended before the time Recent.
func (t *tracker) forget() {
	kept := t.recent[:0]
	for _, r := range t.recent {
		if r.end > t.to-Recent {
			kept = append(kept, r)
		}
	}
	t.recent = kept
}

// figures computes the figures of all requests so far.
func (t *tracker) figures() {
	r := &t.run
	r.TokensPerS, r.RecentPerS = 0, 0
	if elapsed := t.elapsed + t.to - t.from; elapsed > 0 {
		r.TokensPerS = float64(r.OutputTokens) / elapsed.Seconds()
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

// snapshot returns the run as it is now.
func (t *tracker) snapshot() Run {
	r := t.run
	r.Failures = maps.Clone(r.Failures)
	r.Course = t.course.over()
	return r
}
