// Package pictures draws what a report shows. Each picture is a chart with a table. There are
// pictures of systems over their load, of systems in comparison, and of distributions, time lines,
// requests, failures, verdicts and the client's own error. A value in doubt is marked in the chart
// and in the table.
package pictures
