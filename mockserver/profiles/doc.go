// Package profiles has the speed of servers that were measured, as engines fitted
// to what was published of them.
//
// Each profile is a JSON file with the name that LLMBENCH_MOCK takes: the figures
// and where they stand, what the fit was told and what it found, and how far off
// it is where it predicts load points that it has not seen. cmd/calibrate writes
// them.
package profiles
