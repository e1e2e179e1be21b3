package calibrate

import (
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// poll is the average time until EvalScope notices a result, because it looks for results once a second.
const poll = 500 * time.Millisecond

// evalscope returns the metrics that EvalScope of October 2024 prints, keyed by unit. Its two throughputs are
// computed over different times. Its percentiles are elements of the sorted list.
func (r run) evalscope() map[string]float64 {
	var latencies []float64
	var lastSuccess, last time.Duration
	tokens, failures, losses := 0, 0, 0
	for _, q := range r.requests {
		switch q.state {
		case succeeded:
			latencies = append(latencies, float64(q.end-q.at))
			tokens += q.tokens
			lastSuccess = max(lastSuccess, q.end)
			last = max(last, q.end)
		case failed:
			failures++
			last = max(last, q.end)
		case lost:
			losses++
		}
	}
	v := map[string]float64{"failed-req": float64(failures), "lost-req": float64(losses)}
	n := len(latencies)
	if n == 0 {
		return v
	}
	slices.Sort(latencies)
	v[sample.RequestRate] = float64(n) / (last + poll).Seconds()
	v[sample.TokenRate] = float64(tokens) / (lastSuccess + poll).Seconds()
	v[sample.MeanE2E] = mean(latencies)
	v[sample.P50E2E] = latencies[n*50/100]
	v[sample.P90E2E] = latencies[n*90/100]
	v[sample.P99E2E] = latencies[n*99/100]
	v[sample.OutputLength] = float64(tokens) / float64(n)
	return v
}

// mean returns the arithmetic mean of v.
func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// quantile returns a quantile of a sorted list by linear interpolation (type 7 of
// https://doi.org/10.1080/00031305.1996.10473566, the default of R and NumPy).
func quantile(sorted []float64, share float64) float64 {
	at := share * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-math.Floor(at))*(sorted[i+1]-sorted[i])
}

// closed returns the metrics, keyed by unit, of a load tester that streams, and that computes percentiles as
// NumPy does. If window is not 0, only the requests that ended within window count, and window is the duration
// of the run.
func (r run) closed(window time.Duration) map[string]float64 {
	var latencies, ttft, tpot, user []float64
	var last time.Duration
	tokens := 0
	for _, q := range r.requests {
		if q.state != succeeded || window > 0 && q.end > window {
			continue
		}
		e2e := float64(q.end - q.at)
		latencies = append(latencies, e2e)
		if q.streamed {
			ttft = append(ttft, float64(q.first-q.at))
		}
		if q.streamed && q.tokens > 1 && q.end > q.first {
			tpot = append(tpot, float64(q.end-q.first)/float64(q.tokens-1))
		}
		if e2e > 0 {
			user = append(user, float64(q.tokens)/(e2e/1e9))
		}
		tokens += q.tokens
		last = max(last, q.end)
	}
	v := map[string]float64{}
	n := len(latencies)
	if n == 0 {
		return v
	}
	if window > 0 {
		last = window
	}
	last = max(last, 1) // an engine whose times are all 0 takes no time
	v[sample.RunTime] = float64(last)
	v["requests"] = float64(n)
	v[sample.RequestRate] = float64(n) / last.Seconds()
	v[sample.TokenRate] = float64(tokens) / last.Seconds()
	v[sample.OutputRate] = v[sample.TokenRate]
	if len(user) > 0 {
		v[sample.UserRate] = mean(user)
	}
	for name, list := range map[string][]float64{"ttft": ttft, "tpot": tpot, "e2e": latencies} {
		if len(list) == 0 {
			continue
		}
		slices.Sort(list)
		v["mean-"+name+"-ns"] = mean(list)
		for _, p := range []struct {
			name  string
			share float64
		}{{"p50", .5}, {"p90", .9}, {"p99", .99}} {
			v[p.name+"-"+name+"-ns"] = quantile(list, p.share)
		}
	}
	return v
}
