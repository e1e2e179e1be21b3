// Package search finds the highest load at which a server meets a condition
// ([Highest]), and the load above which more users only wait longer ([Knee]).
//
// The caller makes the passes: a search calls a function with a load, and the function
// returns whether that load met the condition. A search is a pure function of these
// answers, so the same answers lead to the same loads.
//
// # What the package refuses to do
//
// The package knows no server and no metric, and measures nothing. It does not
// extrapolate: the result of a search is an interval between loads that were tried. The
// search fails with an error that wraps [ErrCannotJudge] if the lowest load already
// misses the condition, if the highest load still meets it, or if the answers are not
// monotone.
package search
