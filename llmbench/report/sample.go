package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// A samples has the runs of one benchmark, one for each -count sample.
type samples struct {
	name string
	runs []*records.Run
}

// samplesOf groups runs by folder, benchmark, configuration and whether they failed. It
// leaves out runs without requests.
func samplesOf(runs []*records.Run) (all []*samples) {
	by := map[string]*samples{}
	for _, run := range runs {
		if run.Len() == 0 {
			continue
		}
		failed := run.Failed() != ""
		id := fmt.Sprintf("%q %q %q %v", filepath.Dir(run.Name), run.Head.Benchmark, run.Head.Config, failed)
		s := by[id]
		if s == nil {
			s = &samples{name: strings.TrimPrefix(run.Head.Benchmark, "Benchmark")}
			if s.name == "" {
				s.name = "benchmark"
			}
			if failed {
				s.name += " (failed)"
			}
			by[id] = s
			all = append(all, s)
		}
		s.runs = append(s.runs, run)
	}
	seen := map[string]int{}
	for _, s := range all { // groups of one name differ in folder or configuration
		if seen[s.name]++; seen[s.name] > 1 {
			s.name = fmt.Sprintf("%s (%d)", s.name, seen[s.name])
		}
	}
	return all
}

// doubt returns a sentence about why figures of the samples cannot be used, or "".
func (s *samples) doubt() string {
	var reasons []string
	for _, run := range s.runs {
		if why := run.Failed(); why != "" {
			return " The benchmark has no result: " + strings.TrimSuffix(firstLine(why), ":") + "."
		}
		for _, why := range run.WhyWithheld() {
			if !slices.Contains(reasons, why) {
				reasons = append(reasons, why)
			}
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	return " The benchmark withheld figures, which are as wrong in this picture: " + strings.Join(reasons, "; ") + "."
}
