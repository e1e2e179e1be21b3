package history

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history/internal/watch"
)

// Changes replays [Reader.Check] for each run in turn, and returns every change of a level that it finds, also for the
// better: by machine, and then in the order in which they may have begun first.
func (r *Reader) Changes(runs []*Run, o CheckOptions) ([]Cause, error) {
	all, err := r.checkers(runs, o)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *checker) int { return strings.Compare(a.machine, b.machine) })
	var causes []Cause
	for _, c := range all {
		var better []Cause
		c.replay(func(int, []watch.Value, watch.Result) { better = append(better, c.report.Improved...) })
		found := slices.Concat(c.found, better)
		slices.SortStableFunc(found, func(a, b Cause) int { return a.first - b.first })
		causes = append(causes, found...)
	}
	return causes, nil
}

// WriteChanges writes causes as text for a terminal.
func WriteChanges(w io.Writer, causes []Cause) error {
	var b strings.Builder
	p := printer{b: &b}
	if len(causes) == 0 {
		fmt.Fprintln(&b, "no changes")
	} else if all := causes[0].shared; all != "" {
		fmt.Fprintf(&b, "all series: %s\n", p.plain(all))
	}
	several := slices.ContainsFunc(causes, func(c Cause) bool { return c.Machine != causes[0].Machine })
	for i, c := range causes {
		if several && (i == 0 || c.Machine != causes[i-1].Machine) {
			fmt.Fprintf(&b, "on machine %q:\n", c.Machine)
		}
		p.cause(c)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteChangesJSON writes causes as a JSON array.
func WriteChangesJSON(w io.Writer, causes []Cause) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(list(causes))
}
