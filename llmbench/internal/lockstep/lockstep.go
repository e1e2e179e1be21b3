// Package lockstep lets several functions range over one sequence at the same time, so that values
// which take long to produce are produced once for all of them.
package lockstep

import "iter"

// Range calls each of fs with an iterator over seq, and returns when all have returned. The functions
// take turns: all of them get a value before seq goes on to the next. A function may range more than
// once. Functions that begin their n-th range share the n-th range over seq, whatever they do in
// between, and get the same values. A function must not modify them.
//
// A range that a function begins within another one is a range over seq of its own.
func Range[T any](seq iter.Seq[T], fs ...func(iter.Seq[T])) {
	var waiting []*follower[T] // at the beginning of a range
	for _, f := range fs {
		r := follow(seq, f)
		defer r.stop() // if another one panics
		if r.goOn() {
			waiting = append(waiting, r)
		}
	}
	for len(waiting) > 0 {
		ranging := waiting
		waiting = nil
		for v := range seq {
			ranging, waiting = step(ranging, waiting, func(r *follower[T]) { r.value, r.more = v, true })
			if len(ranging) == 0 {
				break
			}
		}
		_, waiting = step(ranging, waiting, func(r *follower[T]) { r.more = false })
	}
}

// step lets each of ranging go on after it was told what comes next. It returns those that want a
// further value, and waiting with those that have begun another range.
func step[T any](ranging, waiting []*follower[T], tell func(*follower[T])) (still, now []*follower[T]) {
	for _, r := range ranging {
		tell(r)
		r.begins = false
		switch more := r.goOn(); {
		case more && r.begins:
			waiting = append(waiting, r)
		case more:
			still = append(still, r)
		}
	}
	return still, waiting
}

// A follower is a function that ranges. It stops where it begins a range, and where it wants the next
// value.
type follower[T any] struct {
	goOn   func() bool // lets the function go on to the next stop; false: it has returned
	stop   func()
	begins bool // it has stopped at the beginning of a range
	value  T    // the next value
	more   bool // there is one
}

// follow returns f as a follower, which has not begun.
func follow[T any](seq iter.Seq[T], f func(iter.Seq[T])) *follower[T] {
	r := &follower[T]{}
	next, stop := iter.Pull(func(pause func(struct{}) bool) {
		within := false
		f(func(yield func(T) bool) {
			if within {
				seq(yield)
				return
			}
			within = true
			defer func() { within = false }()
			r.begins = true
			for on := pause(struct{}{}); on && r.more && yield(r.value); {
				on = pause(struct{}{})
			}
		})
	})
	r.goOn = func() bool { _, ok := next(); return ok }
	r.stop = stop
	return r
}
