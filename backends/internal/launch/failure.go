package launch

import (
	"regexp"
	"slices"
	"sync"
)

// A Failure is a known reason why a server cannot start.
type Failure struct {
	Log    string // regular expression that matches a line of the server's log
	Advice string // what the user can do, as a sentence
	// WithGPU makes the line a failure only if a GPU was requested. Some servers
	// print the line and go on without a GPU.
	WithGPU bool
}

// patterns holds compiled regular expressions of failures by their text.
var patterns sync.Map

// Shows reports whether a line of the log shows the failure. gpu says whether the server was to use a GPU.
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

// Advice returns the advice for the first of the failures that a line shows, or "".
func Advice(failures []Failure, gpu bool, lines []string) string {
	for _, f := range failures {
		if slices.ContainsFunc(lines, func(line string) bool { return f.Shows(line, gpu) }) {
			return f.Advice
		}
	}
	return ""
}
