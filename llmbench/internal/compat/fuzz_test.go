package compat

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// FuzzTools looks for records with which a tool panics or gives an impossible value.
func FuzzTools(f *testing.F) {
	const head = `{"version":1,"benchmark":"B","dialect":"openai-chat","stream":true,"concurrency":1,"slo":"ttft=1s","start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"}}` + "\n"
	whole := req(0, []int{100, 140}, 190, wire(1, 1, 90, 150, 160, 170)+","+usage(7, 2)) + "\n"
	f.Add(head + whole + whole)
	f.Add(head + whole + strings.Replace(whole, `"outcome":"ok"`, `"outcome":"truncated"`, 1))
	f.Add(head + strings.Replace(whole, `"outcome":"ok"`, `"outcome":"http"`, 1))
	f.Add(head + strings.Replace(whole, `"outcome":"ok"`, `"outcome":"truncated","error":"stream is truncated"`, 1))
	f.Add(strings.Replace(head, `"stream":true`, `"stream":false`, 1) + req(0, nil, 190, usage(7, 2)) + "\n")
	f.Add(head + strings.Replace(req(5000, []int{5100}, 5190, wire(0, 0, 5100, 5100, 5100, 5100)+","+usage(7, 2)), `"first_ns":5100000000,"last_ns":5100`, `"first_ns":1,"last_ns":5100`, 1) + "\n")
	f.Add(head + strings.Replace(whole, `"last_ns":150000000`, `"last_ns":9000000000000000000`, 1))
	f.Fuzz(func(t *testing.T, text string) {
		run, err := records.Read(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		for pass := range min(3, run.Passes()) {
			p := Of(run, pass)
			for _, tool := range Tools {
				fig := tool.Figures(p)
				for name, v := range map[string]Value{"completed": fig.Completed, "duration": fig.Duration, "req/s": fig.Requests, "tok/s": fig.Output,
					"ttft": fig.TTFT.Mean, "tpot": fig.TPOT.Mean, "itl": fig.ITL.Mean, "e2e": fig.E2E.Mean, "peak": fig.PeakRequests} {
					if v.known() && (!(v.V >= 0) || math.IsInf(v.V, 0)) && run.Len() < 1000 {
						t.Fatalf("%s: %s is %v", tool.Name, name, v.V)
					}
				}
				tool.Summary(p)
				for _, v := range tool.Versions {
					tool := tool.as(v)
					tool.Summary(p)
					if v.result == nil {
						continue
					}
					if _, err := tool.Result(p); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

// TestOverlaps compares the result with a count of the ranges in every second.
func TestOverlaps(t *testing.T) {
	spans := [][2]time.Duration{{0, 3}, {3, 3}, {1, 2}, {4, 9}, {4, 4}, {5, 5}, {9, 9}, {2, 4}}
	var o overlaps
	touched := map[time.Duration]int{}
	for _, s := range spans {
		o.add(s[0], s[1])
		want := 0
		for at := s[0]; at <= s[1]; at++ {
			touched[at]++
		}
		for _, n := range touched {
			want = max(want, n)
		}
		if got := (&overlaps{append([]time.Duration(nil), o.from...), append([]time.Duration(nil), o.to...)}).most(); got != want {
			t.Errorf("after %v: %d at once, want %d", s, got, want)
		}
	}
}
