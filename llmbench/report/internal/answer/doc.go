// Package answer says in words what the results tell, and how certain that is. These words are the
// first screen of a report. The package draws nothing.
//
// The verdict of package gate is passed on without changes. Two systems are compared at equal
// loads, by a test of ranks. For one system over the load, the answer gives its knee and the
// highest load that meets the SLO. Values in doubt are left out if there are others; if they are
// used, the answer says so. If there are too few samples, the answer is "cannot tell".
package answer
