package systems

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/columns"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compare"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// Knee returns the row at the system's knee, which [search.Knee] finds from the medians of the
// samples. Rows without a throughput and a latency above 0 are left out. If there is no knee, the
// error says why.
func (s *System) Knee() (*results.Row, error) {
	var points []search.Point
	var rows []*results.Row
	for _, r := range s.Rows {
		_, load := r.Load()
		x, has := r.Spread(columns.Throughput...)
		y, also := r.Spread(columns.Latency...)
		if has == "" || also == "" || x.Mid <= 0 || y.Mid <= 0 || load <= 0 || len(points) > 0 && points[len(points)-1].Load == load {
			continue
		}
		points, rows = append(points, search.Point{Load: load, Throughput: x.Mid, Latency: y.Mid}), append(rows, r)
	}
	at, err := search.Knee(points)
	if err != nil {
		return nil, err
	}
	return rows[at], nil
}

// Peak returns the row with the greatest throughput, or nil if no row has a throughput.
func (s *System) Peak() (best *results.Row) {
	most := 0.0
	for _, r := range s.Rows {
		if v, has := r.Spread(columns.Throughput...); has != "" && v.Mid > most {
			best, most = r, v.Mid
		}
	}
	return best
}

// An SLO is limits on latencies, and the share of the requests that must keep these limits.
type SLO struct {
	Limits sample.SLO // zero means the limits of good-req/s, which the benchmark file does not name
	Share  float64
	Given  bool // the reader gave the limits; good-req/s then counts requests within other limits
}

// Text returns a text like "95 % of requests within ttft=500ms".
func (o SLO) Text() string {
	limits := cmp.Or(o.Limits.String(), "the limits of good-req/s")
	return fmt.Sprintf("%g %% of requests within %s", 100*o.Share, strings.ReplaceAll(limits, ",", ", "))
}

// String returns the text after "the SLO", in parentheses.
func (o SLO) String() string { return "the SLO (" + o.Text() + ")" }

// SLOOf returns the SLO that is common to the records of the rows, with the default share. If the
// records have no limits, or different ones, the SLO has no limits.
func SLOOf(rows []*results.Row) SLO {
	var found sample.SLO
	for _, r := range rows {
		for _, run := range r.Runs {
			limits := run.Head.Limits()
			if limits == (sample.SLO{}) || found != (sample.SLO{}) && limits != found {
				return SLO{Share: compare.DefaultShare}
			}
			found = limits
		}
	}
	return SLO{Limits: found, Share: compare.DefaultShare}
}

// Kept returns the share of a row's requests that kept the limits. A failed request kept none. The
// share comes from the row's records. Without records it comes from good-req/s, if the benchmark
// had the same limits. The share is unknown if the rate of such requests is in doubt, and if a
// simulated server ran faster or slower than real time, because the limits are in real time.
func (o SLO) Kept(r *results.Row) (share float64, known bool) {
	if r.SpedUp() || r.Doubt(sample.GoodRate) != "" {
		return 0, false
	}
	if len(r.Runs) > 0 && o.Limits != (sample.SLO{}) {
		good, all := 0, 0
		for _, run := range r.SoundRuns(sample.GoodRate) {
			for q := range run.Measured() {
				all++
				if q.Keeps(o.Limits) {
					good++
				}
			}
		}
		return float64(good) / float64(max(1, all)), all > 0
	}
	good, has := r.Spread(sample.GoodRate)
	rate, also := r.Spread(sample.RequestRate)
	if has == "" || also == "" || rate.Mid <= 0 || o.Given {
		return 0, false
	}
	return compare.Kept(good.Mid, rate.Mid, Lost(r)), true
}

// Lost returns the share of a row's requests that were shed or failed, or 0 if it is unknown.
func Lost(r *results.Row) float64 {
	failed, _ := r.Spread(sample.FailShare)
	shed, _ := r.Spread(sample.ShedShare)
	return compare.Lost(failed.Mid, shed.Mid)
}

// A Carried says up to which load a system meets an SLO.
type Carried struct {
	Met    *results.Row // the highest load up to which every load met the SLO; nil if the lowest load missed it
	Missed *results.Row // the lowest load that missed the SLO; nil if none did
	Shares map[*results.Row]float64
}

// Carries returns up to which load the system meets an SLO. Rows whose share is unknown are left
// out. If no rows are left, it returns nil.
func (s *System) Carries(o SLO) *Carried {
	c := &Carried{Shares: map[*results.Row]float64{}}
	for _, r := range s.Rows {
		share, known := o.Kept(r)
		if !known {
			continue
		}
		c.Shares[r] = share
		switch {
		case c.Missed != nil:
		case share >= o.Share:
			c.Met = r
		default:
			c.Missed = r
		}
	}
	if len(c.Shares) == 0 {
		return nil
	}
	return c
}

// Work returns what the system was asked to do.
func (s *System) Work() string { return compare.Work(s.Rows[0].Key) }

// Shared returns pairs of rows of two systems. Both rows of a pair have the same load and the same
// work.
func Shared(a, b *System) (pairs [][2]*results.Row) {
	if a.Work() != b.Work() {
		return nil
	}
	for _, r := range a.Rows {
		load, x := r.Load()
		at := slices.IndexFunc(b.Rows, func(o *results.Row) bool {
			other, y := o.Load()
			return other == load && x == y
		})
		if at >= 0 {
			pairs = append(pairs, [2]*results.Row{r, b.Rows[at]})
		}
	}
	return pairs
}

// Leading returns the results of two systems at the load with the greatest value of the first system. Loads with a
// value in doubt are used only if there are no others. If use is not nil, only the loads are used for which it returns true,
// given the medians of both systems.
func Leading(a, b *System, units []string, use func(a, b float64) bool) (best, next *results.Row, unit string) {
	most, doubted := 0.0, true
	for _, pair := range Shared(a, b) {
		v, has := pair[0].Spread(units...)
		other, its := pair[1].Spread(has)
		if has == "" || its == "" || use != nil && !use(v.Mid, other.Mid) {
			continue
		}
		value := v.Mid
		if compare.Open(a.Load) {
			_, value = pair[0].Load()
		}
		doubt := pair[0].Doubt(has) != "" || pair[1].Doubt(has) != ""
		if best == nil || doubted && !doubt || doubt == doubted && value > most {
			best, next, unit, most, doubted = pair[0], pair[1], has, value, doubt
		}
	}
	return best, next, unit
}

// UserSpeed returns the output tokens per second that a user at the load of a row receives: 1 / mean TPOT; without it
// user-tok/s, or output tokens per request / latency. If the TPOT was withheld, the others do not take its place,
// because they mean something else. It also reports whether the figure is in doubt, or was withheld.
func UserSpeed(r *results.Row) (speed float64, doubt, known bool) {
	if v, unit := r.Spread(sample.MeanTPOT); unit != "" && v.Mid > 0 {
		return 1e9 / v.Mid, r.Doubt(unit) != "", true
	}
	if r.Withholds(sample.MeanTPOT) {
		return 0, true, false
	}
	if v, unit := r.Spread(sample.UserRate); unit != "" {
		return v.Mid, r.Doubt(unit) != "", true
	}
	e2e, of := r.Spread(sample.MeanE2E, sample.P50E2E)
	tokens, also := r.Spread(sample.OutputLength)
	if of == "" || also == "" || e2e.Mid <= 0 {
		return 0, false, false
	}
	return 1e9 * tokens.Mid / e2e.Mid, r.Doubt(of, also) != "", true
}
