package benchdata

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/testkit/extracases"
)

// TestPublishedComplete checks every value against the project's first transcription of the studies,
// which is not in this repository. TestPublished checks the files without this transcription.
func TestPublishedComplete(t *testing.T) {
	folder := extracases.Path(t, "published")
	first, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	assert.NilError(t, err)
	assert.Assert(t, len(first) > 0, "%s has no *.txt", folder)
	// The units whose names differ in benchdata/published, keyed by the letter of the study.
	renamed := map[string]map[string]string{
		"a":  {"tok/s": "output-tok/s", "mean-tpot-ns": "mean-token-ns"},
		"a0": {"tok/s": "output-tok/s", "mean-tpot-ns": "mean-token-ns", "mean-ttft-ns": "mean-first-chunk-ns"},
		"b":  {"tok/s": "output-tok/s", "completion-chars/s": "output-chars/s"},
		"c":  {"tok/s": "output-tok/s", "tok/s-stddev": "output-tok/s-stddev"},
	}
	derived := []string{"output-tok/s", "fail-%"}
	values := 0
	for _, file := range publishedFiles(t) {
		letter, _, _ := strings.Cut(filepath.Base(file), "-")
		rows := map[string][]published{}
		for _, row := range readPublished(t, file) {
			rows[row.lines] = append(rows[row.lines], row)
		}
		var old []published
		for _, name := range first {
			if l, _, _ := strings.Cut(filepath.Base(name), "-"); strings.EqualFold(l, letter) {
				old = readPublished(t, name)
			}
		}
		assert.Assert(t, len(old) > 0, "no transcription of study %s", letter)
		for _, was := range old {
			is := rows[was.lines]
			delete(rows, was.lines)
			if len(is) == 0 {
				t.Errorf("%s: no row for lines %s", file, was.lines)
			}
			for _, row := range is {
				if row.Iters != was.Iters {
					t.Errorf("%s: lines %s: %d iterations, want %d", file, was.lines, row.Iters, was.Iters)
				}
				for _, v := range was.Values {
					want, unit := original(v)
					if to, ok := renamed[letter][unit]; ok {
						unit = to
					}
					got, has := row.value(unit)
					if !has || got != want {
						t.Errorf("%s: lines %s: %v %s, want %v", file, was.lines, got, unit, want)
					}
					values++
				}
				if more := len(row.Values) - len(was.Values); more > 0 && (letter != "d" && letter != "c" || more > len(derived)) {
					t.Errorf("%s: lines %s: %d values more than were published", file, was.lines, more)
				}
				for _, part := range []string{"model", "concurrency", "quant"} {
					old := nameValue(was, part)
					if !regexp.MustCompile(`^\d+$`).MatchString(old) && part == "concurrency" {
						continue // the study has a text here: none, unstated or unbounded
					}
					if got := nameValue(row, part); got != llmbench.NameValue(old) {
						t.Errorf("%s: lines %s: %s %s, want %s", file, was.lines, part, got, old)
					}
				}
			}
		}
		for lines := range rows {
			t.Errorf("%s: lines %s: not in the first transcription", file, lines)
		}
	}
	assert.Assert(t, values >= 2388, "%d values compared, and 2,388 were published", values)
}

// nameValue returns the value of a key in a row's name.
func nameValue(p published, key string) string {
	_, parts := p.Name.Parts()
	for _, part := range parts {
		if v, ok := strings.CutPrefix(string(part), "/"+key+"="); ok {
			return v
		}
	}
	return ""
}
