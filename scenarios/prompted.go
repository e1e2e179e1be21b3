package scenarios

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// prompted returns the value of workload= in benchmark names, s with the configuration lines of the data set, and a
// function that draws requests: from the data set in the options, or else random prompts. Random prompts have the lengths
// in the options, or else the given ones.
func (s server) prompted(input, output int) (workload string, with server, draw drawFunc) {
	if d := s.options.Dataset; d != "" && d != "random" {
		s.options = s.options.withLengths(input, output)
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

// knowingShares returns s with the field shares set.
func (s server) knowingShares() server {
	if s.options.Dataset != "" {
		data, err := s.dataset(0, 0) // whoever opens it later reports the error
		s.shares = err == nil && shares(data)
	}
	return s
}

// shares reports whether the prompts of a data set begin alike on purpose.
func shares(w benchdata.Workload) bool {
	switch w := w.(type) {
	case benchdata.Prompts:
		return w.SharedPrefix > 0
	case benchdata.Random:
		return w.Prefix > 0
	case benchdata.Drawn:
		return w.SharedPrefix > 0
	case benchdata.Trace:
		return w.Format == benchdata.Mooncake || w.Format == benchdata.Bailian // they say which blocks prompts have in common
	case benchdata.PrefixRepetition, benchdata.SharedPrefix, benchdata.Sonnet:
		return true
	}
	return false
}

// pathOf returns the path of the file of a data set, with the parameters after it, or "" if the data set has no file.
func pathOf(dataset string) string {
	if rest := dataset[len(kindOf(dataset)):]; strings.HasPrefix(rest, ":") {
		return rest[1:]
	}
	return ""
}

// datasetLine returns the configuration line of a data set: the name of its file, and its parameters.
func datasetLine(dataset string) string {
	if path := pathOf(dataset); path != "" {
		return filepath.Base(path)
	}
	_, list, _ := strings.Cut(dataset, "?")
	parts := strings.Split(list, "&")
	for i, part := range parts {
		if path, is := strings.CutPrefix(part, "lengths="); is {
			parts[i] = "lengths=" + filepath.Base(path)
		}
	}
	return strings.Join(parts, "&")
}

// entropyText returns the entropy of the source of a data set's words, or "" if the data set has no source.
func entropyText(dataset string) string {
	w, err := benchdata.Open(dataset, benchdata.Options{})
	d, _ := w.(benchdata.Drawn)
	if err != nil || d.Source == nil {
		return ""
	}
	return fmt.Sprintf("%.2f bits/word", d.Source.Entropy())
}
