package measure

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/markdown"
)

// The verdicts of a bisectReport.
const (
	bisectFound       = "found"
	bisectCannotJudge = "cannot judge"
)

// A bisectReport is the result of "benchgate bisect".
type bisectReport struct {
	Verdict string         `json:"verdict"`          // "found" or "cannot judge"
	Summary string         `json:"summary"`          // one line
	First   string         `json:"first,omitempty"`  // the hash of the first commit that is worse than allowed, if the verdict is "found"
	Parent  string         `json:"parent,omitempty"` // the commit with which First was compared
	Name    string         `json:"benchmark,omitempty"`
	Unit    string         `json:"unit,omitempty"`
	Margin  float64        `json:"margin,omitempty"` // how much worse is allowed, as a share
	Change  float64        `json:"change,omitempty"` // from Parent to First, as a share: the median of their pairs
	Alpha   float64        `json:"alpha"`            // the largest probability that First is not worse than Parent by more than Margin
	Noise   float64        `json:"noise,omitempty"`  // the standard deviation of a pair, as a share
	Pairs   int            `json:"pairs"`            // after the comparison of the good and the bad commit
	Good    string         `json:"good"`
	Bad     string         `json:"bad"`
	Commits []bisectCommit `json:"commits"` // after the good one, oldest first; empty if the search did not begin
}

// A bisectCommit is one candidate.
type bisectCommit struct {
	Commit      string    `json:"commit"`
	Time        time.Time `json:"commit_time"`
	Subject     string    `json:"subject"`
	Probability float64   `json:"probability"`      // that it is the first commit that is worse than allowed
	Change      *float64  `json:"change"`           // from the good commit, as a share: the median of the pairs; nil if there are none
	Pairs       int       `json:"pairs"`            // with the good commit, after the comparison of the good and the bad one
	Confirmed   int       `json:"pairs_parent"`     // with its predecessor
	Skipped     string    `json:"skipped,omitzero"` // why it could not be measured
}

func (r *bisectReport) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	all := *r
	all.Commits = append([]bisectCommit{}, r.Commits...)
	return e.Encode(&all)
}

// bisectFormats are the renderings of a bisectReport, by the value of -format.
var bisectFormats = map[string]func(*bisectReport, io.Writer) error{
	"text": (*bisectReport).text, "md": (*bisectReport).markdown, "json": (*bisectReport).json,
}

// bisectColumns are the columns of the table of commits.
var bisectColumns = []string{"probability", "change", "pairs", "with its parent", "commit", "date", "subject"}

// rows returns the cells of the table of commits. It leaves out commits with a probability of less than 0.1 % that
// were neither measured nor skipped, and returns their number.
func (r *bisectReport) rows() (rows [][]string, others int) {
	for _, c := range r.Commits {
		if c.Probability < 0.001 && c.Pairs+c.Confirmed == 0 && c.Change == nil && c.Skipped == "" {
			others++
			continue
		}
		change, subject := "-", c.Subject
		if c.Change != nil {
			change = fmt.Sprintf("%+.1f%%", 100**c.Change)
		}
		if c.Skipped != "" {
			reason, _, _ := strings.Cut(c.Skipped, "\n")
			subject += " (skipped: " + reason + ")"
		}
		rows = append(rows, []string{fmt.Sprintf("%.1f%%", 100*c.Probability), change, fmt.Sprint(c.Pairs), fmt.Sprint(c.Confirmed),
			fmt.Sprintf("%.12s", c.Commit), c.Time.Format(time.DateOnly), subject})
	}
	return rows, others
}

func (r *bisectReport) text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.Summary)
	rows, others := r.rows()
	if len(rows) > 0 {
		fmt.Fprintf(&b, "\n%s %s; the change is from the good commit, %.12s; a pair has a standard deviation of %.1f%%\n\n", r.Name, r.Unit, r.Good, 100*r.Noise)
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, strings.Join(bisectColumns, "\t"))
		for _, row := range rows {
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
		t.Flush()
		r.rest(&b, others)
		fmt.Fprintf(&b, "\n%s\n", r.Summary)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rest prints how many commits are not in the table.
func (r *bisectReport) rest(b *strings.Builder, others int) {
	if others > 0 {
		fmt.Fprintf(b, "\nof %d further commits, each has a probability of less than 0.1%%\n", others)
	}
}

func (r *bisectReport) markdown(w io.Writer) error {
	var b strings.Builder
	sign := "⚠️"
	if r.Verdict == bisectFound {
		sign = "🔎"
	}
	escape := func(text string) string { return markdown.Escape(strings.ReplaceAll(text, "\n", " ")) }
	code := func(name string) string { return "`" + strings.ReplaceAll(name, "`", "'") + "`" }
	fmt.Fprintf(&b, "### %s benchgate bisect: %s\n\n%s\n", sign, r.Verdict, escape(r.Summary))
	rows, others := r.rows()
	if len(rows) > 0 {
		fmt.Fprintf(&b, "\n%s %s; the change is from the good commit, `%.12s`; a pair has a standard deviation of %.1f%%.\n\n", code(r.Name), code(r.Unit), r.Good, 100*r.Noise)
		fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(bisectColumns, " | "), strings.Repeat(" --- |", len(bisectColumns)))
		for _, row := range rows {
			subject := &row[len(row)-1]
			*subject = escape(*subject)
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		}
		r.rest(&b, others)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
