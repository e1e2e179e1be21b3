package llmbench

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// sums returns n questions, each with a check of the answer.
func sums(n int) (all []Request) {
	for i := range n {
		all = append(all, Request{Prompt: fmt.Sprintf("What is %d + %d?", i+1, 3*i), MaxTokens: 64, Check: check.Number(fmt.Sprint(4*i + 1))})
	}
	return all
}

// TestWrongServers checks that the accuracy reveals servers that answer quickly but wrongly. For a server
// that mixes up the answers of large batches, the accuracy must be low with 64 requests at once, and not
// with one.
func TestWrongServers(t *testing.T) {
	for _, c := range []struct {
		name         string
		faults       []fault.Fault
		alone, at64  [2]float64 // minimum and maximum of accuracy-%
		wrongIsAlike bool       // wrong answers have as many tokens as right ones
	}{
		{"right", nil, [2]float64{100, 100}, [2]float64{100, 100}, true},
		{"5 % wrong", []fault.Fault{{Kind: fault.Wrong, Share: 0.05, Seed: 1}}, [2]float64{90, 98}, [2]float64{90, 98}, true},
		{"wrong above 32", []fault.Fault{{Kind: fault.Wrong, Share: 0.5, Above: 32}}, [2]float64{100, 100}, [2]float64{40, 90}, true},
		{"cut short", []fault.Fault{{Kind: fault.Short, Every: 4}}, [2]float64{74, 76}, [2]float64{74, 76}, false},
		{"exchanged above 32", []fault.Fault{{Kind: fault.Swap, Every: 1, Above: 32}}, [2]float64{100, 100}, [2]float64{0, 70}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for users, want := range map[int][2]float64{1: c.alone, 64: c.at64} {
				synctest.Test(t, func(t *testing.T) {
					mock, err := mockserver.New(mockserver.Config{TTFT: 100 * time.Millisecond, PerToken: time.Millisecond, Faults: c.faults})
					assert.NilError(t, err)
					target, stop := inMemory(t, mock)
					defer stop()
					target.Simulated = true
					const n = 320
					samples := onePass(t, target, Load{Requests: sums(n), Concurrency: users})
					got := sample.Summarize(sample.All(samples...), time.Second, sample.SLO{}).Metrics
					assert.Assert(t, got["accuracy-%"] >= want[0] && got["accuracy-%"] <= want[1], "%d at once: accuracy %v %%, want %v", users, got["accuracy-%"], want)
					assert.Equal(t, got["fail-%"], 0.0)
					assert.Equal(t, got["out-tok/req"] == 9, c.wrongIsAlike, "%v tokens a request", got["out-tok/req"])
					wrong := 0
					for _, e := range mock.Log() {
						if e.Fault == fault.Swap && e.Swapped != 0 || e.Fault == fault.Wrong || e.Fault == fault.Short {
							wrong++
						}
					}
					assert.Equal(t, 100*float64(n-wrong)/n, got["accuracy-%"], "%d at once: the log has %d wrong answers", users, wrong)
				})
			}
		})
	}
}
