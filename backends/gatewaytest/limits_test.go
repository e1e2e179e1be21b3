package gatewaytest

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// limitless are planted faults whose classes measure this process, or send much.
var limitless = map[string]planted{
	"takes any header of an answer":  {finding: "limits/answer-header/unbounded"},
	"takes any header of a request":  {finding: "limits/request-header/unbounded"},
	"takes any body":                 {finding: "limits/*body/unbounded"},
	"keeps events until their end":   {finding: "limits/event/unbounded", part: keeps("gwt")},
	"reads ahead of its client":      {finding: "limits/silent-client/unbounded"},
	"serves 40 clients at once":      {finding: "limits/slow-requests/serves-hang"},
	"keeps tool calls until the end": {finding: "limits/tool-name/unbounded", part: keeps("tool_calls")},
	"keeps answers for its log": {finding: "limits/events/memory", part: func(*reference) func([]byte) []byte {
		var log []byte
		return func(b []byte) []byte {
			log = append(log, b...)
			return b
		}
	}},
	"keeps requests whose clients have left": {finding: "limits/slow-requests/left-behind"},

	"leaks 1 KB a request":                           {finding: "leak/whole/memory"},
	"leaks a goroutine for each client that leaves":  {finding: "leak/left/goroutines"},
	"leaks a connection for each stream that breaks": {finding: "leak/broken/files"},
}

// keeps returns what keeps a stream from the part on that has a text.
func keeps(text string) func(*reference) func([]byte) []byte {
	return func(*reference) func([]byte) []byte {
		var kept []byte
		return func(b []byte) []byte {
			if kept == nil && !bytes.Contains(b, []byte(text)) {
				return b
			}
			kept = append(kept, b...)
			return nil
		}
	}
}

// TestLimits plants one fault after another that lets the gateway grow. Nothing else runs in this process meanwhile.
func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes some ten seconds")
	}
	for name, p := range limitless {
		t.Run(name, func(t *testing.T) { finds(t, name, p.finding, Options{Measure: MeasureSelf, Wait: 2 * time.Minute}) })
	}
}

// TestFloodWithoutConnection checks that a header without end that could not be sent is not taken for one that the gateway refused.
func TestFloodWithoutConnection(t *testing.T) {
	t.Parallel()
	all, err := newKits(Options{UpstreamKey: upstreamKey}, nil, func(upstreams []string) (string, error) { return startReference("")(t, upstreams), nil }, t.Cleanup)
	assert.NilError(t, err)
	k := all.of(testCase{})
	k.url = strings.Replace(k.url, "http:", "https:", 1)
	found := floodsHeader(k, testCase{}).Findings
	assert.Assert(t, len(found) > 0 && found[0].Rule == "connect", "%v", found)
}
