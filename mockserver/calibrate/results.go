package calibrate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
	"golang.org/x/perf/benchfmt"
)

// Results returns what a file in Go benchmark format has measured, a sample each
// line whose benchmark's name has all the key=value pairs of match and a
// concurrency=N. Each has sent so many requests, or eight times its concurrency,
// at least 16, for 0. All outputs of a benchmark are taken to be of one length.
// The error names the file and the line.
func Results(r io.Reader, file string, match []string, requests int) ([]Sample, error) {
	var all []Sample
	lines := benchfmt.NewReader(r, file)
	for lines.Scan() {
		var res *benchfmt.Result
		switch rec := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.Result:
			res = rec
		default:
			continue
		}
		_, line := res.Pos()
		full := string(res.Name.Full())
		if i := strings.LastIndexByte(full, '-'); i > strings.LastIndexByte(full, '/') {
			full = full[:i] // GOMAXPROCS
		}
		n := newName(full)
		if n.concurrency == "" || !n.has(match) {
			continue
		}
		s, err := n.sample()
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		s.Point.Requests = requests
		if requests == 0 {
			s.Point.Requests = max(8*s.Point.Concurrency, 16)
		}
		for _, v := range res.Values {
			unit, value := v.Unit, v.Value
			if v.OrigUnit != "" {
				unit, value = v.OrigUnit, v.OrigValue
			}
			if math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
				return nil, fmt.Errorf("%s:%d: %v %s, want 0 or more", file, line, value, unit)
			}
			s.Point.Values[unit] = value
		}
		if s.Point.Prompt, err = s.tokens("in-tok/req", 0); err == nil {
			s.Point.Output, err = s.tokens("out-tok/req", 1)
		}
		if err == nil && s.Point.Values["fail-%"] > tolerated {
			err = fmt.Errorf("%v %% of the requests failed, want %d at most", s.Point.Values["fail-%"], tolerated)
		}
		if err == nil {
			err = s.positive()
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		all = append(all, s)
	}
	if err := lines.Err(); err != nil {
		return nil, err // it names the file and the line
	}
	return all, nil
}

// tolerated is how many requests in a hundred may have failed: a simulated one
// does not, and leaves no room to others.
const tolerated = 1

// The largest values that a load may have, far beyond any there is.
const (
	mostConcurrency = 100_000
	mostRequests    = 10_000_000
	mostTokens      = 1 << 30
)

// tokens is a mean number of tokens.
func (s Sample) tokens(unit string, least float64) (float64, error) {
	v, ok := s.Point.Values[unit]
	if !ok {
		return 0, fmt.Errorf("no %s, want how many tokens there were", unit)
	}
	if v < least || v > mostTokens {
		return 0, fmt.Errorf("%v %s, want %v to %d", v, unit, least, mostTokens)
	}
	return v, nil
}

// positive checks that what a fit looks at is above 0, as any real one is.
func (s Sample) positive() error {
	for _, u := range units(profiles.Workload{Client: "closed"}) {
		if v, ok := s.Point.Values[u]; ok && v <= 0 {
			return fmt.Errorf("%v %s, want above 0", v, u)
		}
	}
	return nil
}

// A name is a benchmark's, in parts.
type name struct {
	full        string
	server      string // backend, model and quantization
	workload    string // the others, without the concurrency
	concurrency string // "" if it has none
	keys        map[string]string
}

// newName splits a benchmark's name, with or without Benchmark before it and
// without GOMAXPROCS at its end.
func newName(full string) name {
	n := name{full: full, keys: map[string]string{}}
	var server, workload []string
	for part := range strings.SplitSeq(strings.TrimPrefix(full, "Benchmark"), "/") {
		k, v, _ := strings.Cut(part, "=")
		n.keys[k] = v
		switch k {
		case "concurrency":
			n.concurrency = v
		case "backend", "model", "quant":
			server = append(server, part)
		default:
			workload = append(workload, part)
		}
	}
	n.server, n.workload = strings.Join(server, "/"), strings.Join(workload, "/")
	return n
}

// has reports whether the name has all those key=value pairs.
func (n name) has(match []string) bool {
	return !slices.ContainsFunc(match, func(m string) bool {
		k, v, _ := strings.Cut(m, "=")
		return n.keys[k] != v
	})
}

// sample begins a sample of a benchmark.
func (n name) sample() (Sample, error) {
	c, err := strconv.Atoi(n.concurrency)
	if err != nil || c < 1 || c > mostConcurrency {
		return Sample{}, fmt.Errorf("%s: concurrency: %q, want 1 to %d", n.full, n.concurrency, mostConcurrency)
	}
	return Sample{Server: n.server, Point: profiles.Point{Workload: n.workload, Concurrency: c, Values: map[string]float64{}}}, nil
}
