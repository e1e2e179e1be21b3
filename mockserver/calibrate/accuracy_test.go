package calibrate

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
)

var update = flag.Bool("update", false, "write the golden files")

// degenerate has the points, by profile, at which most of the client's workers die in
// the first seconds. The figures there depend on the few workers that are left, so the
// test checks only how many workers die.
var degenerate = map[string][]string{
	"mindie-deepseek-coder-6.7b-910b4": {"codefuse-evol/300", "codefuse-evol/400", "codefuse-evol/500", "codefuse-evol/600"},
	"mindie-qwen2-72b-910b4-long":      {"long/50"},
	"vllm-qwen2-7b-t4-long":            {"long/30", "long/35", "long/40"},
}

// dying returns the largest allowed error in the number of workers that die: 4, or 8 %
// of all. There is no limit for DeepSeek: its outputs have one length, so that whole
// batches end just before or just after the timeout.
func dying(name string, concurrency int) float64 {
	if strings.Contains(name, "deepseek") {
		return math.Inf(1)
	}
	return math.Max(4, .08*float64(concurrency))
}

// TestAccuracy predicts every held-out point with the engines of the profiles' folds,
// and compares the errors with a file and with the goals for study D.
func TestAccuracy(t *testing.T) {
	var text bytes.Buffer
	names := profiles.Names()
	all := map[string][]Prediction{}
	var studyD Tally
	for _, name := range names {
		p, err := profiles.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name {
			t.Errorf("%s.json has the name %q", name, p.Name)
		}
		if all[name], err = Predict(p); err != nil {
			t.Fatal(err)
		}
		errs := Errors(all[name])
		if !slices.Equal(errs, p.HeldOut) {
			t.Errorf("%s states held-out errors %v, the folds have %v", name, p.HeldOut, errs)
		}
		if !strings.HasPrefix(p.Source.Study, "D") {
			continue
		}
		c := Count(all[name])
		studyD.Values += c.Values
		studyD.Within5 += c.Within5
		studyD.Within10 += c.Within10
		for _, q := range all[name] {
			point := fmt.Sprintf("%s/%d", q.Point.Workload, q.Point.Concurrency)
			if off := q.Predicted["lost-req"] - q.Point.Values["lost-req"]; math.Abs(off) > dying(name, q.Point.Concurrency)+1e-9 {
				t.Errorf("%s, %s: %v workers died, %v predicted", name, point, q.Point.Values["lost-req"], q.Predicted["lost-req"])
			}
			for _, u := range q.Units {
				if math.Abs(q.Off(u)) > 20 && !slices.Contains(degenerate[name], point) {
					t.Errorf("%s, %s: %s is off by %+.1f %%, want at most 20", name, point, u, q.Off(u))
				}
			}
		}
	}
	if studyD.Share(studyD.Within5) < 75 || studyD.Share(studyD.Within10) < 90 {
		t.Errorf("of study D %.1f %% of the values are within 5 %% and %.1f %% within 10 %%, want 75 and 90",
			studyD.Share(studyD.Within5), studyD.Share(studyD.Within10))
	}
	Summary(&text, names, all)
	fmt.Fprintf(&text, "\nstudy D: %.1f %% of %d values within 5 %%, %.1f %% within 10 %%\n",
		studyD.Share(studyD.Within5), studyD.Values, studyD.Share(studyD.Within10))
	for _, name := range names {
		if len(all[name]) > 0 {
			fmt.Fprintf(&text, "\n%s\n", name)
			Table(&text, all[name])
		}
	}
	const file = "testdata/accuracy.txt"
	if *update {
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Errorf("the table is not that of %s (-update writes it):\n%s", file, text.String())
	}
}
