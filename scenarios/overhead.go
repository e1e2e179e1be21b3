package scenarios

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// GatewayOverhead measures what a gateway adds to the latency of the server behind it. The same load goes to
// the server directly and through the gateway. The two take turns, as [llmbench.Arms] describes, so that a
// drift of the machine affects both alike. Answers are streamed first, and then not.
//
// The results of the gateway have the units added-ttft-ms, added-itl-ms and added-e2e-ms, or added-whole-ms if answers
// are not streamed. With six rounds or more, as with -benchtime=8x, each has a confidence interval of 95 %
// (added-ttft-low-ms, added-ttft-high-ms and so on). Each round is one observation, because the requests of a pass may
// all be slow for the same reason. If the machine becomes slower at a steady rate, the interval is wider than it needs
// to be. With 100 requests or more there are also added-p99-ttft-ms and so on.
//
// If the server is simulated by package mockserver, in this process or in another one, and the gateway passes on the
// header field X-Request-Id, a request's latency is the one at the client less the one in the server's log. The
// intervals are then much shorter, because the server's own latency varies. Otherwise requests through the gateway are
// compared with direct ones.
//
// A gateway that buffers streams, or that holds back the first tokens of each, is told in a note, and what has no
// meaning then is omitted.
//
// If backends.Process started the gateway, its results also have the gateway's CPU time, srv-cpu-s/ktok and
// srv-req/cpu-s. The gateway must then not be started together with the server, in Process.Beside, because the CPU
// time would contain the server's.
func (o Options) GatewayOverhead(b *testing.B, direct, gateway llmbench.Target) {
	b.Helper()
	o.addedBy(b, direct, gateway, "gateway")
}

// addedBy is GatewayOverhead for a gateway with the given name.
func (o Options) addedBy(b *testing.B, direct, gateway llmbench.Target, name string) {
	b.Helper()
	s, through := gatewayOverhead.pair(b, o, direct, gateway, name)
	_, through, _ = through.prompted(pick(s, 512, 64), pick(s, 128, 32))
	workload, s, draw := s.prompted(pick(s, 512, 64), pick(s, 128, 32))
	for _, stream := range []bool{true, false} {
		b.Run(fmt.Sprintf("workload=%s/stream=%v", workload, stream), func(b *testing.B) {
			for _, users := range s.concurrencies(pick(s, []int{1, 16, 64}, []int{1, 16})...) {
				load := fmt.Sprintf("/concurrency=%d", users)
				l := s.fresh(b, llmbench.Load{Concurrency: users, NoStream: !stream}, s.fewest(s.requests(pick(s, max(128, 8*users), max(32, 4*users))), users, 13), 2*users,
					func(n int, seed uint64) ([]llmbench.Request, error) { return draw(n, seed+uint64(users)) })
				c := comparison{log: func() serverLog { return logOf(b, direct) }, withheld: map[string]bool{}}
				l.Withheld = c.withhold
				llmbench.Arms(b, s.completed(b, l),
					llmbench.Arm{Name: "via=direct" + load, Target: s.target},
					llmbench.Arm{Name: "via=" + name + load, Target: through.target, Compare: c.compare})
				c.tell(b, name, load[1:])
			}
		})
	}
}

// pair returns the server, and the gateway in front of it, with the options completed for a scenario that has both as its
// targets. It skips or ends b if nothing can be measured.
func (sc Scenario) pair(b *testing.B, o Options, direct, gateway llmbench.Target, name string) (s, through server) {
	b.Helper()
	o, c, _ := sc.begin(b, o, direct)
	s = connect(b, o, c, direct, sc.asksLengths(o, nil), true).knowingShares()
	harness.Tell("measuring, by turns with it, the " + name + " before it: " + gateway.URL)
	through = s
	through.target = gateway
	return s, through
}

// A comparison compares the requests through a gateway with direct ones, each time that Arms asks for figures.
type comparison struct {
	log      func() serverLog // reads the log of the server
	of       string           // the ID of the first request through the gateway, in the last call of compare
	entries  serverLog        // the log with these requests
	found    *overhead        // of these requests; nil if there are no results of both
	withheld map[string]bool  // see withhold
}

// compare computes the figures. Further calls with the same requests have samples without the client's delays, of which
// the figures are not reported.
func (c *comparison) compare(first, own iter.Seq[*sample.Sample], late time.Duration) map[string]float64 {
	id := ""
	own(func(s *sample.Sample) bool { id = s.ID; return false })
	again := c.found != nil && c.of == id
	if !again {
		c.of, c.entries, c.withheld = id, c.log(), map[string]bool{}
	}
	o := overheadOf(first, own, c.entries, late)
	if !again {
		c.found = o
	}
	return o.figures
}

// withhold keeps which figures are not reported: of the last comparison, and of direct requests, which have others.
func (c *comparison) withhold(units []string, _ error) {
	for _, unit := range units {
		c.withheld[unit] = true
	}
}

// withoutLog holds the servers of this process that have no log.
var withoutLog sync.Map // URL to true

// logOf returns the log of a simulated server, or nil if the server has none.
func logOf(b *testing.B, t llmbench.Target) serverLog {
	if _, known := withoutLog.Load(t.URL); known {
		return nil
	}
	ctx, cancel := context.WithTimeout(harness.Context(b), time.Minute)
	defer cancel()
	log, err := readLog(ctx, t)
	if err != nil {
		harness.Note(b, t.Redact(err.Error()))
	}
	if log == nil {
		withoutLog.Store(t.URL, true)
	}
	return log
}

// tell prints what is remarkable about the overhead at a load.
func (c *comparison) tell(b *testing.B, name, load string) {
	b.Helper()
	o := c.found
	if o == nil || len(o.figures) == 0 {
		return
	}
	shown, hasRange := false, false
	for unit := range o.figures {
		if strings.HasPrefix(unit, "added-") && !c.withheld[unit] {
			shown, hasRange = true, hasRange || strings.HasSuffix(unit, "-high-ms")
		}
	}
	if shown && o.log != nil {
		tell(b, []string{fmt.Sprintf("what %s adds is computed for each request: its latency at the client, less its latency in the simulated server's log by the same X-Request-Id, less what that difference is without %s", article(name), article(name))})
	}
	for _, note := range o.notes {
		harness.Note(b, load+": "+note)
	}
	if o.streams != "" {
		harness.AtEnd(b, "GatewayOverhead, "+load+": "+o.streams)
	}
	if shown && !hasRange {
		harness.Note(b, fmt.Sprintf("%s: the added latencies have no confidence interval: it needs at least %d rounds, as with -benchtime=8x", load, minObservations))
	}
}

// article returns the name of a gateway with an article.
func article(name string) string { return "the " + strings.ReplaceAll(name, "-", " ") }
