// Package systems divides rows of results into groups, and groups into systems. Each group has its
// own set of pictures. The rows of a system differ only in their load. [Labels] names systems and
// rows by what distinguishes them. [System.Knee] and [SLO] find the loads that matter.
package systems
