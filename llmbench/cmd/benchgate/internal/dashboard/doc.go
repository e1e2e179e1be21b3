// Package dashboard writes benchmark results in the formats of dashboards, and verdicts in that of CI systems. The formats
// are those of the tools' own parsers; each function cites its source. A direction is never guessed: a unit without one
// is in no format that needs one.
package dashboard
