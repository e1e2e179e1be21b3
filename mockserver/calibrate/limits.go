package calibrate

// tolerated is the largest percentage of failed requests. A simulated server fails none,
// so its requests never have the slots of failed ones.
const tolerated = 1

// The largest values of a load. No real load comes near them.
const (
	mostConcurrency = 100_000
	mostRequests    = 10_000_000
	mostTokens      = 1 << 30
)
