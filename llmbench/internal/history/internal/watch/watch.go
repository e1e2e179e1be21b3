package watch

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench/robust"
)

// Options control a Watch.
type Options struct {
	Nights float64 // on average, at most one of this number of nights has a false alarm; 2 or more
	Min    float64 // smaller changes are ignored; a share: 0.01 is 1 %
}

// A Value is the result of one night for one series.
type Value struct {
	Series int // a number that the caller chooses
	X      float64
	Reruns []float64 // the values of the night's reruns
}

// A Kind is the kind of a Finding.
type Kind int

// The kinds of findings.
const (
	Suspect  Kind = iota // the night is out of line, but may be an outlier
	Cleared              // the night was suspect, but the reruns did not confirm the change
	Worse                // the level of the series rose; larger values are worse
	Better               // the level of the series fell
	SlowOnce             // all series are worse in this night, which may be the machine or a change
)

// A Finding says that a series is out of line, or that all series are.
type Finding struct {
	Kind   Kind
	Series int
	Shared bool // the finding is about all series
	// Size is the change of the value, which is a logarithm. Low and High are its 95 % confidence interval.
	Size, Low, High float64
	// P is about the probability that a night has a finding with such a p-value by chance, over all series. It is
	// more than the true probability in most scenarios of TestSimulate.
	P float64
	// The change began in one of the nights from First to Last. Nights are counted from 0.
	First, Last int
	Reruns      int // number of reruns that a Suspect or a SlowOnce still needs; 0 if they would decide nothing
	before      base
}

// A Result holds what one night revealed.
type Result struct {
	Findings []Finding
	Judged   []int // series with enough earlier nights
	Young    []int // series with too few earlier nights
	// Slow says that the night was slow or fast, so that the whole part that the series share was taken out, and that
	// there are no reruns of enough other series. Reruns of suspects then need reruns of Controls other series, too.
	// They show whether the machine is still slow.
	Slow bool
}

// Controls is the number of series without a finding that are rerun after a slow night, so that what they share can
// be subtracted from all reruns. Sharers of them are enough.
const Controls = 6

// A Watch remembers the nights of one machine so far.
type Watch struct {
	options      Options
	night        int
	series       map[int]*track
	machine      *track
	family       int     // the comparisons of the newest night: its series, and what they share
	slow, slowed int     // the newest slow night, and the newest one before its row of slow nights; never if there is none
	usual        float64 // the share of outliers over all series before the newest night
	seen, apart  int     // over all series: number of values that had a baseline, and how many of them were outliers
}

// never stands for a night that has not been.
const never = -1

// New returns a Watch that has not seen any night yet.
func New(o Options) *Watch {
	return &Watch{options: o, series: map[int]*track{}, machine: &track{}, slow: never, slowed: never}
}

// fewest is the smallest number of nights that a baseline needs.
const fewest = 6

// Sharers is the number of series that a machine needs before their shared part is subtracted. With fewer
// series, a change of one series would look like a change of the machine.
const Sharers = 5

// Night adds the values of the next night and returns the night's Result. There is at most one value per
// series.
func (w *Watch) Night(values []Value) Result {
	var r Result
	shared, ok := w.shared(values)
	again := w.sharedByReruns(values, shared)
	w.family = len(values)
	if ok {
		w.family++
	}
	t := w.test()
	w.usual = (float64(w.apart) + 1) / (float64(w.seen) + 2)
	if ok {
		r.Slow = shared.whole && len(again) == 0
		if f, ok := w.lookAtAll(t, shared, again); ok {
			f.Shared, f.P = true, f.P*float64(w.family)
			r.Findings = append(r.Findings, f)
		}
	}
	for _, v := range values {
		tr := w.of(v.Series)
		part := shared.of(tr, v.X)
		reruns := make([]float64, len(v.Reruns))
		for i, x := range v.Reruns {
			// A rerun may be faster only because the machine is no longer slow, and controls tell how slow it is. If
			// there are none, the rerun must not confirm a change, so the whole shared part of the night is
			// subtracted. A series that had no part in a change has none of it in its reruns either.
			whole := max(shared.taken, shared.raw)
			if len(again) > 0 {
				whole = again[min(i, len(again)-1)]
			}
			reruns[i] = x - whole + shared.taken - part
		}
		seen, apart := tr.seen, tr.apart
		tr.add(w.night, v.X-part)
		if tr.base(1).n < fewest {
			r.Young = append(r.Young, v.Series)
		} else {
			r.Judged = append(r.Judged, v.Series)
		}
		t.outliers = tr.outliers(w.usual)
		if f, ok := t.look(tr, reruns); ok {
			f.Series, f.P = v.Series, f.P*float64(w.family)
			r.Findings = append(r.Findings, f)
		}
		w.seen, w.apart = w.seen+tr.seen-seen, w.apart+tr.apart-apart
	}
	w.night++
	return r
}

