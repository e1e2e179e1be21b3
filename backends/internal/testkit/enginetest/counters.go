package enginetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Counters names what an engine counts in its Prometheus metrics. A name may be followed by {LABEL="VALUE": then
// only series with that label count. The values of several names and series are added up.
type Counters struct {
	Requests, Prompt, Output []string // requests that have ended well, and their tokens
	Cached                   []string // prompt tokens that were found in the prefix cache
	Queue                    string   // histogram of seconds in the queue
	// Histograms of the latencies of requests, in seconds, without the suffixes _sum and _count.
	TTFT, E2E, TPOT string
}

// Metrics are the metrics of an engine at one instant: values by series, such as name{label="value"}.
type Metrics map[string]float64

// Metrics reads the engine's metrics from /metrics. It shares no code with package metrics, whose readings it
// judges.
func (s *Server) Metrics(ctx context.Context) (Metrics, error) {
	body, err := s.get(ctx, "/metrics")
	if err != nil {
		return nil, err
	}
	m := Metrics{}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' {
			continue
		}
		v, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("metrics of %s: %q: %w", s.Name, line, err)
		}
		m[line[:at]] = v
	}
	return m, nil
}

// Sum adds up the series of all names, in the form of [Counters].
func (m Metrics) Sum(names ...string) (sum float64) {
	for _, name := range names {
		name, label, _ := strings.Cut(name, "{")
		for series, v := range m {
			if base, labels, _ := strings.Cut(series, "{"); base == name && strings.Contains(labels, label) {
				sum += v
			}
		}
	}
	return sum
}

// Mean returns the mean of what a histogram observed between an earlier instant and m, and the number of
// observations.
func (m Metrics) Mean(earlier Metrics, histogram string) (mean, count float64) {
	count = m.Sum(histogram+"_count") - earlier.Sum(histogram+"_count")
	return (m.Sum(histogram+"_sum") - earlier.Sum(histogram+"_sum")) / count, count
}

// client uses no proxy, and opens a new connection for each request. An engine that accepts a connection and does not
// answer is asked again while it starts, and is an error afterwards.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}

// get returns the body of an answer with status 200.
func (s *Server) get(ctx context.Context, path string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+s.Key)
	res, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %.300s", path, res.Status, body)
	}
	return string(body), err
}
