package scenarios

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// withoutClock matches the units that no delay of the client can change, and that are not computed from units that it
// can. A new unit belongs here only if that is true of it.
var withoutClock = regexp.MustCompile(`^(` + strings.Join([]string{
	// counts, lengths and shares of requests, tokens and answers
	`(asked-)?(in|out)-tok/req`, `(reason|hidden)-tok/req`, `dimensions`, `tok/delta`, `(cached|accuracy|fail|shed|left|resent|accept|agree|valid|implied-hit)-%`,
	`accept-len`, `checked-req`, `agree-prefix-tok/req`, `passes/op`, `question-set`, `arms-seed`,
	`retries/req`, `fleet-(hit-%|imbalance|full-req/op|dead-req/op|queue-req|max-queue-req)`, `replica\d-hit-%`,
	// the server's own clock and counters
	`srv-.+`, `gw-.+`,
	// the schedule
	`offered-req/s`,
	`session-fail-%`, `lost-turns`, `(cut|recycled)-sessions`, `(turns|tok|out-tok)/session`, `sub-(req|tok)-%`,
	// the client's delays themselves
	`client-err-%`, `p99-lag-ns`, `p(50|99)-turn-late-ms`, `(mean|p\d\d)-read-lag-ns`, `(p50|p99|max)-(ttft|itl|wire|user)-err-ns`,
	// verdicts in which the bounds of the figures are considered
	`slo-.+`, `knee-concurrency`, `warm-cache`, `tail-.+`, `max-streams`,
	// seconds of a start
	`start-to-(ready|first-token)-ns`,
}, "|") + `)$`)

// TestDerivedUnits checks each unit of the catalogue: it is measured by the client's clock and judged, or it names the
// units from which it is computed, or it needs no clock.
func TestDerivedUnits(t *testing.T) {
	units := llmbench.Units()
	for _, u := range units {
		switch {
		case u.Timed():
			assert.Equal(t, u.Parts, "", u.Name)
		case u.Parts != "":
			for part := range strings.FieldsSeq(u.Parts) {
				at := slices.IndexFunc(units, func(o sample.Unit) bool { return o.Name == part })
				assert.Assert(t, at >= 0 && units[at].Timed(), "%s: the part %s; want a unit that is measured", u.Name, part)
			}
		case u.Withheld != "": // the unit says why others are missing
		default:
			assert.Assert(t, withoutClock.MatchString(u.Name), "%s: want a family, parts, or a place in the list withoutClock", u.Name)
		}
	}
}

// TestReportedMetrics checks that scenarios report metrics of their own through Load.Figures or llmbench.Derive, which
// withhold them together with their parts, and by testing.B or harness.Report only if the metrics need no clock.
func TestReportedMetrics(t *testing.T) {
	files, err := os.ReadDir(".")
	assert.NilError(t, err)
	calls := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		assert.NilError(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"ReportMetric", "Report"}, f.Sel.Name) {
				return true
			}
			calls++
			unit, _ := call.Args[len(call.Args)-1].(*ast.BasicLit)
			if unit == nil { // a search has variants of its units
				assert.Equal(t, file.Name(), "capacity.go")
				return true
			}
			name, err := strconv.Unquote(unit.Value)
			assert.NilError(t, err)
			assert.Assert(t, name == "ns/op" || withoutClock.MatchString(name), "%s reports %s by ReportMetric; want Load.Figures or llmbench.Derive", file.Name(), name)
			return true
		})
	}
	assert.Assert(t, calls > 5, calls)
}

// TestCapacityWithheld checks that Shedding knows which figures of the closed loop before the measurement are withheld.
// The answers have a member that is not known, and may have text before the first delta.
func TestCapacityWithheld(t *testing.T) {
	for member, want := range map[string]error{"musing": llmbench.ErrUnread, "role": nil} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, `data: {"choices":[{"delta":{%q:"x"}}]}`+"\n\n", member)
			fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"a"}}]}`+"\n\n"+`data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":2}}`+"\n\ndata: [DONE]\n\n")
		}))
		var c saturation
		var err error
		onePass(t, func(b *testing.B) {
			s := serverAt(server.URL)
			c, err = s.saturate(b, 2, func(n int, seed uint64) ([]llmbench.Request, error) { return words(n, seed) })
		})
		assert.NilError(t, err)
		assert.Assert(t, c.rate > 0 && c.ttft > 0)
		why := c.withheld["p50-ttft-ns"]
		assert.Assert(t, errors.Is(why, want) || want == nil && errors.Is(why, llmbench.ErrClientBound), "%s: %v", member, why) // the machine may be busy
		server.Close()
	}
}
