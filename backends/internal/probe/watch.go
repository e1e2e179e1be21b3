package probe

import (
	"sync"
	"time"
)

const (
	// firstReport is the time after which a wait is told for the first time.
	firstReport = 900 * time.Millisecond
	// ReportInterval is the time between two messages about a wait that goes on.
	ReportInterval = 10 * time.Second
)

// A Watch tells about a wait, also while a single request of it takes long.
type Watch struct {
	began time.Time
	tell  func(waited time.Duration, last error)

	mu    sync.Mutex // held while tell runs
	last  error
	timer *time.Timer // nil after Stop
}

// NewWatch returns the watch of a wait that begins now. It calls tell before a second has passed,
// and then every [ReportInterval], with the last error that [Watch.Failed] was told, or nil.
// Stop must be called.
func NewWatch(tell func(waited time.Duration, last error)) *Watch {
	w := &Watch{began: time.Now(), tell: tell}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(firstReport, w.report)
	return w
}

// Failed tells why the wait goes on.
func (w *Watch) Failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = err
}

// Stop ends the watch. After it tell is not called.
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
