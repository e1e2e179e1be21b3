// Package stated says what follows from what a server states about itself: how many requests it serves at once, and, by
// its own counters, which requests it preempted or kept waiting. Each line says what to do. The package asks no server:
// package backends and its metrics do.
package stated

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Load is what a server stated while a load was measured.
type Load struct {
	Name    string  // such as "16 users"
	Users   float64 // 0 in an open loop
	Setting func(key string) string
	Figure  func(unit string) (v float64, known bool)
}

// The units are registered by package backends/metrics, and the configuration lines "server", "slots" and "command" are
// set by package backends.
const (
	preempted = "srv-preempt/op"
	queued    = "srv-queue-ns"
	kvUsed    = "srv-kv-%"
)

// These are the shares from which a wait in the queue and the use of the KV cache matter: of the TTFT, and in percent.
const (
	longQueue = 0.1
	fullCache = 95
)

// Lines returns a line for each limit of one server that the loads reached.
func Lines(loads []Load) (lines []string) {
	if len(loads) == 0 {
		return nil
	}
	most := loads[0]
	for _, l := range loads[1:] {
		if l.Users > most.Users {
			most = l
		}
	}
	server := cmp.Or(most.Setting("server"), "the server")
	slots, option := limit(most.Setting)
	if slots > 0 && most.Users > slots {
		line := fmt.Sprintf("%s serves %s at once: the others only wait, %.0f of %s. ", server, numbers.Count(int(slots), "request"), most.Users-slots, most.Name)
		if option != "" {
			lines = append(lines, line+"To serve more, start it with a larger "+option+".")
		} else {
			lines = append(lines, line+"To serve more, raise its limit.")
		}
	}
	if v, at := largest(loads, preempted); v > 0 {
		lines = append(lines, fmt.Sprintf("%s preempted up to %s requests in a pass, at %s, for lack of KV cache: they begin again. Give the cache more memory, or send less load.", server, brief(v), at.Name))
	} else if v, at := largest(loads, kvUsed); v >= fullCache {
		lines = append(lines, fmt.Sprintf("The KV cache of %s was up to %.0f %% full, at %s: more load will wait. Give the cache more memory.", server, v, at.Name))
	}
	if v, at := largest(loads, queued); v > 0 && len(lines) == 0 {
		if ttft, known := at.Figure(sample.P50TTFT); known && v >= longQueue*ttft {
			lines = append(lines, fmt.Sprintf("Requests waited up to %s in the queue of %s, at %s, of a TTFT of %s. Raise its batch limit, or send less load.", duration(v), server, at.Name, duration(ttft)))
		}
	}
	for i, line := range lines {
		if strings.HasPrefix(line, "the ") {
			lines[i] = "T" + line[1:]
		}
	}
	return lines
}

// brief returns the text of a number with three digits, and never with an exponent.
func brief(v float64) string { return strconv.FormatFloat(numbers.Rounded(v, 3), 'f', -1, 64) }

// duration returns the text of a number of nanoseconds.
func duration(ns float64) string {
	if ns >= 1e9 {
		return brief(ns/1e9) + " s"
	}
	return brief(ns/1e6) + " ms"
}

// largest returns the largest value of a unit, and the load with it.
func largest(loads []Load, unit string) (most float64, at Load) {
	for _, l := range loads {
		if v, known := l.Figure(unit); known && v > most {
			most, at = v, l
		}
	}
	return most, at
}

// options holds the options of servers that limit how many requests are served at once, by the name of the server.
var options = map[string]string{"llama.cpp": "-np", "vLLM": "--max-num-seqs", "SGLang": "--max-running-requests"}

// limit returns how many requests a server serves at once, and the option that sets it. A server states it, or its command
// line does. It is 0 if neither does.
func limit(setting func(key string) string) (slots float64, option string) {
	option = options[setting("server")]
	if v, err := strconv.ParseFloat(setting("slots"), 64); err == nil && v > 0 {
		return v, option
	}
	words := strings.Fields(strings.ReplaceAll(setting("command"), "=", " "))
	for i, word := range words[:max(0, len(words)-1)] {
		for _, option := range options {
			if v, err := strconv.ParseFloat(words[i+1], 64); word == option && err == nil && v > 0 {
				return v, option
			}
		}
	}
	return 0, option
}
