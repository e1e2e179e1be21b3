package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// metrics returns the server's metrics in Prometheus' text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/). Counters of requests and tokens have
// their true values, and each request has waited in queues for a millisecond. All other counters are 0, and
// all other gauges are 0.5.
func (s *server) metrics() []byte {
	var requests, prompt, output int
	s.mu.Lock()
	for _, m := range s.models {
		for _, e := range m.Log() {
			if e.Status == 200 {
				requests++
				prompt += e.PromptTokens
				output += e.OutputTokens
			}
		}
	}
	s.mu.Unlock()
	var b bytes.Buffer
	for _, m := range s.facts.Metrics {
		if m.Until != "" || m.Since != "" || m.Needs != "" && !s.set.Has(m.Needs) {
			continue
		}
		fmt.Fprintf(&b, "# TYPE %s %s\n", m.Name, m.Type)
		amount := amountOf(m.Name, requests, prompt, output)
		switch m.Type {
		case "histogram", "summary":
			if strings.Contains(m.Name, "time") || strings.Contains(m.Name, "duration") || strings.Contains(m.Name, "seconds") || strings.Contains(m.Name, "latency") {
				fmt.Fprintf(&b, "%s_sum %g\n", m.Name, float64(requests)/1000)
			} else {
				fmt.Fprintf(&b, "%s_sum %d\n", m.Name, amount)
			}
			if m.Type == "histogram" {
				fmt.Fprintf(&b, "%s_bucket{le=\"+Inf\"} %d\n", m.Name, requests)
			}
			fmt.Fprintf(&b, "%s_count %d\n", m.Name, requests)
		case "gauge":
			fmt.Fprintf(&b, "%s 0.5\n", m.Name)
		default:
			fmt.Fprintf(&b, "%s %d\n", m.Name, amount)
		}
	}
	return b.Bytes()
}

// amountOf returns the value of a counter. It recognises what the counter counts by words in its name that
// servers commonly use.
func amountOf(name string, requests, prompt, output int) int {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
	}
	switch {
	case has("preempt", "retract", "error", "fail", "abort"):
		return 0
	case has("cached", "hits"):
		return prompt / 2
	case has("generat", "predicted", "output"):
		return output
	case has("prompt", "input", "queries"):
		return prompt
	case has("success", "request"):
		return requests
	}
	return 0
}
