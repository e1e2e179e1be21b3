package compat

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// run returns a pass that is read from lines of requests. The fields in head replace fields of the
// first line.
func run(t testing.TB, head string, requests ...string) Pass {
	t.Helper()
	fields := map[string]any{"dialect": "openai-chat", "stream": true, "concurrency": 2, "model": "m", "benchmark": "B",
		"start": "2026-01-02T03:04:05Z", "host": map[string]string{"go": "go1.26"}}
	assert.NilError(t, json.Unmarshal([]byte("{"+head+"}"), &fields))
	first, err := json.Marshal(fields)
	assert.NilError(t, err)
	r, err := records.Read(strings.NewReader(string(first)+"\n"+strings.Join(requests, "\n")+"\n"), "f")
	assert.NilError(t, err)
	return Of(r, 0)
}

// req returns the line of a streamed request. It has the instants of the deltas in ms, and some
// more fields.
func req(start int, texts []int, end int, fields string) string {
	const ms = 1_000_000
	first, last, gaps := "null", "null", []string{}
	for i, at := range texts {
		if i == 0 {
			first = fmt.Sprint(at * ms)
		} else {
			gaps = append(gaps, fmt.Sprint((at-texts[i-1])*ms))
		}
		last = fmt.Sprint(at * ms)
	}
	if !strings.Contains(fields, `"outcome"`) {
		fields += `,"outcome":"ok"`
	}
	if !strings.Contains(fields, `"status"`) {
		fields += `,"status":200`
	}
	return fmt.Sprintf(`{"id":"a","due_ns":%d,"start_ns":%d,"first_ns":%s,"last_ns":%s,"gaps_ns":[%s],"end_ns":%d,%s}`,
		start*ms, start*ms, first, last, strings.Join(gaps, ","), end*ms, strings.TrimPrefix(fields, ","))
}

// wire returns the fields about events that other tools count. Instants are in ms.
func wire(before, after, first, last, lastEvent, done int) string {
	const ms = 1_000_000
	return fmt.Sprintf(`"choices":{"before":%d,"amid":0,"after":%d,"first_ns":%d,"last_ns":%d},"last_event_ns":%d,"done_ns":%d`,
		before, after, first*ms, last*ms, lastEvent*ms, done*ms)
}

// usage returns the fields of the token counts that the server reported in an event without a
// choice.
func usage(prompt, output int) string {
	return fmt.Sprintf(`"prompt_tokens":%d,"output_tokens":%d,"token_source":"usage","usage_alone":true`, prompt, output)
}

// figure returns a value of a tool. Its name is the one that the tables of tests use. Times are in
// ms.
func figure(t testing.TB, tool string, p Pass, name string) Value {
	t.Helper()
	found, err := Find(tool)
	assert.NilError(t, err)
	f := found.Figures(p)
	switch name {
	case "completed":
		return f.Completed
	case "failed":
		return f.Failed
	case "duration":
		return f.Duration
	case "in":
		return f.InputTokens
	case "out":
		return f.OutputTokens
	case "req/s":
		return f.Requests
	case "tok/s":
		return f.Output
	case "total tok/s":
		return f.Total
	case "good":
		return f.Good
	case "peak tok/s":
		return f.PeakOutput
	case "peak req":
		return f.PeakRequests
	case "pp", "tg", "Concurrency", "Input token throughput", "Overall Latency Per Token":
		return f.Extra[name].Mean
	case "tg std":
		return f.Extra["tg"].Std()
	}
	stat, of, _ := strings.Cut(name, " ")
	l := map[string]Latency{"ttft": f.TTFT, "tpot": f.TPOT, "itl": f.ITL, "e2e": f.E2E}[of]
	switch stat {
	case "mean":
		return ms(l.Mean)
	case "std":
		return ms(l.Std())
	}
	var percent float64
	_, err = fmt.Sscanf(stat, "p%g", &percent)
	assert.NilError(t, err, name)
	return ms(l.At(percent))
}
