package decide

import (
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/student"
)

// trimShare is the share of the samples of a side that is omitted at each end.
const trimShare = 0.1

// A trimmed is the trimmed mean of the samples of a side, with its standard error.
type trimmed struct {
	mean    float64
	squared float64 // square of the standard error
	free    float64 // degrees of freedom
}

// trim returns the mean of xs without its smallest and largest values: it omits none of fewer than 10
// values, one at each end of 10 to 19 values, and so on. The standard error is computed from all values,
// after each omitted value is replaced by the nearest value that is not omitted (Yuen, "The Two-Sample
// Trimmed t for Unequal Population Variances", 1974, https://doi.org/10.1093/biomet/61.1.165).
func trim(xs []float64) trimmed {
	n := len(xs)
	sorted := slices.Sorted(slices.Values(xs))
	cut := int(trimShare * float64(n))
	kept := sorted[cut : n-cut]
	for i := range cut {
		sorted[i], sorted[n-1-i] = kept[0], kept[len(kept)-1]
	}
	h := float64(len(kept))
	_, err := meanAndError(sorted)
	mean, _ := meanAndError(kept)
	free := h - 1
	if cut > 0 {
		free--
	}
	return trimmed{mean, err * err * float64(n) * float64(n-1) / (h * (h - 1)), free}
}

// trimmedEstimate compares the trimmed means of samples that are not pairs. Trimming prevents one disturbed
// process from hiding a change. The standard error and its degrees of freedom follow Welch ("The
// Generalization of 'Student's' Problem when Several Different Population Variances are Involved", 1947,
// https://doi.org/10.1093/biomet/34.1-2.28), and therefore allow different numbers of samples and different
// spreads. One degree of freedom is subtracted, and one more for each trimmed mean, to make up for the
// error of these approximations at the small levels of Holm's method.
//
// The degrees of freedom are also limited to twice the degrees of freedom of the side that has fewer: a few
// samples may by chance spread so little that the other side seems to decide alone. TestUnpaired shows that
// the levels hold with this limit.
func (c Cell) trimmedEstimate() Estimate {
	shifted := c.shifted()
	// With values of about 1, no square is too small or too large for a float64.
	scale := 1 / c.size()
	if !c.Amounts {
		scale = 1 / max(slices.Max(shifted), slices.Max(c.New))
	}
	if math.IsInf(scale, 0) {
		return Estimate{} // all values are 0
	}
	old, new := trim(scaled(shifted, scale)), trim(scaled(c.New, scale))
	middle := (old.mean + new.mean) / 2
	if c.Amounts {
		middle = 1
	}
	if middle == 0 {
		return Estimate{} // all values that are left after trimming are 0
	}
	sum := old.squared + new.squared
	free := sum*sum/(old.squared*old.squared/old.free+new.squared*new.squared/new.free) - 1
	free = min(free, 2*min(old.free, new.free)-3)
	return Estimate{-float64(c.Better) * (new.mean - old.mean) / middle, math.Sqrt(sum) / middle, free}
}

// trimmedTest returns the one-sided p-values of the t-test of trimmed means: PValues.Worse and
// PValues.Less.
func (c Cell) trimmedTest() (worse, less float64) {
	e := c.trimmedEstimate()
	switch {
	case e.err == 0 && e.Difference == 0:
		return 1, 0
	case e.err == 0 && e.Difference > 0:
		return 0, 1
	case e.err == 0:
		return 1, 0
	}
	return student.Tail(e.Difference/e.err, e.free), student.Tail(-e.Difference/e.err, e.free)
}
