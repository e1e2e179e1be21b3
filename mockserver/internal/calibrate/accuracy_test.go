package calibrate

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// steady is the largest gain (see Prediction.Gain) at which a prediction still measures how good the engine is.
// With a larger gain, a server that is 2 % slower has metrics that are more than 10 % worse.
const steady = 5

// TestAccuracy predicts every held-out point with the engines of the profiles' folds. It compares the errors
// with a golden file, with the errors in the profiles, and with the errors in README.md.
func TestAccuracy(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	names := profiles.Names()
	all := map[string][]Prediction{}
	var studyD, steadyD, seenD []Prediction
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
		studyD = append(studyD, all[name]...)
		seenD = append(seenD, seen(t, p, all[name])...)
		for _, q := range all[name] {
			if q.Gain <= steady {
				steadyD = append(steadyD, q)
			}
		}
	}
	Summary(&text, names, all)
	fmt.Fprintf(&text, "\nstudy D: %s\npoints with a gain of %d at most: %s\nfitted to all points: %s\n",
		sharesOf(studyD), steady, sharesOf(steadyD), sharesOf(seenD))
	for _, name := range names {
		if len(all[name]) > 0 {
			fmt.Fprintf(&text, "\n%s\n", name)
			Table(&text, all[name])
		}
	}
	golden.Assert(t, text.String(), "accuracy.txt") // -update writes it
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	stated := strings.Join(strings.Fields(string(readme)), " ")
	if claim := "Of all, " + sharesOf(studyD); !strings.Contains(stated, claim) {
		t.Errorf("README.md does not say %q", claim)
	}
	for _, name := range names {
		c := Count(all[name])
		row := fmt.Sprintf("| `%s` | %d | %.0f | %.0f | %.0f |", name, c.Values, c.Share(c.Within5), c.Share(c.Within10), c.Share(c.Within20))
		if c.Values > 1 && !strings.Contains(stated, row) {
			t.Errorf("README.md does not have the row %s", row)
		}
	}
}

// seen predicts the held-out points with the engine that was fitted to all points, and with the output lengths
// that were measured at these points. The remaining errors are caused by the model and by the measurements.
func seen(t *testing.T, p profiles.Profile, heldOut []Prediction) []Prediction {
	t.Helper()
	m, err := newModel(p)
	if err != nil {
		t.Fatal(err)
	}
	predictions := slices.Clone(heldOut)
	every := without(len(p.Points), nil)
	for k := range predictions {
		i := slices.IndexFunc(p.Points, func(q profiles.Point) bool { return q.Lines == predictions[k].Point.Lines })
		if predictions[k].Predicted, err = m.average(p.Engine, i, every, 101, seeds); err != nil {
			t.Fatal(err)
		}
	}
	return predictions
}

// sharesOf describes the sizes of the errors, in the words of README.md.
func sharesOf(all []Prediction) string {
	c := Count(all)
	return fmt.Sprintf("%.1f %% of %d values are within 5 %%, %.1f %% within 10 %% and %.1f %% within 20 %%",
		c.Share(c.Within5), c.Values, c.Share(c.Within10), c.Share(c.Within20))
}
