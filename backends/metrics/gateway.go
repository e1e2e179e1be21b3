package metrics

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Gateway is a gateway or a router between the client and the server, whose metrics are read.
type Gateway struct {
	// Addresses are where the metrics are read. Several addresses are for replicas of the gateway, or for gateways one
	// behind the other: their values are added up.
	Addresses []Address
	Logf      func(format string, args ...any) // if nil, nothing is logged
}

// FindGateway asks a gateway for its metrics. It returns the gateway with the path of the metrics at each address. If an
// address has no path, FindGateway tries the paths of all gateways that it knows. The result names lists the gateways
// whose counters it knows, such as HAProxy; it is empty if the metrics are of another gateway. FindGateway takes at most
// ten seconds. The text of its error has no line breaks.
func FindGateway(ctx context.Context, addresses []Address) (found Gateway, names []string, err error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	found.Addresses = slices.Clone(addresses)
	var paths []string
	for _, k := range gateways {
		paths = append(paths, k.path)
	}
	for i := range found.Addresses {
		if err := found.Addresses[i].try(ctx, paths, func(all families) error {
			for _, k := range all.gateways() {
				if !slices.Contains(names, k.name) {
					names = append(names, k.name)
				}
			}
			return nil
		}); err != nil {
			return Gateway{}, nil, err
		}
	}
	return found, names, nil
}

// KnownGateways returns the names of the gateways whose counters are known.
func KnownGateways() (names []string) {
	for _, k := range gateways {
		names = append(names, k.name)
	}
	return names
}

// Observe returns a new [GatewayObserver]. It is the value of [llmbench.Target.ObserveGateway].
func (g Gateway) Observe() llmbench.Observer { return &GatewayObserver{gateway: g, sum: tally{}} }

// A GatewayObserver reads the metrics of a gateway before and after each pass of a benchmark. The counters are for the
// records. From the counters of gateways that it knows, it computes the units retries/req, gw-overflow/req, gw-shed/req, gw-hit-%
// and gw-imbalance.
//
// If the metrics of one pass cannot be read, there are no units for the whole benchmark, as of an [Observer].
//
// A GatewayObserver implements [llmbench.CountersObserver] and [llmbench.SamplesObserver]. Use [Gateway.Observe] to create
// one.
type GatewayObserver struct {
	gateway Gateway
	before  families              // at the start of the current pass
	pass    map[string][2]float64 // see Counters
	sum     tally                 // sum of the differences over all passes
	servers map[string]int        // see families.servers
	err     error                 // why there are no units any more, or nil
	told    bool                  // whether err was returned to the caller
	cut     bool                  // whether it was reported that counters are left out of the records
}

// Before reads the metrics. It returns no error, because a gateway without metrics can be measured: After returns it.
func (o *GatewayObserver) Before(ctx context.Context) error {
	if o.err == nil {
		o.before, o.err = o.read(ctx)
	}
	return nil
}

// After reads the metrics and adds the pass to the sums. All units depend on the samples; see FiguresOf.
func (o *GatewayObserver) After(ctx context.Context) (map[string]float64, error) {
	o.pass = nil
	if o.err == nil {
		var after families
		if after, o.err = o.read(ctx); o.err == nil {
			o.err = o.add(after)
		}
	}
	switch {
	case o.err == nil:
		return map[string]float64{}, nil
	case o.told:
		return nil, nil
	}
	o.told = true
	return nil, o.err
}

// add adds the differences between o.before and after to the sums.
func (o *GatewayObserver) add(after families) error {
	if !slices.Equal(o.before.starts(), after.starts()) {
		return errors.New("process_start_time_seconds has changed: the gateway was restarted, or several gateways answer at this address in turn")
	}
	var left int
	if o.pass, left = changes(o.before, after); left > 0 && !o.cut {
		o.cut = true
		o.logf("the records have %d counters of the gateway; %d more have changed", len(o.pass), left)
	}
	o.servers = after.servers()
	return o.sum.add(o.before.tally(), after.tally())
}

// Counters returns the counters that have changed in the last pass, and those from which units are computed, by name and
// labels: their values before and after the pass. A value that is a credential, by the name of its label, is hidden.
func (o *GatewayObserver) Counters() map[string][2]float64 { return o.pass }

// FiguresOf returns the units.
func (o *GatewayObserver) FiguresOf(samples iter.Seq[*sample.Sample]) map[string]float64 {
	if o.err != nil {
		return nil
	}
	figures := map[string]float64{}
	sent := float64(countSent(samples))
	for _, unit := range []string{retriesUnit, overflowUnit, shedUnit} {
		if n, known := o.sum.count(unit); known && sent > 0 {
			figures[unit] = n / sent
		}
	}
	if all := o.sum[decisions]; all > 0 {
		figures[gatewayHitUnit] = 100 * o.sum[hits] / all
	}
	if imbalance, known := o.sum.imbalance(o.servers); known {
		figures[gatewayImbalanceUnit] = imbalance
	}
	if n, _ := o.sum.count(retriesUnit); n > 0 {
		o.logf("the gateway sent requests again, %.0f times by its own counters: it hides refusals or failures, whose time is in the latencies", n)
	}
	return figures
}

func (o *GatewayObserver) logf(format string, args ...any) {
	if o.gateway.Logf != nil {
		o.gateway.Logf(format, args...)
	}
}

func (o *GatewayObserver) read(ctx context.Context) (families, error) {
	return Source{Addresses: o.gateway.Addresses}.read(ctx)
}
