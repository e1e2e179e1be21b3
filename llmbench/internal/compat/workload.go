package compat

import "github.com/seed-2b9cec6d/llmbench/llmbench/records"

// A workload holds the tokens of the served requests over time, as EvalScope adds them up
// (https://github.com/modelscope/evalscope/blob/main/evalscope/perf/utils/workload_timeline.py). The tokens
// of a request are added at its end, in the order of the ends. Time counts from the send of the request
// that ended first.
type workload struct{ points []workloadPoint }

// A workloadPoint holds the sums at the end of one request.
type workloadPoint struct {
	at                            float64 // seconds
	fresh, cached, prompt, output float64
}

// rates are tokens per second: prompt tokens, uncached and cached prompt tokens, and output tokens.
type rates [4]float64

// newWorkload returns the workload of a pass. If it is unknown, why has the reason.
func newWorkload(p Pass) (w workload, why Value) {
	g, _ := newGather(p, ok200)
	last := evalscopeLast(p)
	var begin float64
	var sum workloadPoint
	why = g.each(func(q *records.Request) string {
		in, why := promptTokens(q)
		if why != "" {
			return why
		}
		out, why := usageOr(q)
		if why != "" {
			return why
		}
		end, why := last(q)
		if why != "" || end < q.Start {
			return why
		}
		if len(w.points) == 0 {
			begin = q.Start.Seconds()
		}
		sum.at = end.Seconds() - begin
		sum.fresh += float64(max(0, in-int(q.CachedTokens)))
		sum.cached += float64(q.CachedTokens)
		sum.prompt = sum.fresh + sum.cached
		sum.output += float64(out)
		w.points = append(w.points, sum)
		return ""
	})
	return w, why
}

// since returns the rates between a point and the last point. They are 0 if no time passed.
func (w workload) since(from workloadPoint) rates {
	last := w.points[len(w.points)-1]
	d := last.at - from.at
	if d <= 0 {
		return rates{}
	}
	return rates{(last.prompt - from.prompt) / d, (last.fresh - from.fresh) / d, (last.cached - from.cached) / d, (last.output - from.output) / d}
}

func (w workload) overall() rates { return w.since(workloadPoint{}) }

// last returns the rates of the last 30 s, or of the whole time if it is shorter.
func (w workload) last() rates {
	if wall := w.wall(); wall > 30 {
		return w.since(w.points[w.until(wall-30)])
	}
	return w.overall()
}

// steady returns the rates after the first fifth of the time.
func (w workload) steady() rates {
	at := w.until(w.wall() / 5)
	if w.wall() <= 0 || at == len(w.points)-1 {
		return w.overall()
	}
	return w.since(w.points[at])
}

// wall returns the time of the last point.
func (w workload) wall() float64 { return max(0, w.points[len(w.points)-1].at) }

// until returns the index of the last point at or before the time at, or 0 if there is none.
func (w workload) until(at float64) int {
	i := 0
	for i+1 < len(w.points) && w.points[i+1].at <= at {
		i++
	}
	return i
}
