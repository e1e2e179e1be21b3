package metrics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const (
	// resetTimeout limits the emptying of the prefix cache: some servers wait until they are idle.
	resetTimeout = time.Minute
	// gaugeInterval is the time between two readings of the KV cache's use and of the queue during a pass.
	// Readings after the pass would not do, because both are empty by then.
	gaugeInterval = 2 * time.Second
	// countTimeout limits how long Before waits until the server has counted all earlier requests.
	countTimeout = time.Second
)

// Observe returns a new [Observer]. It is the value of [llmbench.Target.Observe].
func (s Source) Observe() llmbench.Observer {
	var units string
	env.Read(env.NewReader(os.Environ()), &units, "LLMBENCH_UNITS", env.Text, "core or all") // llmbench reports an error
	return &Observer{source: s, watchGauges: units == "all"}
}

// An Observer empties a server's prefix cache before each pass of a benchmark and reads the server's
// metrics before and after the pass. From the differences it computes the units srv-prefix-hit-%,
// srv-imbalance, srv-preempt/op, srv-kv-%, srv-queue-ns, srv-max-queue-req, srv-accept-len, srv-accept-%, srv-ttft-ns, srv-itl-ns,
// srv-e2e-ns, srv-prefill-tok/s, srv-computed-% and srv-transferred-%.
//
// If the metrics of one pass cannot be read, the Observer returns no units for the whole benchmark, because
// they would cover fewer passes than the other units do. It reports the reason once and does not read the
// metrics any more. Each reading takes at most ten seconds.
//
// An Observer implements [llmbench.Counter]. Use [Source.Observe] to create one.
type Observer struct {
	source        Source
	watchGauges   bool // whether to read the KV cache's use and the queue during a pass
	passes        int
	before        snapshot // at the start of the current pass
	sum           snapshot // sum of the differences over all passes
	rounded       float64  // the possible rounding error of the sums of the prefix cache's counters
	draftsRounded float64  // the possible rounding error of the sums of the draft counters
	prefill       prefillRounding
	kvPeak        *float64 // the highest use of the KV cache so far
	queuePeak     *float64 // the most requests that waited at a reading during a pass so far
	stop          func()   // stops the reading during a pass; nil if none is running
	err           error    // why there are no units any more, or nil
	told          bool     // whether err was returned to the caller
	warned        bool     // whether it was reported that counts are rounded
	settled       bool     // whether the server has counted everything that was sent before the current pass
}

// Before empties the prefix cache and reads the counters.
func (o *Observer) Before(ctx context.Context) error {
	if err := o.reset(ctx); err != nil {
		return err
	}
	if o.err == nil {
		o.before, o.err = o.source.scrape(ctx)
	}
	o.settled = o.err == nil && o.settle(ctx)
	if o.err == nil && o.watchGauges && (o.before.kvUsage != nil || o.before.waiting != nil) {
		o.watch()
	}
	return nil
}

// reset empties the prefix cache if the source has a Reset function.
func (o *Observer) reset(ctx context.Context) error {
	if o.source.Reset == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, resetTimeout)
	defer cancel()
	err := o.source.Reset(ctx)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if o.source.Logf != nil {
		o.source.Logf("this version of the server cannot do it: %v", err)
	}
	return nil
}

// settle waits until the server has counted all requests that it has received, and reports whether it has
// done so. It returns false for a server without a gauge of open requests.
func (o *Observer) settle(ctx context.Context) bool {
	for deadline := time.Now().Add(countTimeout); o.before.openRequests != nil; {
		if *o.before.openRequests == 0 {
			return true
		}
		if !time.Now().Before(deadline) || ctx.Err() != nil {
			return false
		}
		time.Sleep(time.Millisecond)
		now, err := o.source.scrape(ctx)
		if err != nil {
			return false
		}
		o.before = now
	}
	return false
}

// watch reads the use of the KV cache and the queue until o.stop is called.
func (o *Observer) watch() {
	o.stop = probe.Every(gaugeInterval, func(ctx context.Context) {
		if s, err := o.source.scrape(ctx); err == nil {
			raise(&o.kvPeak, s.kvUsage)
			raise(&o.queuePeak, s.waiting)
		}
	})
}

func raise(peak **float64, v *float64) {
	if v != nil && (*peak == nil || *v > **peak) {
		*peak = v
	}
}

// After adds the pass to the sums and returns the units over all passes.
func (o *Observer) After(ctx context.Context) (map[string]float64, error) {
	if o.stop != nil {
		o.stop()
		o.stop = nil
	}
	if o.err == nil {
		o.passes++
		after, err := o.source.scrape(ctx)
		if err == nil {
			err = o.add(after)
		}
		o.err = err
	}
	switch {
	case o.err == nil:
		return o.figures(), nil
	case o.told:
		return nil, nil
	}
	o.told = true
	return nil, o.err
}

