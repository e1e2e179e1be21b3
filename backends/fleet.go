package backends

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http/httptest"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/router"
)

// Fleet is several simulated servers in this process behind a reference router. Results have the units
// that [ObserveFleet] describes.
type Fleet struct {
	// Replicas has the configuration of each server. There must be at least one.
	Replicas []mockserver.Config
	// Policy chooses the server for each request; nil means router.RoundRobin. The fleets of several
	// benchmarks must not share a policy.
	Policy router.Policy
	// Model is the model's name in requests; "" means the name in the first configuration.
	Model string
	// Dialect is the API of the requests; nil means OpenAI chat.
	Dialect dialect.Dialect
	// Body changes the body of each completion; see [llmbench.Target].
	Body json.RawMessage
}

// Start starts the servers and the router, and returns the router as a target. They run until tb ends.
// Start fails if several processes measure together.
func (f Fleet) Start(tb testing.TB) llmbench.Target {
	tb.Helper()
	fleet, urls := f.Serve(tb)
	r, err := router.New(cmp.Or[router.Policy](f.Policy, &router.RoundRobin{}), urls...)
	if err != nil {
		tb.Fatalf("backends: fleet: %v", err)
	}
	front := httptest.NewServer(r)
	tb.Cleanup(front.Close)
	t := llmbench.Target{
		URL: front.URL, Simulated: true, Model: cmp.Or(f.Model, f.Replicas[0].Model, "mock"), Dialect: f.Dialect, Body: f.Body,
		Config: map[string]string{"backend": "fleet", "replicas": fmt.Sprint(len(urls))},
		Truth:  &llmbench.Truth{Speed: fmt.Sprintf("%d replicas, the first with %s", len(urls), f.Replicas[0].Describe())},
	}
	for _, c := range f.Replicas {
		t.Truth.PrefixCache = t.Truth.PrefixCache || c.Engine != nil && c.Engine.PrefixCache
	}
	return ObserveFleet(t, fleet)
}

// Serve starts only the servers, for a router of the caller's own. It returns their base URLs, too.
func (f Fleet) Serve(tb testing.TB) (*mockserver.Fleet, []string) {
	tb.Helper()
	harness.Watch(tb)
	if _, shards := harness.Shard(); shards > 1 {
		tb.Fatal("backends: fleet: it is part of one process, which the other shards of LLMBENCH_RENDEZVOUS cannot reach: want LLMBENCH_URL of a router that runs")
	}
	fleet, err := mockserver.NewFleet(f.Replicas...)
	if err != nil {
		tb.Fatalf("backends: fleet: %v", err)
	}
	urls, stop, err := fleet.Listen("127.0.0.1:0")
	if err != nil {
		tb.Fatalf("backends: fleet: %v", err)
	}
	tb.Cleanup(func() { stop(0) })
	return fleet, urls
}

// ObserveFleet returns t, a router to the servers of f, with units from the logs of these servers: how even
// the requests were distributed, how much of the prompts the prefix caches had, and which requests reached
// a server that was full or dead. Before each pass the logs and the prefix caches are emptied. If t has an
// Observer, its units are reported, too.
func ObserveFleet(t llmbench.Target, f *mockserver.Fleet) llmbench.Target {
	inner := t.Observe
	t.Observe = func() llmbench.Observer {
		o := &fleetObserver{fleet: f, usage: make([]mockserver.Usage, len(f.Replicas()))}
		if inner != nil {
			o.inner = inner()
		}
		return o
	}
	return t
}

// The units of a fleetObserver.
const (
	hitUnit         = "fleet-hit-%"
	imbalanceUnit   = "fleet-imbalance"
	fullUnit        = "fleet-full-req/op"
	deadUnit        = "fleet-dead-req/op"
	waitingUnit     = "fleet-queue-req"
	mostWaitingUnit = "fleet-max-queue-req"
)

// replicasWithUnits is the number of replicas that have a unit for their hit rate.
const replicasWithUnits = 8

func replicaHitUnit(replica int) string { return fmt.Sprintf("replica%d-hit-%%", replica+1) }

func init() {
	llmbench.RegisterUnits(
		sample.Unit{Name: hitUnit, Better: "higher", Core: true, Means: "`backends.Fleet`: prompt tokens that the replicas found in their prefix caches / prompt tokens of requests that got a slot, by the replicas' logs."},
		sample.Unit{Name: imbalanceUnit, Better: "lower", Core: true, Means: "`backends.Fleet`: requests of the busiest replica / mean requests of a replica. 1 is even."},
		sample.Unit{Name: fullUnit, Better: "lower", Core: true, Means: "`backends.Fleet`: requests that a replica refused with status 429 or 503 / passes."},
		sample.Unit{Name: deadUnit, Better: "lower", Core: true, Means: "`backends.Fleet`: requests to a replica that had died / passes."},
		sample.Unit{Name: waitingUnit, Better: "lower", Core: true, Statistic: sample.Mean, Means: "`backends.Fleet`: mean queue of a replica when a request arrived there."},
		sample.Unit{Name: mostWaitingUnit, Better: "lower", Core: true, Statistic: sample.Max, Means: "`backends.Fleet`: largest queue of a replica when a request arrived there."},
	)
	for i := range replicasWithUnits {
		llmbench.RegisterUnits(sample.Unit{Name: replicaHitUnit(i), Better: "higher", Core: true, Means: "`backends.Fleet`: the same as fleet-hit-%, of one replica."})
	}
}

// A fleetObserver reads the logs of a fleet.
type fleetObserver struct {
	fleet  *mockserver.Fleet
	inner  llmbench.Observer // nil if there is none
	usage  []mockserver.Usage
	passes int
}

func (o *fleetObserver) Before(ctx context.Context) error {
	o.fleet.Reset()
	for _, s := range o.fleet.Replicas() {
		s.ResetPrefixCache()
	}
	if o.inner != nil {
		return o.inner.Before(ctx)
	}
	return nil
}

func (o *fleetObserver) After(ctx context.Context) (map[string]float64, error) {
	o.passes++
	for i, u := range o.fleet.Usage() {
		o.usage[i] = o.usage[i].Plus(u)
	}
	figures := o.figures()
	if o.inner == nil {
		return figures, nil
	}
	more, err := o.inner.After(ctx)
	maps.Copy(figures, more)
	return figures, err
}

// figures returns the units of all passes so far.
func (o *fleetObserver) figures() map[string]float64 {
	figures := map[string]float64{imbalanceUnit: mockserver.Imbalance(o.usage)}
	var all mockserver.Usage
	hit := func(unit string, u mockserver.Usage) {
		if u.PromptTokens > 0 {
			figures[unit] = 100 * u.HitRate()
		}
	}
	for i, u := range o.usage {
		all = all.Plus(u)
		if i < replicasWithUnits {
			hit(replicaHitUnit(i), u)
		}
	}
	hit(hitUnit, all)
	figures[fullUnit] = float64(all.Full) / float64(o.passes)
	figures[deadUnit] = float64(all.Dead) / float64(o.passes)
	figures[waitingUnit], figures[mostWaitingUnit] = all.MeanWaiting(), float64(all.MostWaiting)
	return figures
}

// FiguresOf returns the units of the inner Observer that depend on samples.
func (o *fleetObserver) FiguresOf(samples iter.Seq[*sample.Sample]) map[string]float64 {
	if inner, ok := o.inner.(llmbench.SamplesObserver); ok {
		return inner.FiguresOf(samples)
	}
	return nil
}
