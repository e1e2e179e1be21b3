package watch

import (
	"cmp"
	"math"
	"slices"
)

// Options control a Watch.
type Options struct {
	Nights float64 // there is at most one night with a false alarm in this number of nights, 2 or more
	Min    float64 // the smallest change that counts, a share such as 0.01
}

// A Value is what a night measured of a series.
type Value struct {
	Series  int // any number of the caller
	Machine int // of the caller; the series of one machine share slow nights
	X       float64
	Reruns  []float64 // values of reruns in the same night
}

// A Kind is what a Finding says.
type Kind int

// The kinds of findings.
const (
	Suspect  Kind = iota // the night is out of line, and it may be an outlier
	Cleared              // the night was suspect, and reruns disagree
	Worse                // the series moved up
	Better               // the series moved down
	SlowOnce             // the machine was slow in this night
)

// A Finding is a series, or what the series of a machine share, that is out of line.
type Finding struct {
	Kind    Kind
	Series  int
	Machine int  // of the series
	Shared  bool // the finding is about all series of Machine
	// Size is the change of the value. Low and High are its 95 % confidence interval.
	Size, Low, High float64
	P               float64 // the probability of such a change by chance, times the number of tests of the night
	// First and Last are the numbers of the nights, from 0, between which the change began: the first night that may and the
	// first night that must have it.
	First, Last int
	Reruns      int // for Suspect: how many reruns are needed
}

// A Result is what a night showed.
type Result struct {
	Findings []Finding
	Judged   []int // series that had enough earlier nights
	Young    []int // series that had not
	// Detectable is the change that a series would show within a week, in four of five cases, for each of Judged. It
	// supposes normal noise without outliers.
	Detectable []float64
	Shared     map[int]float64 // what the series of a machine shared, by machine: the distance from its level before
}

// A Watch has seen the nights so far.
type Watch struct {
	options     Options
	night       int
	series      map[int]*track
	machines    map[int]*track
	seen, apart int // values of all series that had a baseline, and those of them that were outliers
}

// New returns a Watch that has seen no night.
func New(o Options) *Watch {
	return &Watch{options: o, series: map[int]*track{}, machines: map[int]*track{}}
}

// fewest is the smallest number of nights of a baseline.
const fewest = 6

// sharers is the smallest number of series whose shared part is taken out. With fewer, one series that moved
// would look like the machine.
const sharers = 5

// Night adds the values of a night, at most one of each series, and returns what they show.
func (w *Watch) Night(values []Value) Result {
	r := Result{Shared: map[int]float64{}}
	shared := w.shared(values)
	family := len(values) + len(shared)
	t := test{alpha: 1 / w.options.Nights / float64(family), min: math.Log1p(w.options.Min)}
	for _, machine := range sortedKeys(shared) {
		tr := w.machines[machine]
		before := tr.base(0)
		tr.add(w.night, shared[machine].raw)
		if before.n > 0 {
			r.Shared[machine] = shared[machine].raw - before.mean
		}
		t.outliers = (float64(tr.apart) + 0.5) / (float64(tr.seen) + 10)
		if f, ok := t.look(tr, nil); ok {
			if f.Kind == Suspect {
				f.Kind = SlowOnce
			}
			f.Machine, f.Shared, f.P = machine, true, f.P*float64(family)
			r.Findings = append(r.Findings, f)
		}
	}
	usual := (float64(w.apart) + 1) / (float64(w.seen) + 2)
	for _, v := range values {
		tr := w.of(v.Series)
		c := shared[v.Machine].taken
		reruns := make([]float64, len(v.Reruns))
		for i, x := range v.Reruns {
			// A rerun may be faster because the slow hour is over. Then it disagrees, as it should.
			reruns[i] = x - max(c, shared[v.Machine].raw)
		}
		seen, apart := tr.seen, tr.apart
		tr.add(w.night, v.X-c)
		if tr.base(1).n < fewest {
			r.Young = append(r.Young, v.Series)
		} else {
			r.Judged = append(r.Judged, v.Series)
			r.Detectable = append(r.Detectable, t.detectable(tr.base(1)))
		}
		t.outliers = (float64(tr.apart) + 0.5) / (float64(tr.seen) + 0.5/usual)
		if f, ok := t.look(tr, reruns); ok {
			f.Series, f.Machine, f.P = v.Series, v.Machine, f.P*float64(family)
			r.Findings = append(r.Findings, f)
		}
		w.seen, w.apart = w.seen+tr.seen-seen, w.apart+tr.apart-apart
	}
	w.night++
	return r
}

