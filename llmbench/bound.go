package llmbench

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
