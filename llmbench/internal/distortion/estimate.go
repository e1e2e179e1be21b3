// Package distortion estimates by how much the client itself distorted each figure of a
// benchmark. It computes the estimate from the errors of control streams, from the samples
// and from what the client's process suffered; it measures nothing itself.
package distortion

import (
	"iter"
	"runtime"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/strain"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Pass is what is known about the client during one pass.
type Pass struct {
	Samples iter.Seq[*sample.Sample]
	Pauses  []time.Duration // of a closed loop's workers, from the end of a request to the next send
	Errors  Errors          // of the control streams
	Strain  strain.Strain
}

// An Estimate is the distortion of the passes that were added. Its zero value is one
// without passes.
type Estimate struct {
	errors  Errors
	pauses  []time.Duration
	busy    time.Duration   // sum of the times that requests took
	late    []time.Duration // how late the requests of an open loop were sent
	due     time.Duration   // from the first due instant of an open loop to its last, summed over passes
	behind  delay           // at the end of the schedule, summed over passes
	elapsed time.Duration
	strain  strain.Strain

	passes, unchecked int // all passes, and those without a control stream
}

// A delay is how far an open loop was behind its schedule at the end of a pass: by its last
// request, and by the least late of its last tenth. A client that is too slow stays behind.
// A client that once waited for a CPU catches up.
type delay struct{ last, least time.Duration }

// Add adds a pass.
func (e *Estimate) Add(p Pass) {
	e.errors.add(p.Errors)
	e.passes++
	if len(p.Errors.TTFT) == 0 {
		e.unchecked++
	}
	e.pauses = append(e.pauses, p.Pauses...)
	for s := range p.Samples {
		e.busy += max(0, s.End-s.Start)
	}
	late, due := sample.Lateness(p.Samples)
	e.late = append(e.late, late...)
	e.due += due
	if n := len(late); n > 0 && due > 0 {
		e.behind.last += late[n-1]
		if n >= minCertain {
			e.behind.least += slices.Min(late[n-max(minCertain, n/10):])
		}
	}
	e.elapsed += sample.Elapsed(p.Samples)
	e.strain = e.strain.Plus(p.Strain)
}

// Shares returns the share of each figure in metrics by which the client may have distorted
// it. Figures that are not of units, and those that the client cannot distort, are left out.
//
//   - The share of a latency is the same statistic of the control's errors, divided by the
//     figure. If the latency counts from when requests of an open loop were due, the
//     statistic of how late they were sent is added.
//   - The share of a rate is the part of their time that a closed loop's workers spent
//     between requests, or the part by which an open loop's rate was missed.
//   - No share is below the part of the time in which the process's control group was
//     throttled or a garbage collection stopped the process.
//
// The shares are point estimates, or with sure the lower 99 % confidence bounds.
func (e *Estimate) Shares(units []sample.Unit, metrics map[string]float64, sure bool) map[string]float64 {
	statistic, behind := estimated, e.behind.last
	if sure {
		statistic, behind = certain, e.behind.least
	}
	errors := e.errors
	families := map[sample.Family][]time.Duration{sample.FamilyTTFT: errors.TTFT, sample.FamilyTPOT: errors.TPOT, sample.FamilyITL: errors.ITL, sample.FamilyE2E: errors.E2E}
	for _, all := range families {
		slices.Sort(all)
	}
	slices.Sort(e.late)
	slices.Sort(e.pauses)
	stopped := e.stopped()
	paused := statistic(sample.Mean, e.pauses) * float64(len(e.pauses))
	missed := max(fraction(float64(behind), float64(behind+e.due)), fraction(paused, paused+float64(e.busy)))
	shares := map[string]float64{}
	for _, u := range units {
		value, known := metrics[u.Name]
		if !known {
			continue
		}
		late := 0.0
		if u.FromDue {
			late = statistic(u.Statistic, e.late)
		}
		if u.Family == sample.FamilyITL { // where one read brings several deltas, most gaps are 0
			value = max(value, metrics["mean-itl-ns"])
		}
		all := families[u.Family]
		switch {
		case u.Family == sample.FamilyUserRate:
			shares[u.Name] = max(stopped, fraction(statistic(sample.Mean, errors.E2E)+statistic(sample.Mean, e.late), metrics["mean-e2e-ns"]))
		case u.Family == sample.FamilyRate:
			shares[u.Name] = max(stopped, missed)
		case all != nil || late > 0:
			shares[u.Name] = max(stopped, fraction(statistic(u.Statistic, all)+late, value))
		}
	}
	return shares
}

// stopped returns the part of the time in which the process could not run.
func (e *Estimate) stopped() float64 {
	// Throttling takes time from all CPUs that the process can use, but from no others.
	cpus := min(runtime.NumCPU(), runtime.GOMAXPROCS(0))
	return fraction(float64(e.strain.Throttled)/float64(cpus)+float64(e.strain.Paused()), float64(e.elapsed))
}

// fraction returns part/whole, or 0 unless both are positive.
func fraction(part, whole float64) float64 {
	if !(part > 0) || !(whole > 0) {
		return 0
	}
	return part / whole
}
