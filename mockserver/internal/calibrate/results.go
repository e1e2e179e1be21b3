package calibrate

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

// Results reads a file in Go benchmark format. It returns a sample for each result whose benchmark name has a
// concurrency=N and all key=value pairs of match. The file does not say how many requests a result has: Results
// assumes requests or, if that is 0, eight times the concurrency but at least 16. It also assumes that all
// outputs of a benchmark have the same length. The error names the file and the line.
func Results(r io.Reader, file string, match []string, requests int) ([]Sample, error) {
	results, err := benchfile.Read(r, file)
	if err != nil {
		return nil, err
	}
	var all []Sample
	for _, res := range results {
		n := newName(res.Name)
		if n.concurrency == "" || !n.has(match) {
			continue
		}
		s, err := n.sample()
		if err == nil {
			err = s.take(res.Values, requests)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, res.Line, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// take sets the sample's values to the values of a result.
func (s *Sample) take(values []benchfile.Value, requests int) (err error) {
	s.Point.Requests = requests
	if requests == 0 {
		s.Point.Requests = max(8*s.Point.Concurrency, 16)
	}
	for _, v := range values {
		if v.Value < 0 {
			return fmt.Errorf("%v %s: want 0 or more", v.Value, v.Unit)
		}
		s.Point.Values[v.Unit] = v.Value
	}
	if s.Point.Prompt, err = s.tokens(sample.PromptLength, 0); err != nil {
		return err
	}
	if s.Point.Output, err = s.tokens(sample.OutputLength, 1); err != nil {
		return err
	}
	if failed := s.Point.Values[sample.FailShare] + s.Point.Values[sample.ShedShare]; failed > tolerated {
		return fmt.Errorf("%v %% of the requests failed: want %d at most", failed, tolerated)
	}
	return s.positive()
}

// tokens returns the sample's mean number of tokens in the given unit. It is an error if the number is missing,
// below least or too large.
func (s Sample) tokens(unit string, least float64) (float64, error) {
	v, ok := s.Point.Values[unit]
	if !ok {
		return 0, fmt.Errorf("no %s: want how many tokens there were", unit)
	}
	if v < least || v > mostTokens {
		return 0, fmt.Errorf("%v %s: want %v to %d", v, unit, least, mostTokens)
	}
	return v, nil
}

// positive returns an error if any value that a fit uses is 0 or negative.
func (s Sample) positive() error {
	for _, u := range units(profiles.Workload{Client: "closed"}) {
		if v, ok := s.Point.Values[u]; ok && v <= 0 {
			return fmt.Errorf("%v %s: want above 0", v, u)
		}
	}
	return nil
}

// A name is the name of a benchmark, split into parts.
type name struct {
	benchfile.Name
	server      string // backend, model and quantization
	workload    string // all other parts except the concurrency
	concurrency string // empty if there is none
}

// newName splits the name of a benchmark.
func newName(n benchfile.Name) name {
	parts := name{Name: n, concurrency: n.Key("concurrency")}
	var server []string
	workload := []string{n.Base}
	for _, k := range n.Keys {
		part := k.Key + "=" + k.Value
		switch k.Key {
		case "concurrency":
		case "backend", "model", "quant":
			server = append(server, part)
		default:
			workload = append(workload, part)
		}
	}
	parts.server, parts.workload = strings.Join(server, "/"), strings.Join(workload, "/")
	return parts
}

// has reports whether the name has all key=value pairs of match.
func (n name) has(match []string) bool {
	return !slices.ContainsFunc(match, func(m string) bool {
		k, v, _ := strings.Cut(m, "=")
		return n.Key(k) != v
	})
}

// sample returns a sample for the benchmark, without values.
func (n name) sample() (Sample, error) {
	c, err := strconv.Atoi(n.concurrency)
	if err != nil || c < 1 || c > mostConcurrency {
		return Sample{}, fmt.Errorf("%s: concurrency: %q: want 1 to %d", n.WithoutProcs(), n.concurrency, mostConcurrency)
	}
	return Sample{Server: n.server, Point: profiles.Point{Workload: n.workload, Concurrency: c, Values: map[string]float64{}}}, nil
}
