package backends

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// names are a metric's names, the newest first: the first that the server has is
// the one.
type names []string

// stats are a server's Prometheus metrics.
type stats struct {
	path string // "" when it has none
	port int    // 0 is that of the server

	hits, queries names // counters of prompt tokens found and looked for in the prefix cache, or
	hitRate       names // a gauge of their ratio, from 0 to 1
	preempts      names // a counter of requests put aside for lack of KV cache
	kv            names // a gauge of the KV cache in use, from 0 to 1
	queue         names // a histogram or summary of seconds that requests waited for their turn

	ended, prompt, generated names // counters of requests that ended, and of their tokens as answers state them
	// open is a gauge of requests that are in none of these yet. Where there is one,
	// nobody else sends requests, and they are counted as answers state them.
	open names
}

const (
	// besidesTimeout bounds what is asked of a server before and after a pass.
	besidesTimeout = time.Minute
	// lookEvery is the time between two looks at a gauge during a pass, where
	// there are any. The KV cache is empty again when the pass has ended.
	lookEvery = 2 * time.Second
)

// observe returns a new observer of the server. It asks nothing during a pass
// unless all units are wanted: a server may make its metrics in the thread that
// streams.
func (r *running) observe() llmbench.Observer {
	cfg, err := ReadConfig()
	return &observer{server: r, looks: err == nil && cfg.AllUnits} // Run tells what is wrong with it
}

// An observer empties the server's prefix cache before each pass, and reads its
// metrics before and after it. What it cannot read of one pass takes the figures
// of all: they would be of some passes, beside others of every one.
type observer struct {
	server *running
	looks  bool // at the KV cache, during a pass
	passes int
	before reading  // of the pass under way
	sum    reading  // of the differences over all passes
	peak   *float64 // the most of the KV cache that was in use
	look   func()   // ends the looking during a pass
	broken error    // why there are no figures, for good
	exact  bool     // nothing from before the pass under way will be counted in it
}

// A reading is what the metrics said at an instant, or the difference of two. What
// the server does not have is nil.
type reading struct {
	hits, queries, preempts, queueSum, queueCount *float64
	ended, prompt, generated                      *float64
	hitRate, kv, open                             *float64
}

// counters are the parts of a reading of which differences are taken.
func (s *reading) counters() []**float64 {
	return []**float64{&s.hits, &s.queries, &s.preempts, &s.queueSum, &s.queueCount, &s.ended, &s.prompt, &s.generated}
}

// Before empties the prefix cache, and takes note of the counters.
func (o *observer) Before(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, besidesTimeout)
	defer cancel()
	if err := o.server.take(ctx, o.server.spec.reset); err != nil {
		var status statusError
		if !errors.As(err, &status) || status.code != http.StatusNotFound && status.code != http.StatusNotImplemented {
			return err
		}
		o.server.logf("%s: this version cannot do it: %v", o.server.spec.backend, err)
	}
	if o.broken == nil {
		o.before, o.broken = o.server.scrape(ctx)
	}
	o.exact = o.broken == nil && o.settle(ctx)
	if o.broken == nil && o.looks && o.before.kv != nil {
		o.watch()
	}
	return nil
}

// settleTime is how long a server may take to count what it answered before a pass.
const settleTime = time.Second

// settle waits until the server has counted all it was asked, and reports whether
// it has. It knows only of one that says so.
func (o *observer) settle(ctx context.Context) bool {
	for deadline := time.Now().Add(settleTime); o.before.open != nil && time.Now().Before(deadline) && ctx.Err() == nil; {
		if *o.before.open == 0 {
			return true
		}
		time.Sleep(time.Millisecond)
		now, err := o.server.scrape(ctx)
		if err != nil {
			return false
		}
		o.before = now
	}
	return false
}

// watch looks at the KV cache until look is called.
func (o *observer) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if s, err := o.server.scrape(ctx); err == nil {
					o.most(s.kv)
				}
			}
		}
	})
	o.look = func() { cancel(); wg.Wait() }
}

// most keeps the greatest value.
func (o *observer) most(v *float64) {
	if v != nil && (o.peak == nil || *v > *o.peak) {
		o.peak = v
	}
}

// After adds the pass to the sums and returns the figures of all passes.
func (o *observer) After(ctx context.Context) (map[string]float64, error) {
	if o.look != nil {
		o.look()
		o.look = nil
	}
	if o.broken != nil {
		return nil, o.broken
	}
	ctx, cancel := context.WithTimeout(ctx, besidesTimeout)
	defer cancel()
	o.passes++
	after, err := o.server.scrape(ctx)
	if err == nil {
		err = o.add(after)
	}
	if err != nil {
		o.broken = fmt.Errorf("pass %d: %w", o.passes, err)
		return nil, o.broken
	}
	return o.figures(), nil
}

