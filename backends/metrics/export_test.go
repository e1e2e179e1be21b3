package metrics

import "github.com/seed-2b9cec6d/llmbench/llmbench/sample"

// NewObserver is [Source.Observe] without the environment: watchGauges says whether
// the usage of the KV cache is read during a pass.
func NewObserver(s Source, watchGauges bool) *Observer {
	return &Observer{source: s, watchGauges: watchGauges}
}

// GatewayFigures returns the units and the counters of a pass with a number of requests and these pages before and after.
func GatewayFigures(before, after []byte, requests int) (map[string]float64, map[string][2]float64, error) {
	then, err := parse(before)
	if err != nil {
		return nil, nil, err
	}
	now, err := parse(after)
	if err != nil {
		return nil, nil, err
	}
	o := Gateway{}.Observe().(*GatewayObserver)
	o.before = then
	err = o.add(now)
	samples := make([]sample.Sample, requests)
	for i := range samples {
		samples[i].Wrote = 1
	}
	return o.FiguresOf(sample.All(samples...)), o.Counters(), err
}
