package store

import (
	"errors"
	"fmt"
	"time"
)

// WriteLimit is the maximum time for which a program waits for one write. If a file system hangs, for
// example because its server is gone, a write never returns, and there is no way to end its goroutine.
const WriteLimit = time.Minute

// ErrHangs is wrapped by the error of a write that hangs.
var ErrHangs = errors.New("the disk hangs")

// Write calls f, which writes to a file, in a new goroutine, and returns its error. If f has not returned
// after [WriteLimit], Write returns an error that begins with the name of the file and wraps [ErrHangs].
// The goroutine then ends when f returns. Until then, the caller must not use anything that f uses.
func Write(name string, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	timer := time.NewTimer(WriteLimit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("%s: a write has not ended after %v: %w", name, WriteLimit, ErrHangs)
	}
}
