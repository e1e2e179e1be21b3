package resultfile

import "github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile/internal/document"

// A format is a file format that a tool writes.
type format struct {
	tool string // name of the tool in messages
	base string // first part of the benchmark's name
	// is reports whether a JSON or YAML value has the format, and read reads such a value. Both are nil for
	// a CSV format.
	is   func(*document.Node) bool
	read func(*reading)
	// isTable and readTable do the same for the rows of a CSV file.
	isTable   func([][]string) bool
	readTable func(*reading, [][]string)
}

// medians are the statistics of tools that name the 50th percentile "median".
var medians = []statistic{{"mean", "mean"}, {"p50", "median"}, {"p50", "p50"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}}

// first returns the first element of an array, or nil.
func first(n *document.Node) *document.Node {
	if items := n.Items(); len(items) > 0 {
		return items[0]
	}
	return nil
}

// each returns a function that reads an object as one result, and each element of an array as a result of its
// own.
func each(read func(*reading)) func(*reading) {
	return func(r *reading) {
		all := r.node
		if all.Object() {
			r.begin(r.at, all)
			read(r)
			r.end()
		}
		if all.Len() > len(all.Items()) {
			r.failf("", "has %d results: want at most %d", all.Len(), len(all.Items()))
		}
		for i, n := range all.Items() {
			r.begin("["+itoa(i)+"].", n)
			read(r)
			r.end()
		}
	}
}

// csvRows reads each row of a CSV file as a result. A row is about what, such as "test".
func (r *reading) csvRows(header []string, rows [][]string, what string, read func(i int)) {
	if len(rows) == 0 {
		r.failf("", "has a header but no row: want a row for each %s", what)
	}
	for i, row := range rows {
		r.begin("row "+itoa(i+1)+": ", document.Row(header, row))
		if len(row) < len(header) {
			r.failf(header[len(row)], "is missing: was the file cut off?")
		}
		read(i)
		r.end()
	}
}

// firstOf returns the first of keys that an object has, or keys[0] if it has none.
func firstOf(n *document.Node, keys ...string) string {
	for _, k := range keys {
		if n.Has(k) {
			return k
		}
	}
	return keys[0]
}
