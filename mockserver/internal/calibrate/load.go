package calibrate

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
	"golang.org/x/perf/benchfmt"
)

// Results returns the load points in a file in Go benchmark format whose names
// have all the key=value pairs of match, sorted by concurrency. A benchmark is a
// point if its name ends in concurrency=N; several with one name are averaged.
// Each point sends so many requests, or eight times its concurrency, at least 16,
// for 0. The error names the file and the line.
func Results(r io.Reader, name string, match []string, requests int) ([]profiles.Point, error) {
	points := map[int]*profiles.Point{}
	samples := map[int]float64{}
	files := benchfmt.NewReader(r, name)
	for files.Scan() {
		var res *benchfmt.Result
		switch rec := files.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.Result:
			res = rec
		default:
			continue
		}
		keys := nameKeys(string(res.Name.Full()))
		c, err := strconv.Atoi(keys["concurrency"])
		if err != nil || slices.ContainsFunc(match, func(m string) bool {
			k, v, _ := strings.Cut(m, "=")
			return keys[k] != v
		}) {
			continue
		}
		p := points[c]
		if p == nil {
			p = &profiles.Point{Workload: "load", Concurrency: c, Requests: requests, Values: map[string]float64{}}
			if requests == 0 {
				p.Requests = max(8*c, 16)
			}
			points[c] = p
		}
		for _, v := range res.Values {
			unit, value := v.Unit, v.Value
			if v.OrigUnit != "" {
				unit, value = v.OrigUnit, v.OrigValue
			}
			p.Values[unit] += value
		}
		samples[c]++
	}
	if err := files.Err(); err != nil {
		return nil, err
	}
	all := []profiles.Point{}
	for _, c := range slices.Sorted(maps.Keys(points)) {
		p := points[c]
		for u := range p.Values {
			p.Values[u] /= samples[c]
		}
		p.Prompt, p.Output = p.Values["in-tok/req"], p.Values["out-tok/req"]
		if p.Output <= 0 {
			return nil, fmt.Errorf("%s: concurrency=%d: no out-tok/req, want how long the outputs were", name, c)
		}
		all = append(all, *p)
	}
	return all, nil
}

// nameKeys returns the key=value pairs of a benchmark's name, without the
// -GOMAXPROCS at its end.
func nameKeys(name string) map[string]string {
	keys := map[string]string{}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		k, v, _ := strings.Cut(part, "=")
		if i == len(parts)-1 {
			v, _, _ = strings.Cut(v, "-")
		}
		keys[k] = v
	}
	return keys
}

// Records returns the load point in a file of requests as llmbench writes it to
// LLMBENCH_OUT: a line about the benchmark, then one a request. Only requests that
// ended well count.
func Records(r io.Reader, name string) (profiles.Point, error) {
	var head struct {
		Concurrency int `json:"concurrency"`
	}
	type record struct {
		Pass         int            `json:"pass"`
		Start        time.Duration  `json:"start_ns"`
		First        *time.Duration `json:"first_ns"`
		Last         *time.Duration `json:"last_ns"`
		End          time.Duration  `json:"end_ns"`
		PromptTokens int            `json:"prompt_tokens"`
		OutputTokens int            `json:"output_tokens"`
		Outcome      string         `json:"outcome"`
	}
	p := profiles.Point{Workload: "load"}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	var passes []run
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			if err := json.Unmarshal(lines.Bytes(), &head); err != nil || head.Concurrency < 1 {
				return p, fmt.Errorf("%s:1: want the line about the benchmark, with a concurrency of 1 or more: %v", name, err)
			}
			continue
		}
		var q record
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil || q.Pass < 0 || q.Pass > n {
			return p, fmt.Errorf("%s:%d: want a request's record: %v", name, n, err)
		}
		for len(passes) <= q.Pass {
			passes = append(passes, run{})
		}
		s := sent{at: q.Start, end: q.End, tokens: q.OutputTokens, state: failed}
		if q.Outcome == "ok" {
			s.state = succeeded
			if q.Last != nil && *q.Last > 0 {
				s.end = *q.Last
			}
			if q.First != nil {
				s.first = *q.First
			}
			p.Prompt += float64(q.PromptTokens)
			p.Output += float64(q.OutputTokens)
		}
		passes[q.Pass].requests = append(passes[q.Pass].requests, s)
	}
	if err := lines.Err(); err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	p.Concurrency, p.Values = head.Concurrency, map[string]float64{}
	good, full := 0.0, 0.0
	for _, r := range passes {
		v := r.closed(0)
		if v["requests"] == 0 {
			continue
		}
		p.Requests = max(p.Requests, len(r.requests))
		good += v["requests"]
		full++
		for u, x := range v {
			p.Values[u] += x
		}
	}
	if full == 0 {
		return p, fmt.Errorf("%s: no request ended well", name)
	}
	for u := range p.Values {
		p.Values[u] /= full
	}
	for _, double := range []string{"requests", "run-ns", "tok/s"} {
		delete(p.Values, double)
	}
	p.Prompt /= good
	p.Output /= good
	return p, nil
}
