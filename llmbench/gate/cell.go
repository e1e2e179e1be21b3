package gate

// A cell is the two samples of one gated row.
type cell struct {
	old, new []float64 // finite, not negative, not empty
	better   int       // +1: higher is better, -1: lower is better
	margin   float64   // the share of the old value by which new may be worse
}

// pValues are the results of the test of one cell.
type pValues struct {
	worse float64 // one-sided: that the samples look this bad if new is worse by exactly the margin
	holm  float64 // worse, adjusted for the number of tests
}

// testCells tests whether cells are worse than allowed. The cells may be a subset of
// the family of family comparisons that is corrected for. A cell is a regression if
// its adjusted p-value is at most alpha. testCells is a pure function.
func testCells(cells []cell, family int) []pValues {
	ps := make([]float64, len(cells))
	for i, c := range cells {
		ps[i] = c.pWorse()
	}
	all := make([]pValues, len(cells))
	for i, adjusted := range holm(ps, family) {
		all[i] = pValues{ps[i], adjusted}
	}
	return all
}

// pWorse tests whether c.new is worse than c.old shifted by the margin. The null
// hypothesis is that the new version is worse by at most the margin.
func (c cell) pWorse() float64 { return pLess(c.ordered()) }

// ordered returns both samples, the old one shifted by the margin: times 1+margin if
// lower is better, times 1-margin if higher is better. If new is worse than allowed,
// the values of low are the lower ones.
func (c cell) ordered() (low, high []float64) {
	old, new := c.old, c.new
	if c.margin > 0 {
		old, new = scaled(old, 1-float64(c.better)*c.margin), scaled(new, 1)
	}
	if c.better > 0 {
		return new, old
	}
	return old, new
}

// reversed exchanges old and new and drops the margin. If the reversed cell is a
// regression, new is better than old.
func (c cell) reversed() cell {
	return cell{old: c.new, new: c.old, better: c.better}
}
