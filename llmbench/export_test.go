package llmbench

// Exported for external tests, which import packages that import this one.
var (
	OnePass  = onePass
	InMemory = inMemory
)
