package calibrate

// tolerated is the largest accepted percentage of failed requests. No request fails in a simulated server, so
// it cannot imitate the effect of failed requests on the others.
const tolerated = 1

// The largest accepted values of a load. Real loads are far below them.
const (
	mostConcurrency = 100_000
	mostRequests    = 10_000_000
	mostTokens      = 1 << 30
)
