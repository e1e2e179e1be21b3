// Package systems divides rows of results into groups, one for each set of pictures, and groups
// into systems, whose rows differ in nothing but their load. [Labels] names systems and rows by
// what distinguishes them. [Knee] and [SLO] find the loads that matter.
package systems
