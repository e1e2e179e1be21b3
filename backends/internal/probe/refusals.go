package probe

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// Refusals tells how long nothing has listened at the address of a server. The zero Refusals has seen no request. It is
// not for concurrent use.
type Refusals struct {
	since time.Time // zero: the last request failed in another way
}

// Failed returns for how long connections have been refused, with no other error meanwhile, if err is such a
// refusal, and reports whether it is. It must be called with the error of each request that fails.
func (r *Refusals) Failed(err error) (lasted time.Duration, refused bool) {
	if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) { // of a Unix socket
		r.since = time.Time{}
		return 0, false
	}
	if r.since.IsZero() {
		r.since = time.Now()
	}
	return time.Since(r.since), true
}
