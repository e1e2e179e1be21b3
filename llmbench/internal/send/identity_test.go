package send

import (
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestForeign checks which IDs are of other requests.
func TestForeign(t *testing.T) {
	const run, own = "llmbench-00c0ffee", "llmbench-00c0ffee-2-12"
	assert.Equal(t, foreign([]byte("a"), "", own), "")
	for _, text := range []string{"", "chatcmpl-1", own, "chatcmpl-" + own, own + "-0", own + "-5f3a", own + "_a", own + ",", "llmbench-00c0ffed-2-13", run, own[:len(own)-1],
		`{"id":"chatcmpl-` + own + `","choices":[]}`} {
		assert.Equal(t, foreign([]byte(text), run, own), "", "%q", text)
	}
	for text, want := range map[string]string{
		run + "-2-11":                    run + "-2-11",
		run + "-2-123":                   run + "-2-123",
		run + "-1-12":                    run + "-1-12",
		"chatcmpl-" + run + "-2-11":      run + "-2-11",
		"cmpl-" + run + "-2-11-0 " + own: run + "-2-11-0",
		own + " " + run + "-2-13":        run + "-2-13",
		`{"id":"` + run + `-w-3"}`:       run + "-w-3",
	} {
		assert.Equal(t, foreign([]byte(text), run, own), want, "%q", text)
	}
}

// A delayer answers each request with the answer to the request before, as a gateway with a bug in its pipelining
// does. The first answer is to the request itself.
type delayer struct {
	header bool // the answer repeats the request's ID in its header
	body   bool // or in its body
	before string
}

func (d *delayer) RoundTrip(r *http.Request) (*http.Response, error) {
	id := r.Header.Get("X-Request-Id")
	of := d.before
	if d.before = id; of == "" {
		of = id
	}
	h := ofType("text/event-stream")
	if d.header {
		h.Set("X-Request-Id", of)
	}
	text := content + content + content + content + finish + usage + done
	if d.body {
		text = strings.ReplaceAll(text, `{"choices"`, `{"id":"chatcmpl-`+of+`","choices"`)
	}
	return reply{200, h, text}.RoundTrip(r)
}

// TestAnswersOffByOne sends requests to servers that answer each request with the answer to the one before.
func TestAnswersOffByOne(t *testing.T) {
	for _, d := range []*delayer{{header: true}, {body: true}} {
		w, p := newTestWorker(t, d, Options{Stream: true})
		all := sendAll(t, w, same(p, 4)...)
		assert.Equal(t, all[0].Outcome, sample.OK, "%v", all[0].Err)
		for i, s := range all[1:] {
			assert.Equal(t, s.Outcome, sample.Malformed)
			assert.Error(t, s.Err, "the answer is to another request: it names the request "+all[i].ID+": want "+s.ID)
		}
	}
	// An answer that is not streamed.
	w, p := newTestWorker(t, reply{200, ofType("application/json"), `{"id":"RUN-9-7","choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`}, Options{})
	w.client.SetRunID("RUN")
	s := w.Do(t.Context(), p, 0, false)
	assert.Error(t, s.Err, "the answer is to another request: it names the request RUN-9-7: want RUN-1")
}
