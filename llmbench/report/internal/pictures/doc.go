// Package pictures draws what a report shows, as charts with a table each: systems over their
// load, systems compared, distributions, time lines, requests, failures, verdicts and the
// client's own error. A figure in doubt is marked in the chart and in the table.
package pictures
