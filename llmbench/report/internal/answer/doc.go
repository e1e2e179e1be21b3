// Package answer says in words what results tell, and how sure that is: the first screen of a
// report. It draws nothing.
//
// The verdict of package gate is passed on as it is. Two systems are compared at equal loads,
// by a test of ranks. One system over load is described by its knee and by the load that
// keeps an SLO. Figures in doubt are left out where others are left, and never pass without a
// word. Where there are too few samples the answer is "cannot tell".
package answer
