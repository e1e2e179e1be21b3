package llmbench

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// killedURL is the environment variable that holds the URL of the server of helperKilled.
const killedURL = "TEST_URL_OF_THE_SERVER"

// killedInFlight is the concurrency of helperKilled.
const killedInFlight = 8

// helperKilled makes a pass that lasts until the process is killed.
func helperKilled(b *testing.B) {
	Run(b, Target{URL: os.Getenv(killedURL), Model: "mock"}, Load{Requests: words(5000, 5), Concurrency: killedInFlight})
}

// TestKilled kills a benchmark with SIGKILL in the middle of a pass. Its server has answered some requests,
// and does not answer the others. The records must have each request that was answered. benchreport must be
// able to read them, and say that the run was cut off.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGKILL")
	}
	t.Parallel()
	const answered = 300
	srv, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	var begun atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if begun.Add(1) > answered {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		}
		srv.ServeHTTP(w, r)
	}))
	defer server.Close()

	dir := t.TempDir()
	path := filepath.Join(dir, "BenchmarkHelper,Killed.1.jsonl")
	cmd := helperCommand(t.Context(), "Killed")
	cmd.Env = append(cmd.Env, killedURL+"="+server.URL, "LLMBENCH_OUT="+dir, "LLMBENCH_CLIENT_BOUND=report")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	assert.NilError(t, cmd.Start())
	runtest.Until(t, "each request that was answered is in the records", func() bool { return countLines(path) == 1+answered })
	runtest.Until(t, "all further requests are in flight", func() bool { return begun.Load() == answered+killedInFlight })
	assert.NilError(t, cmd.Process.Kill())
	assert.ErrorContains(t, cmd.Wait(), "signal: killed", &output)

	run, err := records.Open(path)
	assert.NilError(t, err)
	assert.Equal(t, run.Len(), answered)
	assert.Assert(t, strings.HasPrefix(run.Failed(), "the run was cut: "), run.Failed())
	for q := range run.All() {
		assert.Assert(t, q.OK() && q.Deltas == 5, "%+v", q)
	}
	assert.Equal(t, run.Figures().Metrics["out-tok/req"], 5.0)

	report, err := exec.CommandContext(t.Context(), "go", "run", "./cmd/benchreport", "-as", "vllm", path).CombinedOutput()
	assert.NilError(t, err, "%s", report)
	assert.Assert(t, strings.Contains(string(report), "Successful requests:                     300"), "%s", report)
	assert.Assert(t, strings.Contains(string(report), "\nno result: the run was cut: "), "%s", report)
}

// countLines returns the number of complete lines in a file, or 0 if the file does not exist yet.
func countLines(path string) (n int) {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	for in := bufio.NewReader(f); ; n++ {
		if _, err := in.ReadString('\n'); err != nil {
			return n
		}
	}
}
