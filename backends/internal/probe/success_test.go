package probe

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// TestSuccess checks a step that can fail although its answer has the status 200. vLLM gives such
// answers while requests that were cut off still occupy parts of its cache.
func TestSuccess(t *testing.T) {
	for _, c := range []struct {
		name     string
		answers  []string // the last one is repeated
		requests int      // 0 means any number
		want     string   // a part of the error; "" means success
	}{
		{"at once", []string{`{"success":true}`}, 1, ""},
		{"when the requests have ended", []string{`{"success":false}`, `{"success":false}`, `{"success":true}`}, 3, ""},
		{"a version without an answer", []string{""}, 1, ""},
		{"never", []string{`{"success":false}`}, 0, `empty the cache: POST /reset: the server refuses it: {"success":false}`},
		{"without the field", []string{`{}`}, 0, "the server refuses it: {}"},
		{"no JSON", []string{"<html>"}, 1, "POST /reset: the answer is not a JSON object: <html>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				ln := memnet.Listen()
				srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					fmt.Fprint(w, c.answers[min(requests, len(c.answers)-1)])
					requests++
				})}
				go srv.Serve(ln)
				defer srv.Close()
				s := Server{Target: llmbench.Target{URL: "http://server", Dial: ln.Dial}}
				began := time.Now()
				err := s.Take(context.Background(), []Step{{Purpose: "empty the cache", Method: "POST", Path: "/reset", Success: "success"}})
				if c.want == "" {
					assert.NilError(t, err)
				} else {
					assert.ErrorContains(t, err, c.want)
				}
				if c.requests > 0 {
					assert.Equal(t, requests, c.requests)
				} else {
					assert.Equal(t, time.Since(began), successTimeout)
				}
			})
		})
	}
}
