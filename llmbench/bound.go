package llmbench

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"

	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A ClientBound says what becomes of figures that the client itself distorted.
type ClientBound string

// What may become of them.
const (
	BoundFails    ClientBound = "fail"     // they are withheld, and the benchmark fails
	BoundWithheld ClientBound = "withhold" // they are withheld, and the benchmark says so
	BoundReported ClientBound = "report"   // they are reported, and client-err-% tells
)

// bound is what becomes of them: as the load says, or the environment, or else they
// fail, but for a server whose work is the client's own.
func (l Load) bound(cfg config, t Target) ClientBound {
	usual := BoundFails
	if t.Simulated {
		usual = BoundReported
	}
	return cmp.Or(l.ClientBound, cfg.bound, usual)
}

// DefaultMaxDistortion is the share of a figure by which the client may distort it.
const DefaultMaxDistortion = 0.05

// clientError is the unit of the worst distortion among those reported.
const clientError = "client-err-%"

// A verdict is by how much the client may have distorted passes.
type verdict struct {
	errors  offs            // of the control
	idles   []time.Duration // between the end of a request and the next send of its worker
	busy    time.Duration   // in requests, over all
	late    []time.Duration // how late an open loop's requests were sent
	due     time.Duration   // from the first due instant of an open loop to the last, over all passes
	behind  behind          // how far it was behind at the end, over all passes
	elapsed time.Duration
	strain  strain.Strain
}

// behind is how far an open loop was behind its schedule at the end of a pass: by
// its last request, and by the least late of its last tenth. A generator that does
// not keep up falls behind for good, and one that met the scheduler once does not.
type behind struct{ last, least time.Duration }

// add adds a pass.
func (v *verdict) add(samples []sample.Sample, idles []time.Duration, e offs, s strain.Strain) {
	v.errors.ttft = append(v.errors.ttft, e.ttft...)
	v.errors.tpot = append(v.errors.tpot, e.tpot...)
	v.errors.itl = append(v.errors.itl, e.itl...)
	v.errors.e2e = append(v.errors.e2e, e.e2e...)
	v.idles = append(v.idles, idles...)
	for i := range samples {
		v.busy += max(0, samples[i].End-samples[i].Start)
	}
	late, due := sample.Lateness(samples)
	v.late = append(v.late, late...)
	v.due += due
	if n := len(late); n > 0 && due > 0 {
		v.behind.last += late[n-1]
		if n >= few {
			v.behind.least += slices.Min(late[n-max(few, n/10):])
		}
	}
	v.elapsed += sample.Elapsed(samples)
	v.strain = v.strain.Plus(s)
}

// distortions returns the share of each unit in metrics by which the client may
// have distorted it:
//
//   - of a latency, the same statistic of the control's errors, over the figure;
//     where it counts from when requests of an open loop were due, and of how late
//     they were sent;
//   - of what is per second, the share of their time that workers of a closed loop
//     spent between requests, or that by which an open loop's rate was missed;
//   - of all, at least the share of the time that the process's cgroup was
//     throttled for and that garbage collections stopped it for.
//
// They are estimated, or as much as is certain.
func (v *verdict) distortions(metrics map[string]float64, sure bool) map[string]float64 {
	of, end := estimate, v.behind.last
	if sure {
		of, end = certain, v.behind.least
	}
	stopped := fraction(float64(v.strain.Throttled)/float64(cpus())+float64(v.strain.Paused()), float64(v.elapsed))
	slices.Sort(v.idles)
	between := of("mean", v.idles) * float64(len(v.idles))
	idle := max(fraction(float64(end), float64(end+v.due)), fraction(between, between+float64(v.busy)))
	families := map[string][]time.Duration{"ttft": v.errors.ttft, "ttfo": v.errors.ttft, "tpot": v.errors.tpot, "itl": v.errors.itl, "e2e": v.errors.e2e}
	for _, all := range families {
		slices.Sort(all)
	}
	slices.Sort(v.late)
	d := map[string]float64{}
	for unit, value := range metrics {
		statistic, rest, _ := strings.Cut(unit, "-")
		name, isTime := strings.CutSuffix(rest, "-ns")
		late := 0.0
		if name == "ttft" || name == "ttfo" || name == "e2e" || name == "ttft-turn1" { // further turns have no schedule
			late = of(statistic, v.late)
		}
		name = strings.TrimPrefix(name, "service-")
		if part, ok := strings.CutPrefix(name, "ttft-"); ok && part != "err" { // of a turn, of hits
			name = "ttft"
		}
		if name == "itl" { // where reads bring several deltas, most gaps are nothing
			value = max(value, metrics["mean-itl-ns"])
		}
		all := families[name]
		switch {
		case unit == "user-tok/s":
			d[unit] = max(stopped, fraction(of("mean", v.errors.e2e)+of("mean", v.late), metrics["mean-e2e-ns"]))
		case strings.HasSuffix(unit, "-tok/s") || strings.HasSuffix(unit, "-chars/s") || strings.HasSuffix(unit, "req/s"):
			d[unit] = max(stopped, idle)
		case isTime && (all != nil || late > 0):
			d[unit] = max(stopped, fraction(of(statistic, all)+late, value))
		}
	}
	return d
}

