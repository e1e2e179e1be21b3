package scenarios

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// serveMockArg is the first argument of this test binary when it runs as the mock
// server. The second argument is the configuration in JSON.
const serveMockArg = "serve-mock"

// serveMock runs the mock server until stdin ends. That happens when the parent process ends, if
// not earlier.
func serveMock(config string, stdin io.Reader, stdout, stderr io.Writer) int {
	var cfg mockserver.Config
	err := json.Unmarshal([]byte(config), &cfg)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	srv, err := mockserver.New(cfg)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	url, stop, err := mockserver.Listen("127.0.0.1:0", srv)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintln(stdout, url)
	io.Copy(io.Discard, stdin)
	stop(0)
	return 0
}

// A mockProcess is a mock server in another process.
type mockProcess struct{ target llmbench.Target }

// startMock starts a mock server that ends with tb. If the machine has the command nice, the
// priority of the server is lower than the client's priority. This is because a real server has its
// own machine, and the log shows when the mock server was late.
func startMock(tb testing.TB, cfg mockserver.Config) mockProcess {
	tb.Helper()
	config, err := json.Marshal(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	command := []string{self, serveMockArg, string(config)}
	if nice, err := exec.LookPath("nice"); err == nil {
		command = append([]string{nice, "-n", "10"}, command...)
	}
	cmd := exec.Command(command[0], command[1:]...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			tb.Errorf("the mock server's process: %v\n%s", err, &stderr)
		}
	})
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		tb.Fatalf("the mock server's process did not print its URL: %v", err)
	}
	return mockProcess{llmbench.Target{URL: strings.TrimSpace(url), Model: "mock", Config: map[string]string{"backend": "mock"},
		Truth: &llmbench.Truth{Speed: cfg.Describe() + ", in another process", Next: nextStep()}}}
}

// log returns the entries of the server's log by request. It also returns the instant from which
// their times are counted, in nanoseconds since 1970.
func (m mockProcess) log(tb testing.TB) (entries map[string]mockserver.Entry, epoch int64) {
	tb.Helper()
	resp := m.ask(tb, http.MethodGet)
	defer resp.Body.Close()
	var all []mockserver.Entry
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		tb.Fatal(err)
	}
	epoch, err := strconv.ParseInt(resp.Header.Get("Mock-Epoch-Unix-Ns"), 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	entries = map[string]mockserver.Entry{}
	for _, e := range all {
		entries[e.ID] = e
	}
	return entries, epoch
}

// reset empties the server's log.
func (m mockProcess) reset(tb testing.TB) {
	tb.Helper()
	m.ask(tb, http.MethodDelete).Body.Close()
}

func (m mockProcess) ask(tb testing.TB, method string) *http.Response {
	tb.Helper()
	ctx, cancel := context.WithTimeout(harness.Context(tb), time.Minute)
	tb.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, m.target.URL+"/mock/log", nil)
	if err != nil {
		tb.Fatal(err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		tb.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		tb.Fatalf("%s /mock/log: %s", method, resp.Status)
	}
	return resp
}
