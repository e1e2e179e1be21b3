package probe

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// Refusals measures how long nothing has been listening at a server's address. The zero value is ready for
// use. Refusals is not safe for concurrent use.
type Refusals struct {
	since time.Time // first of the uninterrupted refusals; zero if the last request failed in another way
}

// Failed must be called with the error of each failed request. It reports whether err means that nothing
// listens at the address, and for how long all errors have meant that.
func (r *Refusals) Failed(err error) (lasted time.Duration, refused bool) {
	if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) { // ErrNotExist is for a Unix socket
		r.since = time.Time{}
		return 0, false
	}
	if r.since.IsZero() {
		r.since = time.Now()
	}
	return time.Since(r.since), true
}
