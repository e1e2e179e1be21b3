package backends

import (
	"context"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// portPlaceholder stands for the port of a program; see [Program].
const portPlaceholder = "{port}"

// observeGateway sets t.ObserveGateway if the metrics of a gateway can be read at the addresses. It calls notef to print
// one line if they cannot, or if none of the counters is known. The gateway's observer calls notef, too.
func observeGateway(ctx context.Context, t *llmbench.Target, urls []string, notef func(format string, args ...any)) {
	if len(urls) == 0 {
		return
	}
	var addresses []metrics.Address
	for _, raw := range urls {
		a, err := metrics.Beside(*t, raw)
		if err != nil {
			notef("the gateway's own counters are left out: address of its metrics: %v", err)
			return
		}
		addresses = append(addresses, a)
	}
	found, names, err := metrics.FindGateway(ctx, addresses)
	switch {
	case err != nil:
		notef("the gateway's own counters are left out: %s", oneLine(*t, err))
		return
	case len(names) == 0:
		notef("the gateway's counters are in the records (LLMBENCH_OUT) as they are, and no figure is computed from them: they are not named like the counters of %s", strings.Join(metrics.KnownGateways(), ", "))
	}
	found.Logf = notef
	t.ObserveGateway = found.Observe
}
