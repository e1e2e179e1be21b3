package scenarios

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestPageAfterLoad stops a run after its first load: the server answers nothing as soon as there is a page. So LLMBENCH_REPORT
// writes the page after a load. It also shows the run at an address.
func TestPageAfterLoad(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "page.html")
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	stopped := make(chan struct{}, 64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, _ := os.ReadFile(path); strings.HasSuffix(strings.TrimSpace(string(page)), "</html>") {
			stopped <- struct{}{}
			_, _ = io.Copy(io.Discard, r.Body) // the context ends with the connection only when the body has been read
			<-r.Context().Done()
			return
		}
		mock.ServeHTTP(w, r)
	}))
	defer server.Close()
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.Command(self, "-test.run=^$", "-test.bench=Serve", "-test.benchtime=1x")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "LLMBENCH_URL="+server.URL, "LLMBENCH_CONCURRENCY=1,2", "LLMBENCH_REQUESTS=4", "LLMBENCH_OUTPUT=4", "LLMBENCH_CLIENT_BOUND=report", "LLMBENCH_REPORT=page.html,127.0.0.1:0", "TMPDIR="+folder) // the killed process leaves its records
	log, err := os.Create(filepath.Join(folder, "stderr.txt"))
	assert.NilError(t, err)
	defer log.Close()
	cmd.Stderr = log
	assert.NilError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	said := func() string { text, _ := os.ReadFile(log.Name()); return string(text) }
	select {
	case <-stopped:
	case err := <-ended:
		t.Fatalf("the run ended before its second load: %v: %s", err, said())
	case <-time.After(time.Minute):
		assert.NilError(t, cmd.Process.Kill())
		t.Fatalf("no second load after a minute: %s", said())
	}
	defer func() {
		_ = cmd.Process.Kill()
		<-ended
	}()
	_, address, found := strings.Cut(said(), "# http://")
	address, _, _ = strings.Cut(address, " shows this run until it ends\n")
	assert.Assert(t, found, "%s", said())
	response, err := http.Get("http://" + address)
	assert.NilError(t, err)
	defer response.Body.Close()
	shown, err := io.ReadAll(response.Body)
	assert.NilError(t, err)
	assert.Assert(t, response.StatusCode == http.StatusOK && strings.Contains(string(shown), "<script"), "%s", shown)
	page, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(page), "concurrency=1") && !strings.Contains(string(page), "concurrency=2"))
}

// TestPageOfShards checks that a shard which is not the first does not listen at the address of the page, which is that of
// shard 0 if both run on one machine.
func TestPageOfShards(t *testing.T) {
	first, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	defer first.Close()
	self, err := os.Executable()
	assert.NilError(t, err)
	for shard, want := range []string{": listen tcp", "cannot judge: "} {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^$", "-test.bench=Serve", "-test.benchtime=1x")
		cmd.Env = append(os.Environ(), fmt.Sprintf("LLMBENCH_SHARD=%d/2", shard), "LLMBENCH_RENDEZVOUS=127.0.0.1:1", "LLMBENCH_RENDEZVOUS_TIMEOUT=10ms", "LLMBENCH_REPORT="+first.Addr().String())
		out, err := cmd.CombinedOutput()
		assert.Assert(t, err != nil && strings.Contains(string(out), want), "shard %d: %s", shard, out)
	}
}
