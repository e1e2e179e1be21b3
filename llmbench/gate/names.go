package gate

import (
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/rowname"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// names returns the names of the rows.
func (r *Report) names() *rowname.Names {
	all := make([]rowname.Benchmark, len(r.Rows))
	for i := range r.Rows {
		all[i] = r.Rows[i].benchmark()
	}
	return rowname.Of(all)
}

func (row *Row) benchmark() rowname.Benchmark {
	return rowname.Benchmark{Package: row.Pkg, Name: row.Name}
}

// labeler returns a function that names the benchmark of a row in a table. The name omits the parts that all rows have in
// common. It contains the package if the report has several packages.
func (r *Report) labeler() (label func(row *Row) string) {
	names := r.names()
	return func(row *Row) string { return redact.Line(names.Rest(row.benchmark())) }
}

// namer returns a function that names a row in words, such as "output tokens per second at 8 users".
func (r *Report) namer() func(row *Row) string {
	names := r.names()
	return func(row *Row) string {
		if row.Source != nil {
			return redact.Line(names.Of(row.Source.Tool+": "+row.Source.Key, row.benchmark()))
		}
		return redact.Line(names.Row(row.benchmark(), row.Unit))
	}
}

// title names the two sides.
func (r *Report) title() string {
	side := func(version, file string) string {
		if version == "" {
			return redact.Line(file)
		}
		return redact.Line(fmt.Sprintf("%s (%s)", version, file))
	}
	if r.Old == "" && r.OldVersion == "" {
		return side(r.NewVersion, r.New) + " against its budgets"
	}
	return side(r.NewVersion, r.New) + " against " + side(r.OldVersion, r.Old)
}

// settings returns Config, the package, and the parts of the benchmark name that all rows have in common, each as a part
// of a line.
func (r *Report) settings() []Setting {
	all := slices.Clone(r.Config)
	names := r.names()
	if pkg := names.Package(); pkg != "" {
		all = append(all, Setting{"pkg", pkg})
	}
	if common := names.Common(); common != "" {
		all = append(all, Setting{"all", common})
	}
	for i, s := range all {
		all[i] = Setting{redact.Line(s.Key), redact.Line(s.Value)}
	}
	return all
}
