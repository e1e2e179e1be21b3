package scenarios

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

func TestLeast(t *testing.T) {
	for _, c := range []struct {
		counter counter
		asked   int
		want    int
	}{
		{counter{tokens: tokenizer.Words{}}, 512, 504},
		{counter{tokens: tokenizer.Words{}}, 0, 1},
		{counter{tokens: tokenizer.Words{}}, 5, 1},
		{counter{tokens: tokenizer.Words{}, unknown: true}, 512, 1},
		{counter{tokens: tokenizer.Estimate{PerWord: 1.5, Residual: 9.5}}, 500, 390},
		{counter{tokens: tokenizer.Estimate{PerWord: 1.5, Residual: 999}}, 500, 1},
		{guess, 500, 1},
	} {
		assert.Equal(t, c.counter.least(c.asked), c.want, "%+v", c.counter)
	}
	assert.Equal(t, loadName("BenchmarkServe/backend=url/model=m/workload=random-8x4/concurrency=1"), "workload=random-8x4/concurrency=1")
	assert.Equal(t, loadName("BenchmarkMine"), "BenchmarkMine")
}

// TestTooLong measures a server that states, as vLLM does, which requests it refuses. Nothing of a load that cannot fit may be
// sent. A load that fits exactly must be measured, and so must one that is not known not to fit.
func TestTooLong(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	self, err := os.Executable()
	assert.NilError(t, err)
	const doNotFit = " do not fit: the server refuses more than 640 together; lower LLMBENCH_INPUT or LLMBENCH_OUTPUT"
	for _, c := range []struct {
		name          string
		input, output int
		tokenize      bool
		want          string // a part of the output; "" means that the load is measured
	}{
		{"it fits exactly", 512, 128, true, ""},
		{"too long", 521, 128, true, "workload=random-521x128/stream=true/concurrency=1: a prompt of 513 tokens or more with its chat template and an output of 128" + doNotFit},
		{"the output alone is too long", 16, 640, true, "an output of 640" + doNotFit},
		{"an estimate of a prompt that is far too long", 2000, 8, false, " tokens or more with its chat template and an output of 8" + doNotFit},
		{"an estimate of a prompt that may fit", 640, 8, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			mock, err := mockserver.New(mockserver.Config{})
			assert.NilError(t, err)
			var streams atomic.Int64 // requests of the load; all others are not streamed
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch body, err := io.ReadAll(r.Body); {
				case r.URL.Path == "/v1/models":
					fmt.Fprint(w, `{"data":[{"id":"mock","owned_by":"vllm","root":"mock","max_model_len":640}]}`)
				case r.URL.Path == "/version":
					fmt.Fprint(w, `{"version":"0.30.0"}`)
				case r.URL.Path == "/tokenize" && !c.tokenize:
					http.NotFound(w, r)
				default:
					assert.Check(t, err)
					if bytes.Contains(body, []byte(`"stream":true`)) {
						streams.Add(1)
					}
					r.Body = io.NopCloser(bytes.NewReader(body))
					mock.ServeHTTP(w, r)
				}
			}))
			defer srv.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, self, "-test.run=^$", "-test.bench=Serve", "-test.benchtime=1x")
			cmd.Env = append(os.Environ(), "LLMBENCH_URL="+srv.URL, "LLMBENCH_CLIENT_BOUND=report", "LLMBENCH_CONCURRENCY=1", "LLMBENCH_REQUESTS=4", "LLMBENCH_WARMUP=2",
				fmt.Sprint("LLMBENCH_INPUT=", c.input), fmt.Sprint("LLMBENCH_OUTPUT=", c.output))
			out, err := cmd.CombinedOutput()
			if c.want == "" {
				assert.NilError(t, err, "%s", out)
				assert.Assert(t, streams.Load() >= 6, "%s", out)
				for _, line := range []string{"server: vLLM", "server-version: 0.30.0", "context: 640"} {
					assert.Assert(t, bytes.Contains(out, []byte("\n"+line+"\n")), "no %q in\n%s", line, out)
				}
				return
			}
			assert.Assert(t, err != nil && bytes.Contains(out, []byte(c.want)), "no %q in\n%s", c.want, out)
			assert.Equal(t, streams.Load(), int64(0))
		})
	}
}
