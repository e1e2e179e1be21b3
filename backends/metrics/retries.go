package metrics

import (
	"iter"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// FiguresOf returns the unit retries/req if the server counts the requests that reach it. If a gateway refused
// requests itself, fewer may have reached the server than were sent, and the gateway's retries are then unknown.
func (o *Observer) FiguresOf(samples iter.Seq[*sample.Sample]) map[string]float64 {
	if o.err != nil || o.sum.arrivals == nil {
		return nil
	}
	sent := countSent(samples)
	more := int(*o.sum.arrivals) - sent
	if sent == 0 || more < 0 {
		return nil
	}
	if more > 0 && o.source.Logf != nil {
		o.source.Logf("%d requests reached the server, and the client sent %d: a gateway between them sent requests again, and hides refusals or failures, whose time is in the latencies, or the server also served other clients", int(*o.sum.arrivals), sent)
	}
	return map[string]float64{retriesUnit: float64(more) / float64(sent)}
}

// countSent returns the number of requests that were sent.
func countSent(samples iter.Seq[*sample.Sample]) (sent int) {
	for s := range samples {
		if s.Wrote > 0 || s.FirstByte > 0 {
			sent++
		}
	}
	return sent
}
