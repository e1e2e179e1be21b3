// Package judge says what the samples of a measurement and the facts about it mean for its figures: which figures are
// left out, and what a reader must know about the others. Its functions are pure. It sends nothing, prints nothing and
// knows no process.
package judge
