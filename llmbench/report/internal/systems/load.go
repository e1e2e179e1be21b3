package systems

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/report/internal/results"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/search"
)

// Units of the throughput and of the median latency, of llmbench and of published studies, the
// first that a row has.
var (
	Throughput = []string{"output-tok/s", "tok/s", "req/s"}
	latency    = []string{"p50-e2e-ns", "mean-e2e-ns"}
)

// Knee returns the row of the system's knee, as [search.Knee] defines it, of the medians of
// samples. Rows that lack a throughput or a latency above 0 are left out. The error says why
// there is no knee.
func (s *System) Knee() (*results.Row, error) {
	var points []search.Point
	var rows []*results.Row
	for _, r := range s.Rows {
		_, load := r.Load()
		x, has := r.Spread(Throughput...)
		y, also := r.Spread(latency...)
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

// Peak returns the row with the greatest throughput, or nil if no row has any.
func (s *System) Peak() (best *results.Row) {
	most := 0.0
	for _, r := range s.Rows {
		if v, has := r.Spread(Throughput...); has != "" && v.Mid > most {
			best, most = r, v.Mid
		}
	}
	return best
}

// An SLO is limits, and the share of requests that must keep them.
type SLO struct {
	Limits sample.SLO // zero: those of good-req/s, which the benchmark file does not name
	Share  float64
	Given  bool // by the reader: good-req/s counts requests within other limits
}

// DefaultShare is the share of requests that BenchmarkSLO wants to keep the limits.
const DefaultShare = 0.95

// String returns a text like "the SLO (95 % of requests within ttft=500ms)".
func (o SLO) String() string {
	limits := o.Limits.String()
	if limits == "" {
		limits = "the limits of good-req/s"
	}
	return fmt.Sprintf("the SLO (%g %% of requests within %s)", 100*o.Share, strings.ReplaceAll(limits, ",", ", "))
}

// SLOOf returns the SLO that the records of rows have in common, with the default share. It has
// no limits if there are none, or several.
func SLOOf(rows []*results.Row) SLO {
	var found sample.SLO
	for _, r := range rows {
		for _, run := range r.Runs {
			limits := run.Head.Limits()
			if limits == (sample.SLO{}) || found != (sample.SLO{}) && limits != found {
				return SLO{Share: DefaultShare}
			}
			found = limits
		}
	}
	return SLO{Limits: found, Share: DefaultShare}
}

// Kept returns the share of a row's requests that kept the limits: of its records, or else as
// good-req/s tells it, if the benchmark had the same limits. Requests that failed kept
// none. The share is unknown where a simulated server has a time of its own: limits are of real time.
func (o SLO) Kept(r *results.Row) (share float64, known bool) {
	if r.SpedUp() {
		return 0, false
	}
	if len(r.Runs) > 0 && o.Limits != (sample.SLO{}) {
		good, all := 0, 0
		for _, run := range r.Runs {
			for q := range run.All() {
				all++
				if q.Keeps(o.Limits) {
					good++
				}
			}
		}
		return float64(good) / float64(max(1, all)), all > 0
	}
	good, has := r.Spread(sample.GoodRate)
	rate, also := r.Spread("req/s")
	if has == "" || also == "" || rate.Mid <= 0 || o.Given {
		return 0, false
	}
	failed, _ := r.Spread("fail-%")
	return good.Mid / rate.Mid * (1 - failed.Mid/100), true
}

// A Carried says which load a system carries within an SLO.
type Carried struct {
	Met    *results.Row // of the highest load of which all lower ones kept the SLO too; nil if the lowest missed it
	Missed *results.Row // of the next load; nil if the highest kept it
	Shares map[*results.Row]float64
}

// Carries returns the load that the system carries within an SLO. Rows of which the share is
// unknown are left out. It returns nil if that leaves none.
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

// workKeys are the keys of names that say what is asked of a server. Benchmarks that differ in
// one of these are no systems to compare.
var workKeys = []string{"workload", "stream", "input", "output", "turns", "tokens", "prefix"}

// Shared returns pairs of rows of two systems with equal loads and equal work.
func Shared(a, b *System) (pairs [][2]*results.Row) {
	for _, key := range workKeys {
		if a.Rows[0].Key(key) != b.Rows[0].Key(key) {
			return nil
		}
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
