package scenarios

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// prompted returns the value of workload= in benchmark names, s with the configuration lines of the data set, and a
// function that draws requests: from the data set in the options, or else random prompts. Random prompts have the lengths
// in the options, or else the given ones.
func (s server) prompted(input, output int) (workload string, with server, draw drawFunc) {
	if d := s.options.Dataset; d != "" && d != "random" {
		return workloadName(s.options), s.withConfig(configLines(s.options)), func(n int, seed uint64) (all []llmbench.Request, err error) {
			for round := 0; len(all) < n; round++ { // a file may have fewer texts, which begin with other words in each round
				more, err := s.drawDataset(n-len(all), seed, s.target.Salt(seed, round))
				if err != nil {
					return nil, err
				}
				if len(more) == 0 {
					return nil, fmt.Errorf("LLMBENCH_DATASET=%s: no requests", d)
				}
				all = append(all, more...)
			}
			return all, nil
		}
	}
	in, out := s.lengths(input, output)
	return fmt.Sprintf("random-%dx%d", in, out), s, s.drawPrompts(in, out)
}

// shares reports whether the prompts of a data set begin alike on purpose.
func shares(w benchdata.Workload) bool {
	switch w := w.(type) {
	case benchdata.Prompts:
		return w.SharedPrefix > 0
	case benchdata.Random:
		return w.Prefix > 0
	case benchdata.Trace:
		return w.Format == benchdata.Mooncake || w.Format == benchdata.Bailian // they say which blocks prompts have in common
	case benchdata.PrefixRepetition, benchdata.SharedPrefix, benchdata.Sonnet:
		return true
	}
	return false
}
