package decide

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// trimShare is the share of the samples of a side that are left out at either end.
const trimShare = 0.1

// A trimmed is the trimmed mean of the samples of a side.
type trimmed struct {
	mean    float64
	squared float64 // square of the standard error
	free    float64 // degrees of freedom
}

// trim returns the mean of xs without its smallest and largest values: none for fewer than
// 10, one of each for 10 to 19, and so on. The standard error follows from the values in
// which the omitted values are replaced by the nearest that are not (Yuen, "The Two-Sample
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

// trimmedEstimate compares the trimmed means of samples that are not pairs. Trimming keeps
// one disturbed process from hiding a change. The standard error and its degrees of freedom
// follow Welch ("The Generalization of 'Student's' Problem when Several Different
// Population Variances are Involved", 1947, https://doi.org/10.1093/biomet/34.1-2.28), which
// allow different numbers of samples and different spreads. One degree of freedom less, and
// one less for each trimmed mean, make up for the error of these approximations at the small
// levels of Holm's method. The degrees of freedom are also at most twice the degrees of freedom of the side that
// has fewer: by chance, few samples may spread so little that the other side seems to
// decide alone. TestUnpaired shows that the levels hold then.
func (c Cell) trimmedEstimate() Estimate {
	shifted := c.shifted()
	// With values of about 1, no square is too small or too large for a float64.
	scale := 1 / max(slices.Max(shifted), slices.Max(c.New))
	if math.IsInf(scale, 0) {
		return Estimate{} // all values are 0
	}
	old, new := trim(scaled(shifted, scale)), trim(scaled(c.New, scale))
	middle := (old.mean + new.mean) / 2
	if middle == 0 {
		return Estimate{} // all values that are not trimmed are 0
	}
	sum := old.squared + new.squared
	free := sum*sum/(old.squared*old.squared/old.free+new.squared*new.squared/new.free) - 1
	free = min(free, 2*min(old.free, new.free)-3)
	return Estimate{-float64(c.Better) * (new.mean - old.mean) / middle, math.Sqrt(sum) / middle, free}
}

// trimmedTest returns the one-sided p-values of the t-test of trimmed means: that new is
// not worse than the margin allows, and that it is worse by more than the margin.
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
	t := stats.TDist{V: e.free}
	return t.CDF(-e.Difference / e.err), t.CDF(e.Difference / e.err)
}
