// Package search finds the highest load at which a server meets a condition ([Highest]), and the load above
// which more users only wait longer ([Knee]).
//
// A search sends no requests. It calls a function of the caller with a load. That function makes a pass,
// which is one run of the benchmark at the load, and reports whether the load met the condition. The loads
// that a search tries depend only on these answers, so the same answers lead to the same loads.
//
// # What the package refuses to do
//
// The package knows no server and no metric, and measures nothing. It does not extrapolate: the result of a
// search is an interval between two loads that were tried. A search fails with an error that wraps
// [ErrCannotJudge] if the lowest load already misses the condition, if the highest load still meets it, or
// if the answers are not monotone.
package search
