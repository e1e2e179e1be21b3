package process

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// Tell shows a line once to the person who reads the screen. Without a screen, it shows nothing.
func Tell(text string) {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(text)
}

// tell is Tell. The caller must hold p.mu.
func (p *process) tell(text string) {
	if p.screen == nil || p.follows() || slices.Contains(p.told, text) {
		return
	}
	p.told = append(p.told, text)
	fmt.Fprintln(p.screen, redact.Known().Remove(redact.Line(text)))
}

// tellRow shows a -count sample when it ends. Where the line of its result has begun on the same terminal, as for the
// second sample of a benchmark, it shows nothing. The caller must hold p.mu.
func (p *process) tellRow(e screen.Entry) {
	if p.screen == nil || p.follows() || p.screen.SharesStdout() && p.shown[e.Benchmark] {
		return
	}
	p.shown[e.Benchmark] = true
	fmt.Fprintln(p.screen, redact.Known().Remove(e.Line()))
}

// Loads says how many loads a benchmark measures one after another, in sub-benchmarks.
func Loads(benchmark string, n int) {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loads[benchmark] = n
}

// Expect tells, before the first sample of a load, about how long the load will take, and before the first load of a benchmark
// also about how long all of its loads will take. The load has a number of requests, and one pass of it takes about the given time.
func Expect(load string, requests int, pass time.Duration) {
	p := current
	p.mu.Lock()
	defer p.mu.Unlock()
	benchmark := load[:max(0, strings.LastIndexByte(load, '/'))]
	if p.expected[load] {
		return
	}
	loads := p.loads[benchmark]
	if p.expected[benchmark] {
		loads = 1 // all of them are told
	}
	p.expected[load], p.expected[benchmark] = true, true
	if passes, err := strconv.Atoi(strings.TrimSuffix(flag.Lookup("test.benchtime").Value.String(), "x")); err == nil {
		pass *= time.Duration(passes)
	}
	count := 1
	if n, err := strconv.Atoi(flag.Lookup("test.count").Value.String()); err == nil {
		count = n
	}
	if text := expectation(load, requests, pass, loads, count); text != "" {
		p.tell(text)
	}
}

// leastExpected is the shortest time that Expect tells.
const leastExpected = 3 * time.Second

// expectation says about how long a sample of a load will take, and all samples of all loads of its benchmark if there are
// several. It returns "" if that is so short that nobody asks.
func expectation(load string, requests int, one time.Duration, loads, count int) string {
	loads, count = max(1, loads), max(1, count)
	all := one * time.Duration(loads*count)
	if all < leastExpected {
		return ""
	}
	about := func(d time.Duration) string { return max(d.Round(time.Second), time.Second).String() }
	text := fmt.Sprintf("%s: %s, about %s", screen.Short(load), numbers.Count(requests, "request"), about(one))
	switch {
	case loads > 1 && count > 1:
		text += fmt.Sprintf("; all %d loads, %d times each, take about %s, or longer where requests wait", loads, count, about(all))
	case loads > 1:
		text += fmt.Sprintf("; all %d loads take about %s, or longer where requests wait", loads, about(all))
	case count > 1:
		text += fmt.Sprintf("; all %d samples take about %s", count, about(all))
	}
	return text
}
