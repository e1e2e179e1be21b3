// Package hang bounds how long a program waits for a disk. A file system that hangs, such as one
// whose server is gone, never returns from a write, and nothing can end the goroutine that writes.
package hang

import (
	"errors"
	"fmt"
	"time"
)

// Limit is how long a program waits for one operation.
const Limit = time.Minute

// Err is wrapped by the error of an operation that hangs.
var Err = errors.New("the disk hangs")

// Bound calls f in a new goroutine, and returns its error. If f has not returned after [Limit], Bound
// returns an error that begins with the name of the file and wraps [Err]. The goroutine then ends
// when f returns, and until then nobody may use what f uses.
func Bound(name string, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	timer := time.NewTimer(Limit)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("%s: a write has not ended after %v: %w", name, Limit, Err)
	}
}