// cpus is how many CPUs the process uses at most: throttling stops no others.
func cpus() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }

// few values are not enough to be certain of anything: a healthy client meets the
// scheduler now and then.
const few = 5

// estimate is a statistic of sorted, as near as there are values for.
func estimate(statistic string, sorted []time.Duration) float64 {
	q, known := map[string]float64{"p50": 0.50, "p90": 0.90, "p99": 0.99}[statistic]
	switch {
	case len(sorted) == 0:
		return 0
	case known:
		return sample.Quantile(sorted, q)
	}
	mean, _ := moments(sorted)
	return mean
}

// certain is the lower end of the one-sided 99 % confidence interval of a
// statistic: of a percentile by the order statistic that the normal approximation
// of the binomial gives (Hahn and Meeker, "Statistical Intervals", 1991, 5.2). A mean
// of times, which are never negative, is also at least half of their median (Markov's
// inequality), however far off a single one is. Of too few values it is 0.
func certain(statistic string, sorted []time.Duration) float64 {
	const z = 2.326
	n := float64(len(sorted))
	if n < few {
		return 0
	}
	if q, known := map[string]float64{"p50": 0.50, "p90": 0.90, "p99": 0.99}[statistic]; known {
		i := int(math.Floor(n*q-z*math.Sqrt(n*q*(1-q)))) - 1
		return float64(sorted[max(0, i)])
	}
	mean, deviation := moments(sorted)
	return max(certain("p50", sorted)/2, mean-z*deviation/math.Sqrt(n))
}

// moments returns the mean and the standard deviation of a sample.
func moments(all []time.Duration) (mean, deviation float64) {
	for _, d := range all {
		mean += float64(d) / float64(len(all))
	}
	for _, d := range all {
		deviation += (float64(d) - mean) * (float64(d) - mean)
	}
	return mean, math.Sqrt(deviation / float64(max(1, len(all)-1)))
}

func fraction(part, whole float64) float64 {
	if !(part > 0) || !(whole > 0) {
		return 0
	}
	return part / whole
}

// withhold sets client-err-% to the worst distortion among the units that are
// shown, as it is estimated, and returns those of them that are distorted by more
// than most for certain, the worst first, and what to say of them.
func (v *verdict) withhold(metrics map[string]float64, most float64, shown func(sample.Unit) bool) (units []string, text string) {
	d, sure := v.distortions(metrics, false), v.distortions(metrics, true)
	worst := 0.0
	for _, u := range sample.Units {
		if !shown(u) {
			continue
		}
		worst = max(worst, d[u.Name])
		if sure[u.Name] > most {
			units = append(units, u.Name)
		}
	}
	metrics[clientError] = 100 * worst
	if len(units) == 0 {
		return nil, ""
	}
	slices.SortFunc(units, func(a, b string) int { return cmp.Or(cmp.Compare(d[b], d[a]), cmp.Compare(a, b)) })
	var parts []string
	for _, unit := range units {
		parts = append(parts, fmt.Sprintf("%s %.2g%%", unit, 100*d[unit]))
	}
	text = fmt.Sprintf("the client distorts these figures by more than %.3g%%: %s\n  %v\n", 100*most, strings.Join(parts, ", "), v.strain)
	if len(v.late) > 0 {
		text += fmt.Sprintf("  one request in a hundred was sent %v late or later; ", micros("p99", v.late))
	} else {
		between := estimate("mean", v.idles) * float64(len(v.idles))
		text += fmt.Sprintf("  workers were between two requests for %.2g%% of their time; ", 100*fraction(between, between+float64(v.busy)))
	}
	return units, text + fmt.Sprintf("of the control, %d streams, one token in a hundred was off by %v or more", len(v.errors.ttft), micros("p99", v.errors.itl))
}

// micros is a statistic of sorted for a reader.
func micros(statistic string, sorted []time.Duration) time.Duration {
	return time.Duration(estimate(statistic, sorted)).Round(time.Microsecond)
}
