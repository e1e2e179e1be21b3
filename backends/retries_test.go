package backends_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// TestRetries measures through a gateway that sends refused requests again, and checks that their number is the
// server's own.
func TestRetries(t *testing.T) {
	for _, tt := range []struct {
		every int // each of these requests is refused at first; 0 means none
		want  float64
	}{{0, 0}, {5, 0.25}} {
		t.Run(fmt.Sprint(tt.every), func(t *testing.T) {
			var cfg mockserver.Config
			if tt.every > 0 {
				cfg.Faults = []fault.Fault{{Kind: "http-503", Every: tt.every}}
			}
			_, upstream := mockserver.Start(t, cfg)
			at, err := url.Parse(upstream)
			assert.NilError(t, err)
			proxy := httputil.NewSingleHostReverseProxy(at)
			proxy.Transport = retrying{}
			gateway := httptest.NewServer(proxy)
			defer gateway.Close()
			target := backends.URL{URL: gateway.URL, Model: "mock", MetricsURLs: []string{upstream + "/metrics"}}.Start(t)
			o := target.Observe()
			assert.NilError(t, o.Before(t.Context()))
			var samples []sample.Sample
			for range 16 {
				s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a", MaxTokens: 2}, true)
				assert.NilError(t, s.Err)
				samples = append(samples, s)
			}
			_, err = o.After(t.Context())
			assert.NilError(t, err)
			figures := o.(llmbench.SamplesObserver).FiguresOf(sample.All(samples...))
			assert.Assert(t, figures["retries/req"] >= 0.75*tt.want && figures["retries/req"] <= tt.want, "%v", figures)
			_, known := figures["retries/req"]
			assert.Assert(t, known)
			lost := append(samples, make([]sample.Sample, 100)...)
			for i := range lost {
				lost[i].Wrote = 1
			}
			assert.Equal(t, len(o.(llmbench.SamplesObserver).FiguresOf(sample.All(lost...))), 0, "some requests did not reach the server")
		})
	}
}

// A retrying sends a request again if it was refused with status 503.
type retrying struct{}

func (retrying) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.Path, "/v1/chat") {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	for {
		again := r.Clone(r.Context())
		again.Body = io.NopCloser(bytes.NewReader(body))
		resp, err := http.DefaultTransport.RoundTrip(again)
		if err != nil || resp.StatusCode != http.StatusServiceUnavailable {
			return resp, err
		}
		resp.Body.Close()
	}
}