// add adds the pass that has ended with these metrics. A counter that was not
// there before it was 0: many begin with the first thing they count.
func (o *observer) add(after reading) error {
	before, sums := o.before.counters(), o.sum.counters()
	for i, now := range after.counters() {
		if *now == nil && *before[i] == nil {
			continue
		}
		d := value(*now) - value(*before[i])
		if d < 0 {
			return fmt.Errorf("a counter fell from %g to %g: the server has started anew", value(*before[i]), value(*now))
		}
		d += value(*sums[i])
		*sums[i] = &d
	}
	o.sum.hitRate = after.hitRate
	if o.looks {
		o.most(o.before.kv)
		o.most(after.kv)
	}
	return nil
}

// Counts reads what the server has counted since Before.
func (o *observer) Counts(ctx context.Context) (llmbench.Counts, error) {
	if o.broken != nil {
		return llmbench.Counts{}, o.broken
	}
	ctx, cancel := context.WithTimeout(ctx, besidesTimeout)
	defer cancel()
	now, err := o.server.scrape(ctx)
	if err != nil {
		return llmbench.Counts{}, err
	}
	since := func(now, before *float64) int {
		if now == nil {
			return -1
		}
		return int(value(now) - value(before))
	}
	return llmbench.Counts{
		Requests:     since(now.ended, o.before.ended),
		PromptTokens: since(now.prompt, o.before.prompt),
		OutputTokens: since(now.generated, o.before.generated),
		Exact:        o.exact,
	}, nil
}

// value is *v, or 0 where there is none.
func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

// figures returns the units of what is known.
func (o *observer) figures() map[string]float64 {
	f := map[string]float64{}
	s := o.sum
	switch {
	case s.hits != nil && s.queries != nil && *s.queries > 0:
		f["srv-prefix-hit-%"] = 100 * *s.hits / *s.queries
	case s.hitRate != nil:
		f["srv-prefix-hit-%"] = 100 * *s.hitRate
	}
	if s.preempts != nil {
		f["srv-preempt/op"] = *s.preempts / float64(o.passes)
	}
	if o.peak != nil {
		f["srv-kv-%"] = 100 * *o.peak
	}
	// A mean of 0 is left out: benchstat puts zeros of a time in a table of
	// their own.
	if mean := value(s.queueSum) / value(s.queueCount) * 1e9; mean > 0 {
		f["srv-queue-ns"] = mean
	}
	return f
}

// scrape reads the server's metrics.
func (r *running) scrape(ctx context.Context) (s reading, err error) {
	st := r.spec.stats
	if st.path == "" {
		return s, nil
	}
	base := r.target.URL
	if st.port != 0 {
		direct, published, err := r.box.Addresses(ctx, st.port)
		if err != nil {
			return s, err
		}
		if base = "http://" + published; r.route == onContainer {
			base = "http://" + direct
		}
	}
	body, err := fetch(ctx, http.MethodGet, base+st.path, "", r.target.Header)
	if err != nil {
		return s, err
	}
	all, err := metrics(body)
	if err != nil {
		return s, fmt.Errorf("%s: %w", st.path, err)
	}
	s.hits, _ = all.sum(st.hits)
	s.queries, _ = all.sum(st.queries)
	s.preempts, _ = all.sum(st.preempts)
	s.queueSum, s.queueCount = all.sum(st.queue)
	s.ended, _ = all.sum(st.ended)
	s.prompt, _ = all.sum(st.prompt)
	s.generated, _ = all.sum(st.generated)
	s.hitRate, s.kv = all.mean(st.hitRate), all.mean(st.kv)
	s.open = all.mean(st.open)
	return s, nil
}

// families are metrics by their names.
type families map[string]*dto.MetricFamily

// metrics parses Prometheus' text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
func metrics(body []byte) (families, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	// The format wants a line feed at the end, which not all servers send.
	return parser.TextToMetricFamilies(bytes.NewReader(append(bytes.TrimRight(body, "\r\n"), '\n')))
}

// find returns the family of the first name that is there, or nil.
func (f families) find(n names) *dto.MetricFamily {
	for _, name := range n {
		if family := f[name]; family != nil {
			return family
		}
		// Some expositions name a counter's family without the suffix that
		// its samples have.
		if family := f[strings.TrimSuffix(name, "_total")]; family != nil {
			return family
		}
	}
	return nil
}

// sum adds up a metric over its labels: one engine has one set of them. Of a
// histogram or summary it is the sum, and count how many values it is of.
func (f families) sum(n names) (sum, count *float64) {
	family := f.find(n)
	if family == nil || len(family.Metric) == 0 {
		return nil, nil
	}
	var v, c float64
	for _, m := range family.Metric {
		v += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue() +
			m.GetHistogram().GetSampleSum() + m.GetSummary().GetSampleSum()
		c += float64(m.GetHistogram().GetSampleCount() + m.GetSummary().GetSampleCount())
	}
	return &v, &c
}

// mean is the mean of a gauge over its labels.
func (f families) mean(n names) *float64 {
	sum, _ := f.sum(n)
	if sum != nil {
		*sum /= float64(len(f.find(n).Metric))
	}
	return sum
}
