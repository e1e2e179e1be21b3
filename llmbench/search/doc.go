// Package search finds the highest load at which a server keeps a promise, and the
// load from which more users only wait: each from few passes, which are the
// caller's. It knows nothing of servers; what it does is a pure function of what
// the passes say, so that the same answers lead through the same loads.
//
// A search ends in an interval, or in an error that wraps [ErrCannotJudge]: when
// the lowest load already breaks the promise, when the highest still keeps it, or
// when a load keeps it that is above one which does not. It never guesses.
package search
