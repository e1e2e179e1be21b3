package gate

import "io"

// A File is a file in the Go benchmark format
// (https://go.dev/design/14313-benchmark-format).
type File struct {
	Name string    // the name of the file in messages
	Data io.Reader // read to its end and not closed; nil means an empty file
}

// Options control how [Compare] decides. The zero value selects the defaults.
type Options struct {
	// Alpha limits the probability that a comparison of two equal versions ends
	// in Regression, over all gated cells together. The range is above 0 to
	// 0.5; 0 means DefaultAlpha.
	Alpha float64
	// Ignore lists further configuration keys that may differ, besides those
	// that [Ignored] returns. A key that begins with a slash is a key of
	// benchmark names, for example /gomaxprocs.
	Ignore []string
	// Planned is the final number of samples a side, if the files are compared
	// while samples are still being added. The verdict then counts only if
	// Report.Settled is true, and Report.Alpha is the part of Alpha that this
	// comparison may spend. 0 means that the files are complete.
	Planned int
	// RequireQuiet keeps a row from passing if the noise of its samples is
	// larger than its margin, see Row.Noise.
	RequireQuiet bool
}

// DefaultAlpha is the Alpha of zero Options.
const DefaultAlpha = 0.025

// Ignored returns the configuration keys that may always differ. They state which
// version was measured, and when. Two results are not comparable if any other key
// differs.
func Ignored() []string {
	return []string{"branch", "commit", "commit-time", "date", "go", "toolchain"}
}
