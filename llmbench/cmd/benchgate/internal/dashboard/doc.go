// Package dashboard converts benchmark results to the formats of dashboards, and verdicts to the format of CI
// systems. Each function cites the tool's own parser as the source of the format. The package never guesses
// whether higher or lower is better: if a unit's direction is unknown, formats that need one omit the unit.
package dashboard
