package launch

import (
	"regexp"
	"slices"
	"sync"
)

// A Failure is a known reason why a server cannot start.
type Failure struct {
	Log    string // regular expression that matches a line of the server's log
	Advice string // what the user can do about it
	// WithGPU means that the line is a failure only if a GPU was requested: some servers print the line and
	// continue without a GPU.
	WithGPU bool
}

// patterns maps the text of regular expressions to their compiled form.
var patterns sync.Map

// Shows reports whether a line of the log shows the failure. gpu says whether a GPU was requested.
func (f Failure) Shows(line string, gpu bool) bool {
	if f.WithGPU && !gpu {
		return false
	}
	p, found := patterns.Load(f.Log)
	if !found {
		p, _ = patterns.LoadOrStore(f.Log, regexp.MustCompile(f.Log))
	}
	return p.(*regexp.Regexp).MatchString(line)
}

// Advice returns the advice of the first failure that any of the lines shows, or "".
func Advice(failures []Failure, gpu bool, lines []string) string {
	for _, f := range failures {
		if slices.ContainsFunc(lines, func(line string) bool { return f.Shows(line, gpu) }) {
			return f.Advice
		}
	}
	return ""
}
