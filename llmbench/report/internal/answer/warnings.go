package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/human"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/systems"
)

// warnings returns what the logs and records say. Each text occurs once, with the benchmarks that
// it is about. The texts about the server's cache are apart. The first warnings are about files whose benchmarks failed and about benchmarks without a
// result, and the others about values that may be wrong. The first notes say what is worth knowing, and the
// others are what the benchmarks' own code logged.
func warnings(d *results.Data) (cache, warn, notes []string) {
	rows := slices.Concat(d.Broken, d.Rows)
	labels := systems.Labels(rows)
	type warning struct {
		key, text string
		about     []string
	}
	var kinds [5][]*warning
	add := func(kind int, key, text string, i int) {
		label := cmp.Or(labels[i], rows[i].Name)
		same := slices.IndexFunc(kinds[kind], func(w *warning) bool { return w.key == key })
		if same < 0 {
			kinds[kind] = append(kinds[kind], &warning{key, text, []string{label}})
		} else if w := kinds[kind][same]; !slices.Contains(w.about, label) {
			w.about = append(w.about, label)
		}
	}
	for i, r := range rows {
		if r.Failed != "" {
			add(0, key(r.Failed), "no result: "+r.Failed, i)
			continue
		}
		for _, doubt := range r.Doubts {
			switch {
			case !doubt.Note && doubt.Kind == records.NoteCache:
				add(4, doubt.Kind, strings.TrimSuffix(doubt.Text, ".")+part(r, &doubt), i)
			case !doubt.Note && doubt.Kind == records.NoteClient: // such texts begin with the units
				add(1, doubt.Kind, strings.TrimSuffix(doubt.Text, ".")+part(r, &doubt), i)
			case !doubt.Note:
				add(1, key(doubt.Text), strings.TrimSuffix(doubt.Text, ".")+part(r, &doubt), i)
			case doubt.Kind != "":
				add(2, key(doubt.Text), doubt.Text, i)
			default:
				add(3, alike(doubt.Text), "logged: "+doubt.Text, i) // the parts of such a text are unknown
			}
		}
	}
	if len(d.Failed) > 0 {
		warn = append(warn, "A line FAIL says that benchmarks failed, so that results may be missing or wrong. About: "+named(d.Failed))
	}
	for i, kind := range kinds {
		what, to := "warnings", &warn
		switch i {
		case 2, 3:
			what, to = "notes", &notes
		case 4:
			to = &cache
		}
		for _, w := range kind {
			said := human.Capital(w.text)
			if len(w.about) > 1 {
				said = fmt.Sprintf("%s (the first of %d such %s)", strings.TrimSuffix(said, "."), len(w.about), what)
			}
			*to = append(*to, strings.TrimSuffix(said, ".")+". About: "+named(w.about))
		}
	}
	return cache, warn, notes
}

// part says that a doubt is only about some of a row's runs, or returns "".
func part(r *results.Row, d *results.Doubt) string {
	switch n := len(d.Samples); {
	case d.Samples == nil:
		return ""
	case n == 0:
		return " (in a run without a result)"
	default:
		return fmt.Sprintf(" (in %d of %d runs; figures of the other runs take the place of those in doubt)", n, r.Samples())
	}
}

// maxAbout is the largest number of benchmarks that a warning names.
const maxAbout = 3

// named returns the first of the names, and the number of the others.
func named(names []string) string {
	text := strings.Join(names[:min(maxAbout, len(names))], "; ")
	if n := len(names) - maxAbout; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}

// key returns what all texts with the same reason have in common: their beginning, in which numbers
// are replaced.
func key(text string) string {
	if pass, rest, _ := strings.Cut(text, ": "); strings.HasPrefix(pass, "pass ") {
		text = rest
	}
	head, _, _ := strings.Cut(text, ": ")
	return alike(head)
}

// alike replaces the numbers in a text. Two texts that differ only in numbers become equal.
func alike(text string) string {
	var b strings.Builder
	number := false
	for _, c := range text {
		digit := c >= '0' && c <= '9' || number && c == '.'
		if !digit {
			b.WriteRune(c)
		} else if !number {
			b.WriteByte('#')
		}
		number = digit
	}
	return b.String()
}
