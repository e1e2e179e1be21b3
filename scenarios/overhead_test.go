package scenarios

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestAddedCovers simulates gateways that add 0.5 ms, and counts the intervals of 95 % that contain it. What the
// requests of a pass have in common is the machine's doing.
func TestAddedCovers(t *testing.T) {
	const rounds, requests, runs = 8, 12, 600
	random := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		name string
		pass func(round int) float64 // by how many ms the requests of the next pass are slower
	}{
		{"requests are independent", func(int) float64 { return 0 }},
		{"rounds differ", func(round int) float64 { return float64(round % 3) }},
		{"passes differ", func(int) float64 { return random.NormFloat64() }},
		{"one pass in ten is slow", func(int) float64 { return 50 * max(0, random.Float64()-0.9) }},
	} {
		pass := func(arm float64) iter.Seq[*sample.Sample] {
			var all []sample.Sample
			s := sample.Sample{Outcome: sample.OK, Streamed: true, Deltas: 1}
			for s.Pass = range rounds {
				slow := 10 + 0.5*arm + tt.pass(s.Pass)
				for range requests {
					s.First = time.Duration(1e6 * (slow + random.ExpFloat64()))
					all = append(all, s)
				}
			}
			return sample.All(all...)
		}
		hit := 0
		for range runs {
			f := overheadOf(pass(0), pass(1), nil, 0).figures
			if f["added-ttft-low-ms"] <= 0.5 && 0.5 <= f["added-ttft-high-ms"] {
				hit++
			}
		}
		covered := 100 * float64(hit) / runs
		t.Logf("%s: %.1f %%", tt.name, covered)
		assert.Check(t, covered >= 93 && covered <= 97, "%s: %.1f %%", tt.name, covered)
	}
}

// TestLogCancels simulates a server whose latency varies by hundreds of milliseconds, as with many users, behind a
// gateway that adds 3 ms. With the server's log the interval is narrow, and without it the interval is wide.
func TestLogCancels(t *testing.T) {
	const rounds, requests = 8, 64
	random := rand.New(rand.NewPCG(7, 8))
	log := serverLog{}
	arm := func(name string, added float64) iter.Seq[*sample.Sample] {
		var all []sample.Sample
		for pass := range rounds {
			slow := 300 * random.Float64() // of the whole pass
			for i := range requests {
				ms := func(v float64) time.Duration { return time.Duration(1e6 * v) }
				server := 20 + slow + 200*random.Float64()
				s := sample.Sample{ID: fmt.Sprintf("%s-%d-%d", name, pass, i), Pass: pass, Outcome: sample.OK, Streamed: true, Deltas: 1, First: ms(server + 0.15 + added + 0.2*random.ExpFloat64())}
				s.Last = s.First
				all = append(all, s)
				log[s.ID] = logEntry{ID: s.ID, Accepted: time.Hour, Tokens: []time.Duration{time.Hour + ms(server)}, End: time.Hour + ms(server)}
			}
		}
		return sample.All(all...)
	}
	direct, gateway := arm("d", 0), arm("g", 3)
	width := func(f map[string]float64) float64 { return f["added-ttft-high-ms"] - f["added-ttft-low-ms"] }
	byLog, byPairs := overheadOf(direct, gateway, log, 0).figures, overheadOf(direct, gateway, nil, 0).figures
	assert.Assert(t, width(byPairs) > 20, "%v", byPairs)
	assert.Assert(t, width(byLog) < 0.2 && byLog["added-ttft-low-ms"] <= 3 && 3 <= byLog["added-ttft-high-ms"], "%v", byLog)
	assert.Assert(t, byLog["added-p99-ttft-ms"] > 3.5 && byLog["added-p99-ttft-ms"] < 4.5, "%v", byLog) // 3 ms + 0.2 ms * ln(100) less the median
	delete(log, "d-0-0")
	assert.DeepEqual(t, overheadOf(direct, gateway, log, 0).figures, byPairs)
}

// TestOverheadToTell checks that the notes are of the figures that are reported: Compare is called again with corrected
// samples of the same requests, and with other requests if there is another sample of -count. The server's log is read
// once for the same requests.
func TestOverheadToTell(t *testing.T) {
	read := 0
	c := comparison{log: func() serverLog { read++; return nil }}
	for i, id := range []string{"a", "a", "b", "b"} {
		was := c.found
		c.compare(sample.All(), sample.All(sample.Sample{ID: id}), 0)
		assert.Equal(t, c.found == was, i%2 == 1)
		assert.Equal(t, read, 1+i/2)
	}
}
