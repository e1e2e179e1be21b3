// Package judge decides what the samples of a measurement and the facts about it mean for its metrics:
// which metrics are omitted, and what a reader must know about the others. Its functions are pure. The
// package sends nothing, prints nothing, and does not depend on the state of the process.
package judge
