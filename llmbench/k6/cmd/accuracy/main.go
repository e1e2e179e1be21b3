// Accuracy measures how far the TTFT of the extension is from the TTFT of the server. For each number of VUs it
// runs k6 against a mock server, and compares the median of llm_ttft with the median in the mock's log. It exits
// with 1 if they are more than a millisecond apart. The machine must be idle.
//
//	go run ./cmd/accuracy -vus 64,256
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.k6.io/k6/v2/cmd"

	_ "github.com/seed-2b9cec6d/llmbench/llmbench/k6" // registers the extension
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// asK6 is the variable with which this program is k6.
const asK6 = "ACCURACY_RUNS_K6"

// script sends requests of 64 tokens from each VU. The VUs begin one after the other in the first second.
const script = `
import { sleep } from 'k6';
import { Client } from 'k6/x/llmbench';
const client = new Client();
export const options = { vus: Number(__ENV.VUS), duration: __ENV.DURATION, summaryTrendStats: ['med', 'p(99)', 'count'] };
export default function () {
  if (__ITER === 0) sleep(__VU / Number(__ENV.VUS));
  client.chat({ prompt: 'one two three four', maxTokens: 64, fixedOutput: true });
}
export function handleSummary(data) { return { [__ENV.SUMMARY]: JSON.stringify(data.metrics.llm_ttft.values) }; }
`

// most is how far apart the medians may be.
const most = time.Millisecond

func main() {
	if os.Getenv(asK6) != "" {
		cmd.Execute()
		return
	}
	vus := flag.String("vus", "64,256", "comma `list` of numbers of VUs")
	duration := flag.Duration("duration", 20*time.Second, "`time` of each run")
	flag.Parse()
	ok := true
	fmt.Println("VUs\trequests\tp50 k6\tp50 mock\tp99 k6\tp99 mock\t(TTFT, ms)")
	for n := range strings.SplitSeq(*vus, ",") {
		r, err := measure(n, *duration)
		if err != nil {
			fmt.Fprintf(os.Stderr, "accuracy: %s VUs: %v\n", n, err)
			os.Exit(1)
		}
		fmt.Printf("%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\n", n, r.requests, r.k6.P50, r.mock.P50, r.k6.P99, r.mock.P99)
		apart := time.Duration((r.k6.P50 - r.mock.P50) * float64(time.Millisecond))
		ok = ok && apart.Abs() <= most
	}
	if !ok {
		fmt.Fprintf(os.Stderr, "accuracy: medians are more than %v apart\n", most)
		os.Exit(1)
	}
}

// quantiles are quantiles of TTFT, in milliseconds.
type quantiles struct {
	P50 float64 `json:"med"`
	P99 float64 `json:"p(99)"`
}

// A result is what k6 and the mock say about the same requests.
type result struct {
	requests int
	k6, mock quantiles
}

// measure runs k6 with a number of VUs for a time.
func measure(vus string, duration time.Duration) (r result, err error) {
	mock, err := mockserver.New(mockserver.Config{TTFT: 200 * time.Millisecond, PerToken: 20 * time.Millisecond})
	if err != nil {
		return r, err
	}
	url, stop, err := mockserver.Listen("127.0.0.1:0", mock)
	if err != nil {
		return r, err
	}
	defer stop(time.Second)
	dir, err := os.MkdirTemp("", "accuracy")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	file, summary := filepath.Join(dir, "script.js"), filepath.Join(dir, "summary.json")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return r, err
	}
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	k6 := exec.Command(self, "run", "--no-usage-report", "--quiet", "--address=", file)
	k6.Env = append(os.Environ(), asK6+"=1", "LLMBENCH_URL="+url, "VUS="+vus, "DURATION="+duration.String(), "SUMMARY="+summary)
	if out, err := k6.CombinedOutput(); err != nil {
		return r, fmt.Errorf("k6: %w\n%s", err, out)
	}
	text, err := os.ReadFile(summary)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r.k6); err != nil {
		return r, fmt.Errorf("%s: %w", text, err)
	}
	var ttft []time.Duration
	for _, e := range mock.Log() {
		if !e.Aborted && len(e.Tokens) > 0 {
			ttft = append(ttft, e.Tokens[0]-e.Accepted)
		}
	}
	if len(ttft) == 0 {
		return r, fmt.Errorf("no request has ended in %v", duration)
	}
	slices.Sort(ttft)
	r.requests = len(ttft)
	r.mock = quantiles{ms(sample.Quantile(ttft, 0.5)), ms(sample.Quantile(ttft, 0.99))}
	return r, nil
}

// ms returns nanoseconds as milliseconds.
func ms(ns float64) float64 { return ns / float64(time.Millisecond) }
