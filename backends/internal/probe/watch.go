package probe

import (
	"sync"
	"time"
)

const (
	// firstReport is how long a wait has to last before it is reported for the first time.
	firstReport = 900 * time.Millisecond
	// ReportInterval is the time between two reports about the same wait.
	ReportInterval = 10 * time.Second
)

// A Watch reports that a wait goes on, even while a single request takes long.
type Watch struct {
	began time.Time
	tell  func(waited time.Duration, last error)

	mu    sync.Mutex // held while tell runs
	last  error
	since time.Time   // when the current attempt began; zero if there is none
	timer *time.Timer // nil after Stop
}

// NewWatch returns a Watch for a wait that begins now. It calls tell before a second has passed, and then
// every [ReportInterval]. last is the most recent error that was passed to [Watch.Attempt], or nil. If the
// attempt after it has taken a second or longer, last says how long it has had no answer. Stop must be
// called.
func NewWatch(tell func(waited time.Duration, last error)) *Watch {
	w := &Watch{began: time.Now(), tell: tell}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(firstReport, w.report)
	return w
}

// Attempt records that an attempt begins, if err is nil, or why an attempt failed.
func (w *Watch) Attempt(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		w.since = time.Now()
		return
	}
	w.last, w.since = err, time.Time{}
}

// Stop stops the watch. Afterwards tell is not called any more.
func (w *Watch) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

func (w *Watch) report() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		return
	}
	last := w.last
	if waited := time.Since(w.since); last != nil && !w.since.IsZero() && waited >= slow {
		last = unanswered(waited)
	}
	w.tell(time.Since(w.began), last)
	w.timer.Reset(ReportInterval)
}
