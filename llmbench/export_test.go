package llmbench

// For tests that import packages which import this one.
var (
	OnePass  = onePass
	InMemory = inMemory
)
