package scenarios

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// A listener remembers what was logged, and when.
type listener struct {
	testing.TB
	began time.Time
	mu    sync.Mutex
	lines []string
}

func (l *listener) Log(args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%v: %s", time.Since(l.began), fmt.Sprint(args...)))
}

// TestNoteWhile checks a benchmark that waits for a server that does not answer. It must say so
// soon, and repeat this. A benchmark that waits only for a moment must say nothing.
func TestNoteWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &listener{TB: t, began: time.Now()}
		stop := noteWhile(l, "waiting")
		time.Sleep(70 * time.Second)
		stop()
		assert.DeepEqual(t, l.lines, []string{"5s: waiting", "35s: waiting", "1m5s: waiting"})
		stop = noteWhile(l, "a moment")
		time.Sleep(4 * time.Second)
		stop()
		time.Sleep(time.Minute)
		assert.Equal(t, len(l.lines), 3, "%q", l.lines)
	})
}