// test returns the test of the newest night's series.
func (w *Watch) test() test {
	return test{alpha: 1 / w.options.Nights / float64(w.family), min: math.Log1p(w.options.Min)}
}

// Detectable returns, for a series that the newest night judged without a finding, the size of a change that makes its first night suspect,
// and of one that is found in at most seven nights, both with a probability of 80 %. It assumes normal noise.
func (w *Watch) Detectable(series int) (atOnce, inSeven float64) {
	t, tr := w.test(), w.of(series)
	t.outliers = tr.outliers(w.usual)
	return t.atOnce(tr.base(1)), t.detectable(tr.base(1))
}

// lookAtAll judges the part that all series share. Reruns in the same night cannot tell a slow night from a change,
// so they confirm a change only if no other night among the last Options.Nights was slow: slow nights then raise
// at most one false alarm in that number of nights. Otherwise later nights decide.
func (w *Watch) lookAtAll(t test, c common, again []float64) (Finding, bool) {
	tr := w.machine
	if c.whole && c.raw-c.level > t.min && tr.base(0).n < fewest {
		return w.lookAtYoung(t, c, again), true
	}
	tr.add(w.night, c.raw)
	before := w.slow
	if before == w.night-1 {
		before = w.slowed
	}
	t.outliers = (float64(tr.apart) + 0.5) / (float64(tr.seen) + 10)
	t.undecided = before != never && float64(w.night-before) < w.options.Nights
	f, ok := t.look(tr, again)
	if !ok {
		return f, false
	}
	if f.Kind == Suspect {
		f.Kind = SlowOnce
	}
	if f.Kind == SlowOnce || f.Kind == Worse && len(again) > 0 {
		w.slow, w.slowed = w.night, before
	}
	return f, true
}

// lookAtYoung judges a night that is out of line for all series if the part that they share has no baseline, as after it
// has changed. Such a night is told, because it was taken out of the series. It is no part of the next baseline, unless
// reruns disagree or it is one of enough in a row.
func (w *Watch) lookAtYoung(t test, c common, again []float64) Finding {
	tr := w.machine
	size := c.raw - c.level
	f := Finding{Kind: SlowOnce, Size: size, Low: size - 2*c.sd, High: size + 2*c.sd, P: math.Erfc(size/c.sd/math.Sqrt2) / 2,
		First: w.night, Last: w.night, before: base{n: max(1, tr.base(0).n), mean: c.level, sd: c.sd}}
	tr.suspects++
	switch all := robust.Median(append([]float64{c.raw}, again...)); {
	case len(again) > 0 && all-c.level < size/2:
		f.Kind, tr.suspects = Cleared, 0
		tr.add(w.night, all)
	case tr.suspects >= enough:
		f.Kind, f.First = Worse, w.night-enough+1
		tr.add(w.night, all)
		tr.restart(len(tr.xs) - 1)
	case len(again) == 0:
		f.Reruns = 1
	}
	return f
}

// Gone reports whether the level before a finding is back, within the noise. It looks at the given series, which is
// another one than the finding's if the configuration has changed since. If the finding is about all series, Gone
// looks at the part that they share.
func (w *Watch) Gone(f Finding, series int) bool {
	tr := w.machine
	if !f.Shared {
		tr = w.of(series)
	}
	now := tr.base(0)
	noise := f.before.sd * math.Sqrt(1/float64(max(1, now.n))+1/float64(max(1, f.before.n)))
	return now.mean-f.before.mean-2*noise <= math.Log1p(w.options.Min)
}

// of returns the track of a series, which is new if there is none.
func (w *Watch) of(series int) *track {
	tr := w.series[series]
	if tr == nil {
		tr = &track{}
		w.series[series] = tr
	}
	return tr
}

// A common is the part that the series share in a night.
type common struct {
	raw   float64 // the weighted median of the distances of the series from their baselines
	taken float64 // the part of raw that is subtracted from each series
	lasts float64 // the part of taken that is no variation of one night
	whole bool    // all of raw is taken, because three quarters of the series agree
	level float64 // the shared part of the last week
	sd    float64 // standard deviation of raw around the level, by chance and by the machine's usual variation
}

// of returns what is subtracted from the value x of a series. If most series change at once, the others may stay as they
// were, and must not seem to have changed in the opposite direction. The nights in which the change begins tell: a series
// had no part in the change if it is near its baseline, and far from where the change would have brought it.
func (c common) of(tr *track, x float64) float64 {
	if !c.whole {
		tr.far, tr.part, tr.variance = 0, 0, 0
	} else if b := tr.base(0); b.n >= fewest {
		own := b.distance(x)
		tr.far, tr.part, tr.variance = tr.far+own.d, tr.part+c.raw, tr.variance+own.sd*own.sd
		sd := math.Sqrt(tr.variance)
		tr.alone = math.Abs(tr.far-tr.part) > max(5*sd, 2*math.Abs(tr.far))
	}
	if tr.alone {
		return c.taken - c.lasts
	}
	return c.taken
}

