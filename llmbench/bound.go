package llmbench

import "cmp"

// A ClientBound says what happens to figures that the client itself distorted.
type ClientBound string

// The values of a ClientBound.
const (
	BoundFails    ClientBound = "fail"     // the figures are withheld, and the benchmark fails
	BoundWithheld ClientBound = "withhold" // the figures are withheld, and the benchmark logs which
	BoundReported ClientBound = "report"   // the figures are reported, with the unit client-err-%
)

// DefaultMaxDistortion is the share of a figure by which the client may distort it, unless
// the load says otherwise.
const DefaultMaxDistortion = 0.05

// clientBound returns the load's ClientBound, or else that of the environment, or else
// BoundFails. A simulated server's work is that of the client, so that the last default is
// BoundReported for it.
func clientBound(l *Load, cfg config, t Target) ClientBound {
	last := BoundFails
	if t.Simulated {
		last = BoundReported
	}
	return cmp.Or(l.ClientBound, cfg.bound, last)
}
