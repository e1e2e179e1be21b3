package conn

import "runtime"

// Apart calls f in a new goroutine and returns when f has returned. The stack of a goroutine grows to
// the next power of two that f needs, and does not shrink soon; the stacks of a thousand goroutines that
// wait are much memory. So a goroutine that waits long calls what needs a large stack with Apart.
// It costs about a microsecond.
//
// If f calls [runtime.Goexit], as the Fatal methods of package testing do, Apart calls it too. If f
// panics, the process ends.
func Apart(f func()) {
	done := make(chan struct{})
	returned := false
	go func() {
		defer func() {
			if why := recover(); why != nil {
				panic(why) // before the caller goes on without what f should have done
			}
			close(done)
		}()
		f()
		returned = true
	}()
	<-done
	if !returned {
		runtime.Goexit()
	}
}
