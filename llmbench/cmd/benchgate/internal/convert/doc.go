// Package convert has the command "benchgate convert", which writes results in the formats of dashboards and as Go
// benchmark files.
package convert
