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
	timer *time.Timer // nil after Stop
}

// NewWatch returns a Watch for a wait that begins now. It calls tell before a second has passed, and then
// every [ReportInterval]. last is the most recent error that was passed to [Watch.Failed], or nil. Stop
// must be called.
func NewWatch(tell func(waited time.Duration, last error)) *Watch {
	w := &Watch{began: time.Now(), tell: tell}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(firstReport, w.report)
	return w
}

// Failed records why the wait goes on.
func (w *Watch) Failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = err
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
	w.tell(time.Since(w.began), w.last)
	w.timer.Reset(ReportInterval)
}