// shared returns the part that the series share in a night, if there are enough series.
//
// If half of the series change, the median changes too, and subtracting the median would hide the change. So
// the whole median is subtracted only if three quarters of the series agree, and if chance and the machine's
// usual variation cannot explain the distance. Otherwise the median is shrunk towards the level of the last
// week. The less the machine usually varies beyond chance, the more it is shrunk
// (https://en.wikipedia.org/wiki/Shrinkage_(statistics)).
func (w *Watch) shared(values []Value) (c common, ok bool) {
	var ds []distance
	for _, v := range values {
		if b := w.of(v.Series).base(0); b.n >= first {
			ds = append(ds, b.distance(v.X))
		}
	}
	if len(ds) < Sharers {
		return c, false
	}
	if len(w.machine.xs) == 0 {
		w.backfill()
	}
	slices.SortFunc(ds, func(a, b distance) int { return cmp.Compare(a.d, b.d) })
	var precision float64
	for _, d := range ds {
		precision += 1 / (d.sd * d.sd)
	}
	chance := math.Pi / 2 / precision // variance that chance alone gives the median
	level, varies := w.machine.level(chance)
	c.raw, c.level, c.sd = weighted(ds, 0.5), level, math.Sqrt(chance+varies)
	c.taken, c.lasts = level+(c.raw-level)*varies/(varies+chance), level
	agree := weighted(ds, 0.25) > level || weighted(ds, 0.75) < level
	if agree && math.Abs(c.raw-level) > 4*c.sd {
		c.taken, c.lasts, c.whole = c.raw, c.raw, true
	}
	return c, true
}

// first is the number of nights that a series needs before its distance from them counts for the shared part.
const first = 3

// backfill adds the shared parts of the nights before the first one that has a shared part. Without them the shared part
// would have no baseline yet when the series have theirs. A value is nearer to the mean of values to which it belongs
// than a later value is, by the factor that backfill corrects.
func (w *Watch) backfill() {
	for night := range w.night {
		var ds []distance
		for _, tr := range w.series {
			if i := slices.Index(tr.nights, night); i >= 0 && len(tr.xs) >= first {
				b := tr.base(0)
				d := b.distance(tr.xs[i])
				n := float64(b.n)
				d.d *= math.Sqrt((n + 1) / (n - 1))
				ds = append(ds, d)
			}
		}
		if len(ds) >= Sharers {
			slices.SortFunc(ds, func(a, b distance) int { return cmp.Compare(a.d, b.d) })
			w.machine.add(night, weighted(ds, 0.5))
		}
	}
}

// sharedByReruns returns the part that the reruns share: for the first rerun of each series, for the second one, and
// so on, the weighted median of their distances from the baselines. Only series count that are not out of line
// themselves, and there must be at least Sharers of them.
func (w *Watch) sharedByReruns(values []Value, shared common) (found []float64) {
	for round := 0; ; round++ {
		var ds []distance
		for _, v := range values {
			b := w.of(v.Series).base(0)
			if len(v.Reruns) <= round || b.n < fewest {
				continue
			}
			if own := b.distance(v.X - shared.taken); math.Abs(own.d) <= 3*own.sd {
				ds = append(ds, b.distance(v.Reruns[round]))
			}
		}
		if len(ds) < Sharers {
			return found
		}
		slices.SortFunc(ds, func(a, b distance) int { return cmp.Compare(a.d, b.d) })
		found = append(found, weighted(ds, 0.5))
	}
}

// A distance says how far a series is from its baseline (d), and with what standard deviation (sd).
type distance struct{ d, sd float64 }

// distance returns how far x is from a baseline that is not empty.
func (b base) distance(x float64) distance {
	return distance{x - b.mean, max(b.sd, 0.002) * math.Sqrt(1+1/float64(b.n))}
}

// weighted returns the quantile q of sorted distances. Series with less noise have more weight.
func weighted(ds []distance, q float64) float64 {
	var total float64
	for _, d := range ds {
		total += 1 / d.sd
	}
	total *= q
	for _, d := range ds {
		if total -= 1 / d.sd; total <= 0 {
			return d.d
		}
	}
	return ds[len(ds)-1].d
}

// level returns the median of the machine's last seven nights, and how much the nights vary around their median
// beyond chance, as a variance.
func (tr *track) level(chance float64) (level, varies float64) {
	level = robust.Median(tr.xs[max(0, len(tr.xs)-7):])
	recent := tr.xs[max(0, len(tr.xs)-baseline):]
	if len(recent) < fewest {
		return level, chance // too few nights to know, so half of the distance is subtracted
	}
	_, sd := robust.Spread(recent)
	return level, max(0, sd*sd-chance)
}
