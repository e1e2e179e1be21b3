package llmbench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// flavors maps dialects that share a path to the kind of server that speaks them.
var flavors = map[string]string{"sglang": "sglang", "lmdeploy": "lmdeploy", "tgi": "tgi", "vllm-demo": "vllm", "mindie-vllm": "mindie"}

// unmarked lists the dialects whose streams have neither a finish reason nor an end marker.
var unmarked = []string{"triton", "vllm-demo", "mindie-vllm"}

// everyDialect returns all dialects that generate text; the simulated server speaks each of them.
func everyDialect(t *testing.T) []dialect.Dialect {
	var all []dialect.Dialect
	for _, name := range dialect.Names() {
		d, err := dialect.ByName(name)
		assert.NilError(t, err)
		if _, items := d.(dialect.ItemsDialect); !items {
			all = append(all, d)
		}
	}
	return all
}

// TestEveryFault checks the outcome of each fault of the simulated server in each dialect, streamed and not
// streamed. No request may hang, and no goroutine and no connection may be left.
func TestEveryFault(t *testing.T) {
	runtest.CheckLeaks(t)
	const tokens = 8
	// For each fault, the outcome of a streamed answer, and of an answer that is not streamed. Some faults
	// have no effect on the second kind.
	want := map[string][2]sample.Outcome{
		"slow-header": {sample.OK, sample.OK}, "no-done": {sample.OK, sample.OK}, "format": {sample.OK, sample.OK}, "wrong": {sample.OK, sample.OK}, "short": {sample.OK, sample.OK}, "swap": {sample.OK, sample.OK},
		"html-200": {sample.Malformed, sample.Malformed}, "wrong-type": {sample.Malformed, sample.OK}, "json": {sample.Malformed, sample.OK}, "gzip": {sample.Malformed, sample.Malformed},
		"empty": {sample.Empty, sample.Empty}, "error-event": {sample.ServerError, sample.ServerError}, "named-error": {sample.ServerError, sample.ServerError}, "error-string": {sample.ServerError, sample.ServerError},
		"malformed": {sample.Malformed, sample.Malformed}, "long-line": {sample.Malformed, sample.Malformed},
		"truncate": {sample.Truncated, sample.Malformed}, "fin": {sample.Truncated, sample.Truncated}, "reset": {sample.Truncated, sample.Connect}, "die": {sample.Truncated, sample.Connect}, "stall": {sample.Stalled, sample.Timeout}, "endless": {sample.Malformed, sample.OK},
	}
	for name := range fault.Names() {
		for _, d := range everyDialect(t) {
			for i, stream := range []bool{true, false} {
				outcome := want[name][i]
				if name == "truncate" && stream && slices.Contains(unmarked, d.Name()) {
					outcome = sample.OK
				}
				if name == "long-line" && d.Name() != "openai-chat" {
					continue // the answer is large, and the limit the same in all dialects
				}
				if strings.HasPrefix(name, "http-") || name == "html-502" {
					outcome = sample.HTTP
				}
				if name == "http-429" || name == "http-529" {
					outcome = sample.Shed
				}
				test := func(t *testing.T, version string) {
					t.Parallel()
					f := fault.Fault{Kind: fault.Kind(name), Every: 1, At: 3, Size: 65 << 20}
					_, target := loopback(t, mockserver.Config{Flavor: mockserver.Flavor(flavors[d.Name()]), Faults: []fault.Fault{f}})
					target.Dialect, target.HTTP = d, version
					l := Load{Requests: words(1, tokens), Concurrency: 1, NoStream: !stream}
					switch outcome {
					case sample.Stalled:
						l.IdleTimeout = 100 * ms
					case sample.Timeout:
						l.Timeout = 200 * ms
					}
					s := onePass(t, target, l)[0]
					assert.Equal(t, s.Outcome, outcome, "%v", s.Err)
				}
				t.Run(fmt.Sprintf("%s/%s/stream=%t", name, d.Name(), stream), func(t *testing.T) { test(t, "1.1") })
				if d.Name() == "openai-chat" {
					t.Run(fmt.Sprintf("%s/http=2/stream=%t", name, stream), func(t *testing.T) { test(t, "2") })
				}
			}
		}
	}
}

// TestEveryShape reads each shape of a stream in each dialect. The counts must be equal to the server's
// counts, and the instants to the instants in the server's log.
func TestEveryShape(t *testing.T) {
	const tokens = 12
	for name := range shape.Names() {
		for _, d := range everyDialect(t) {
			for _, stream := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/stream=%t", name, d.Name(), stream), func(t *testing.T) {
					spec := strings.NewReplacer("=N", "=3", "=DURATION", "=5ms,split-json").Replace(name)
					var sh shape.Shape
					assert.NilError(t, sh.Set(spec))
					cfg := mockserver.Config{TTFT: 100 * ms, PerToken: 10 * ms, Shape: sh, Flavor: mockserver.Flavor(flavors[d.Name()])}
					l := Load{Requests: words(1, tokens), Concurrency: 1, NoStream: !stream}
					bubbleIn(t, d, cfg, l, func(samples []sample.Sample, srv *mockserver.Server) {
						s, e := samples[0], srv.Log()[0]
						if name == "nul-raw" { // the text is not valid JSON
							assert.Equal(t, s.Outcome, sample.Malformed)
							return
						}
						assert.NilError(t, s.Err)
						assert.Assert(t, s.Unread == "" && !s.UnknownFinish, "unread %q, finish reason %q", s.Unread, s.Finish)
						switch s.TokenSource {
						case sample.FromUsage, sample.FromEvents:
							assert.Equal(t, s.OutputTokens, e.OutputTokens)
						case sample.FromDeltas:
							assert.Assert(t, stream && s.OutputTokens == s.Deltas && s.Deltas <= e.OutputTokens, "%d tokens in %d deltas", s.OutputTokens, s.Deltas)
						default:
							assert.Assert(t, !stream, "the number of tokens of a stream is unknown")
						}
						if stream {
							assert.Equal(t, s.First, e.Tokens[0])
							assert.Equal(t, s.Last, e.Tokens[tokens-1])
						}
					})
				})
			}
		}
	}
}
