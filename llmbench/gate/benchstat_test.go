package gate

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/perf/benchunit"
	"gotest.tools/v3/assert"
)

// TestAgreesWithBenchstat compares medians, p-values and numbers of samples with the
// output of benchstat for the same files.
func TestAgreesWithBenchstat(t *testing.T) {
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		assert.NilError(t, err)
		return v
	}
	for _, files := range [][2]string{
		{"chat/old.txt", "chat/new.txt"}, {"chat/old.txt", "chat/same.txt"},
		{"words/old.txt", "words/new.txt"}, {"words/old.txt", "words/same.txt"},
	} {
		type figures struct {
			Old, New float64
			P        string
		}
		want := map[string]figures{} // by unit and benchmark
		cmd := exec.CommandContext(t.Context(), "go", "tool", "benchstat", "-format=csv", "-ignore=commit",
			filepath.Join("testdata", files[0]), filepath.Join("testdata", files[1]))
		out, err := cmd.Output()
		assert.NilError(t, err)
		in := csv.NewReader(bytes.NewReader(out))
		in.FieldsPerRecord = -1
		lines, err := in.ReadAll()
		assert.NilError(t, err)
		unit := ""
		for _, line := range lines {
			switch {
			case len(line) < 6:
			case line[0] == "": // a header, which has the columns unit, CI, unit, CI, vs base, P
				unit = line[1]
			case line[0] != "geomean":
				want[unit+" "+line[0]] = figures{number(line[1]), number(line[3]), line[6]}
			}
		}
		got := map[string]figures{}
		for _, row := range compareFiles(t, "", files[0], files[1]).Rows {
			factor, tidied := benchunit.Tidy(1, row.Unit)
			got[tidied+" "+row.Name] = figures{*row.Old.Median * factor, *row.New.Median * factor, fmt.Sprintf("p=%0.3f n=%s", *row.P, row.nText())}
		}
		assert.Assert(t, len(got) > 0)
		assert.DeepEqual(t, got, want, cmpopts.EquateApprox(1e-9, 0))
	}
}
