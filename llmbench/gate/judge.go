package gate

// A cell is two samples to judge.
type cell struct {
	old, new []float64 // finite, none negative, neither empty
	better   int       // +1: higher, -1: lower
	margin   float64   // share of the old value that new may be worse by
}

// A judgement is what the statistics say of a cell.
type judgement struct {
	p    float64 // of samples that look so bad, if new is worse by exactly the margin
	holm float64 // the same, adjusted for the number of cells
}

// judge tests whether cells are worse than allowed. They are some of a family,
// the comparisons that alpha is for together; a cell is, when holm is at most
// alpha. It is a pure function of its arguments.
func judge(cells []cell, family int) []judgement {
	ps := make([]float64, len(cells))
	for i, c := range cells {
		ps[i] = c.pWorse()
	}
	js := make([]judgement, len(cells))
	for i, adjusted := range holm(ps, family) {
		js[i] = judgement{ps[i], adjusted}
	}
	return js
}

// pWorse tests whether c.new is worse than c.old shifted by the margin: times
// 1+margin when lower is better, 1-margin when higher is. What the test rejects
// is that the new version is worse by the margin at most.
func (c cell) pWorse() float64 { return pLess(c.ordered()) }

// ordered returns both samples, the old one shifted by the margin: if new is
// worse than allowed, low is the lower of them.
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

// improved is the question whether c.new is better than c.old, by however
// little: whether old would be a regression from it.
func (c cell) improved() cell {
	return cell{old: c.new, new: c.old, better: c.better}
}