func (w *Watch) of(series int) *track {
	tr := w.series[series]
	if tr == nil {
		tr = &track{}
		w.series[series] = tr
	}
	return tr
}

// A common is what the series of a machine share in a night.
type common struct {
	raw   float64 // the weighted median of the distances of the series from their baselines
	taken float64 // the part of raw that is taken out of the series
}

// shared returns what the series of each machine share in a night.
//
// When half of the series moved, the median moves too, and taking out the median would hide them. So the median is
// taken out in full only if three quarters of the series agree and the distance is more than chance and the usual
// nights explain. Otherwise it is shrunk towards the level of the last week, by how much the machine usually varies
// beyond chance (https://en.wikipedia.org/wiki/Shrinkage_(statistics)).
func (w *Watch) shared(values []Value) map[int]common {
	all := map[int][]distance{}
	for _, v := range values {
		tr := w.of(v.Series)
		if b := tr.base(0); b.n >= 3 {
			all[v.Machine] = append(all[v.Machine], distance{v.X - b.mean, max(b.sd, 0.002) * math.Sqrt(1+1/float64(b.n))})
		}
	}
	found := map[int]common{}
	for machine, ds := range all {
		if len(ds) < sharers {
			continue
		}
		tr := w.machines[machine]
		if tr == nil {
			tr = &track{}
			w.machines[machine] = tr
		}
		slices.SortFunc(ds, func(a, b distance) int { return cmp.Compare(a.d, b.d) })
		var precision float64
		for _, d := range ds {
			precision += 1 / (d.sd * d.sd)
		}
		chance := math.Pi / 2 / precision // variance of the median of equal machines
		level, varies := tr.level(chance)
		c := common{raw: weighted(ds, 0.5)}
		c.taken = level + (c.raw-level)*varies/(varies+chance)
		agree := weighted(ds, 0.25) > level || weighted(ds, 0.75) < level
		if agree && math.Abs(c.raw-level) > 4*math.Sqrt(chance+varies) {
			c.taken = c.raw
		}
		found[machine] = c
	}
	return found
}

// A distance is how far a series is from its baseline, with its standard deviation.
type distance struct{ d, sd float64 }

// weighted returns a quantile of sorted distances. Series with less noise have more weight.
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

// level returns the median of the last week, and the variance of nights around it beyond chance.
func (tr *track) level(chance float64) (level, varies float64) {
	level = median(tr.xs[max(0, len(tr.xs)-7):])
	recent := tr.xs[max(0, len(tr.xs)-baseline):]
	if len(recent) < fewest {
		return level, chance // nothing is known: half of the distance
	}
	middle := median(recent)
	far := make([]float64, len(recent))
	for i, x := range recent {
		far[i] = math.Abs(x - middle)
	}
	sd := 1.4826 * median(far)
	return level, max(0, sd*sd-chance)
}

func sortedKeys(m map[int]common) []int {
	var keys []int
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func cloneTracks(all map[int]*track) map[int]*track {
	c := make(map[int]*track, len(all))
	for k, tr := range all {
		copied := *tr
		copied.xs, copied.nights, copied.outlier = slices.Clone(tr.xs), slices.Clone(tr.nights), slices.Clone(tr.outlier)
		copied.bases, copied.sorted = slices.Clone(tr.bases), slices.Clone(tr.sorted)
		c[k] = &copied
	}
	return c
}