// add adds the differences between o.before and after to the sums. If a counter appears during a pass, its
// value before the pass was 0: many counters appear only with their first event.
func (o *Observer) add(after snapshot) error {
	if !slices.Equal(o.before.starts, after.starts) {
		return errors.New("process_start_time_seconds has changed: the server was restarted, or several servers answer at this address in turn")
	}
	before, sums := o.before.counters(), o.sum.counters()
	for i, now := range after.counters() {
		if *now == nil && *before[i] == nil {
			continue
		}
		d := valueOr0(*now) - valueOr0(*before[i])
		if d < 0 {
			return fmt.Errorf("a counter fell from %g to %g: the server was restarted, or several servers answer at this address in turn", valueOr0(*before[i]), valueOr0(*now))
		}
		d += valueOr0(*sums[i])
		*sums[i] = &d
	}
	for _, v := range []*float64{o.before.cacheHits, o.before.cacheQueries, after.cacheHits, after.cacheQueries} {
		o.rounded += o.source.Names.rounding(valueOr0(v))
	}
	for _, v := range []*float64{o.before.drafts, o.before.draftTokens, o.before.accepted, after.drafts, after.draftTokens, after.accepted} {
		o.draftsRounded += o.source.Names.rounding(valueOr0(v))
	}
	for i, now := range after.replicas {
		if i < len(o.before.replicas) {
			if len(o.sum.replicas) <= i {
				o.sum.replicas = append(o.sum.replicas, 0)
			}
			o.sum.replicas[i] += now - o.before.replicas[i]
		}
	}
	o.prefill.add(o.source.Names, o.before.times, after.times)
	if o.rounded > valueOr0(o.sum.cacheQueries)/1000 {
		return fmt.Errorf("the server prints %d digits of its counters, which are too large by now: restart it", o.source.Names.Digits)
	}
	o.sum.cacheHitRate, o.sum.acceptLength = after.cacheHitRate, after.acceptLength
	if o.watchGauges {
		raise(&o.kvPeak, o.before.kvUsage)
		raise(&o.kvPeak, after.kvUsage)
	}
	return nil
}

// Counts returns what the server has counted since Before. Unknown counts are -1. After an error that was
// already returned, all counts are unknown.
func (o *Observer) Counts(ctx context.Context) (llmbench.Counts, error) {
	c := llmbench.Counts{Requests: -1, PromptTokens: -1, OutputTokens: -1}
	if o.err != nil {
		return c, nil // After has returned o.err
	}
	now, err := o.source.scrape(ctx)
	if err != nil {
		o.err = err // the units of the next pass cannot be computed
		return c, err
	}
	since := func(now, before *float64) int {
		switch {
		case now == nil:
			return -1
		case o.source.Names.rounding(*now) > 0:
			err = fmt.Errorf("they are not compared: the server prints %d digits of a counter that is at %g", o.source.Names.Digits, *now)
			return -1
		}
		d := *now - valueOr0(before)
		if math.Abs(d) > 1<<53 { // the largest number up to which a float64 holds each integer
			err = fmt.Errorf("they are not compared: a counter of the server rose by %g", d)
			return -1
		}
		return int(d)
	}
	c = llmbench.Counts{
		Requests:     since(now.requests, o.before.requests),
		PromptTokens: since(now.promptTokens, o.before.promptTokens),
		OutputTokens: since(now.outputTokens, o.before.outputTokens),
		Complete:     o.settled,
		Alone:        len(o.source.Names.OpenRequests) > 0,
	}
	if o.warned {
		return c, nil
	}
	o.warned = err != nil
	return c, err
}

// figures returns the units that are known. All of them are finite.
func (o *Observer) figures() map[string]float64 {
	f := map[string]float64{}
	s := o.sum
	switch {
	case s.cacheHits != nil && s.cacheQueries != nil && *s.cacheQueries > 0:
		f[sample.ServerHitShare] = 100 * *s.cacheHits / *s.cacheQueries
	case s.cacheHitRate != nil:
		f[sample.ServerHitShare] = 100 * *s.cacheHitRate
	}
	if s.preemptions != nil {
		f["srv-preempt/op"] = *s.preemptions / float64(o.passes)
	}
	if n := len(s.replicas); n > 1 {
		if imbalance, known := imbalanceOf(s.replicas, n); known {
			f[imbalanceUnit] = imbalance
		}
	}
	if o.kvPeak != nil {
		f["srv-kv-%"] = 100 * *o.kvPeak
	}
	if o.queuePeak != nil {
		f["srv-max-queue-req"] = *o.queuePeak
	}
	o.speculative(f)
	s.times.figures(f)
	if o.prefill.tooLarge(s.times) {
		delete(f, prefillUnit)
	}
	// Omit a mean of 0, because benchstat puts a time of 0 in a separate table. If no request has waited,
	// there is no mean, even if the sum has grown.
	if waits, sum := valueOr0(s.queueCount), valueOr0(s.queueSum); waits > 0 && sum > 0 {
		f["srv-queue-ns"] = sum / waits * 1e9
	}
	// Absurd but finite metrics may overflow.
	maps.DeleteFunc(f, func(_ string, v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) })
	return f
}

// speculative adds the units of speculative decoding. It omits them if nothing was drafted: without drafts,
// the gauge AcceptLength is 0 or 1, or keeps the value of the last request.
func (o *Observer) speculative(f map[string]float64) {
	s := o.sum
	drafts, accepted := valueOr0(s.drafts), valueOr0(s.accepted)
	if len(o.source.Names.Drafts) == 0 { // the steps include the prefills, which draft nothing
		drafts -= valueOr0(s.requests)
	}
	if o.draftsRounded > drafts/1000 {
		return
	}
	drafted := valueOr0(s.draftTokens)
	switch {
	case drafts > 0 && (drafted > 0 || accepted > 0):
		f["srv-accept-len"] = 1 + accepted/drafts
	case s.drafts == nil && valueOr0(s.acceptLength) > 1:
		f["srv-accept-len"] = *s.acceptLength
	}
	if drafted > 0 {
		f["srv-accept-%"] = 100 * accepted / drafted
	}
}
