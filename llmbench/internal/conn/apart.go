package conn

import "runtime"

// Apart calls f in a new goroutine, and returns when f has returned. Its purpose is to save memory. When a
// function needs a large stack, the stack of its goroutine doubles until it is large enough, and does not
// shrink soon; with a thousand waiting goroutines this is much memory. A goroutine that will wait long
// should therefore use Apart for functions that need a large stack. Apart takes about a microsecond.
//
// If f calls [runtime.Goexit], as the Fatal methods of package testing do, Apart also calls it. If f
// panics, the process ends.
func Apart(f func()) {
	done := make(chan struct{})
	returned := false
	go func() {
		defer func() {
			if why := recover(); why != nil {
				panic(why) // panic here, before the caller continues without the work of f
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
