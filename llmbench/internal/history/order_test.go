package history

import (
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

func TestInOrder(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		runs string // name, machine, commit time and date of each run, in the order of names
		want string
	}{
		"by date": {"a m 2026-03-02T00:00:00Z 2026-03-03T00:00:00Z; b m 2026-03-02T00:00:00Z 2026-03-02T02:00:00Z", "b a"},
		"time zones": {"a m 2026-03-01T00:00:00Z 2026-03-02T01:00:00+05:00; b m 2026-03-01T00:00:00Z 2026-03-01T23:00:00Z; c m 2026-03-01T00:00:00Z 2026-03-01T12:00:00-11:00",
			"a b c"},
		"fractions of a second":           {"a m 2026-03-01T00:00:00Z 2026-03-02T01:00:00.5Z; b m 2026-03-01T00:00:00Z 2026-03-02T01:00:00Z; c m 2026-03-01T00:00:00Z 2026-03-02T01:00:00.25Z", "b c a"},
		"an older commit later":           {"a m 2026-02-01T00:00:00Z 2026-03-02T00:00:00Z; b m 2026-03-01T00:00:00Z 2026-03-01T02:00:00Z", "b a"},
		"no date":                         {"a m 2026-03-02T00:00:00Z -; b m 2026-03-01T00:00:00Z -", "b a"},
		"a date that cannot be read":      {"a m 2026-03-02T00:00:00Z yesterday; b m 2026-03-01T00:00:00Z 3/1/26", "b a"},
		"a commit in the future":          {"a m 2031-03-02T00:00:00Z 2026-03-02T00:00:00Z; b m 2026-03-03T00:00:00Z 2026-03-03T02:00:00Z", "a b"},
		"a run in the future":             {"a m 2026-03-01T00:00:00Z 2031-03-02T00:00:00Z; b m 2026-03-03T00:00:00Z 2026-03-03T02:00:00Z", "a b"},
		"a run in 1970":                   {"a m 2026-03-04T00:00:00Z 1970-01-01T00:00:00Z; b m 2026-03-03T00:00:00Z 2026-03-03T02:00:00Z", "b a"},
		"all in the future":               {"a m 2027-03-04T00:00:00Z 2027-03-05T00:00:00Z; b m 2027-03-04T00:00:00Z 2027-03-04T02:00:00Z", "b a"},
		"many old commits, backwards":     {"a m 2026-01-03T00:00:00Z 2026-03-01T00:00:00Z; b m 2026-01-02T00:00:00Z 2026-03-01T01:00:00Z; c m 2026-01-01T00:00:00Z 2026-03-01T02:00:00Z; d m 2026-03-04T00:00:00Z 2026-03-04T02:00:00Z", "c b a d"},
		"one old commit among many":       {"a m 2026-01-01T00:00:00Z 2026-03-01T00:00:00Z; b m 2026-01-02T00:00:00Z 2026-03-01T01:00:00Z; c m 2025-01-01T00:00:00Z 2026-03-01T02:00:00Z; d m 2026-01-03T00:00:00Z 2026-03-01T03:00:00Z; e m 2026-01-04T00:00:00Z 2026-03-01T04:00:00Z", "a b c d e"},
		"backwards, one in the future":    {"a m 2026-01-03T00:00:00Z 2026-03-01T00:00:00Z; b m 2031-01-02T00:00:00Z 2026-03-01T01:00:00Z; c m 2026-01-01T00:00:00Z 2026-03-01T02:00:00Z; d m 2025-12-31T00:00:00Z 2026-03-01T03:00:00Z", "d c a b"},
		"an old commit in the same night": {"a m 2026-03-01T00:00:00Z 2026-03-01T02:00:00Z; b m 2026-01-01T00:00:00Z 2026-03-01T05:00:00Z", "a b"},
		"several machines":                {"a m 2026-01-01T00:00:00Z 2026-03-01T00:00:00Z; b n 2026-01-01T00:00:00Z 2026-02-01T00:00:00Z; c m 2026-01-02T00:00:00Z 2026-03-02T00:00:00Z; d n 2026-01-03T00:00:00Z 2026-02-02T00:00:00Z", "b a c d"},
	} {
		t.Run(name, func(t *testing.T) {
			var runs []*Run
			for text := range strings.SplitSeq(c.runs, ";") {
				f := strings.Fields(text)
				made, err := time.Parse(time.RFC3339, f[2])
				assert.NilError(t, err)
				runs = append(runs, &Run{Name: f[0], About: About{Machine: f[1], Time: made}, Date: strings.Trim(f[3], "-")})
			}
			var names []string
			for _, run := range inOrder(runs, now) {
				names = append(names, run.Name)
			}
			assert.Equal(t, strings.Join(names, " "), c.want)
		})
	}
}

func TestShortNames(t *testing.T) {
	r := NewReader()
	text := "commit: a\ncommit-time: 2026-01-01T00:00:00Z\n"
	packages := []string{"example.com/org/project/chat/bench", "example.com/org/project/batch/bench", "example.com/org/tools", "bench", ""}
	for _, pkg := range packages {
		text += "pkg: " + pkg + "\nBenchmarkX/n=1 1 5 x\n"
	}
	run, err := r.Read("a", []byte(text))
	assert.NilError(t, err)
	var names []string
	for _, cell := range run.Cells {
		names = append(names, r.shortName(cell.Row))
	}
	assert.DeepEqual(t, names, []string{"chat/bench.X/n=1", "batch/bench.X/n=1", "tools.X/n=1", "bench.X/n=1", "X/n=1"})
	assert.Equal(t, r.benchmarkName(run.Cells[0].Row), "example.com/org/project/chat/bench.X/n=1")
}
