package history

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"gotest.tools/v3/assert"
)

var histories = flag.Int("histories", 0, "simulate this `number` of histories for each line of TestSimulateHistories")

// A climate is a scenario of TestSimulateHistories: nights of machines without any change.
type climate struct {
	name     string
	machines int
	missed   float64 // probability that a machine misses a night
	zones    bool    // machines write dates in different time zones, one of which has summer time
	again    float64 // probability that a machine measures the last commit once more
	clocks   float64 // probability that the commit or the run is dated up to a week wrongly
}

// simulate simulates a history. It calls see with the report on all machines after each run from the night 20 on.
func (c climate) simulate(t *testing.T, seed uint64, see func(r *Report)) {
	rng := rand.New(rand.NewPCG(seed, 9))
	reader := NewReader()
	var runs []*Run
	begin := time.Date(2026, 2, 20, 1, 30, 0, 0, time.UTC)
	now := begin.AddDate(1, 0, 0)
	zones := []*time.Location{time.UTC}
	if c.zones {
		berlin := time.FixedZone("", 3600)
		zones = []*time.Location{berlin, time.FixedZone("", 14*3600), time.FixedZone("", -11*3600)}
	}
	commit := 0
	for night := range 60 {
		if rng.Float64() >= c.again {
			commit++
		}
		for m := range c.machines {
			if rng.Float64() < c.missed {
				continue
			}
			ran := begin.AddDate(0, 0, night).Add(time.Duration(rng.IntN(3600)) * time.Second)
			about := About{Commit: fmt.Sprintf("c%d", commit), Time: ran.Add(-4 * time.Hour), Machine: fmt.Sprint("m", m)}
			wrong := time.Duration(float64(7*24*time.Hour) * (2*rng.Float64() - 1))
			switch {
			case rng.Float64() >= c.clocks:
			case rng.IntN(2) == 0:
				about.Time = about.Time.Add(wrong)
			default:
				ran = ran.Add(wrong)
			}
			zone := zones[m%len(zones)]
			if c.zones && m == 0 && ran.Month() > time.March {
				zone = time.FixedZone("", 7200)
			}
			var lines []string
			for row := range 10 {
				noise := 0.01 + 0.004*float64(row)
				draw := func(v float64) float64 { return v * math.Exp(noise*rng.NormFloat64()) }
				lines = append(lines, fmt.Sprintf("BenchmarkServing/n=%d 1 %.6g output-tok/s %.6g p50-ttft-ns", row, draw(1000), draw(3e7)))
			}
			text := string(about.lines(About{})) + "date: " + ran.In(zone).Format(time.RFC3339) + "\n" + unitLines + strings.Join(lines, "\n") + "\n"
			run, err := reader.Read(fmt.Sprintf("run%d-%d", night, m), []byte(text))
			assert.NilError(t, err)
			runs = append(runs, run)
			if night < 20 {
				continue
			}
			r, err := reader.Check(inOrder(runs, now), defaults)
			assert.NilError(t, err)
			see(r)
		}
	}
}

// TestSimulateHistories checks that histories without a change get no more false alarms than promised, whatever the
// machines and clocks do. With -histories=12 -v it prints the figures that HISTORY.md of package gate has.
func TestSimulateHistories(t *testing.T) {
	n := *histories
	if n == 0 {
		n = 1
	}
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	w := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tchecks\talarms in 100\tcannot judge in 100\tnothing in 100\t")
	for _, c := range []climate{
		{name: "one machine", machines: 1},
		{name: "three machines", machines: 3},
		{name: "three machines, missed nights", machines: 3, missed: 0.3},
		{name: "three machines, time zones", machines: 3, zones: true},
		{name: "two machines, the same commit again", machines: 2, again: 0.5},
		{name: "two machines, wrong clocks", machines: 2, clocks: 0.1},
	} {
		counts := map[Verdict]int{}
		checks := 0
		for seed := range n {
			c.simulate(t, uint64(seed), func(r *Report) {
				checks++
				counts[r.Verdict]++
			})
		}
		rate := func(v Verdict) float64 { return 100 * float64(counts[v]) / float64(checks) }
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t\n", c.name, checks, rate(Alarm), rate(CannotJudge), rate(Nothing))
		promised := float64(checks) / 100
		assert.Check(t, float64(counts[Alarm]) <= promised+4*math.Sqrt(promised*float64(c.machines))+1, "%s: %d of %d checks", c.name, counts[Alarm], checks)
	}
	w.Flush()
}
