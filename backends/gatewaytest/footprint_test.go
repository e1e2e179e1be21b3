package gatewaytest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// childFault is the variable that makes the test's program a reference gateway with a fault. Its upstreams are the lines of
// its standard input, and it ends with its standard input.
const childFault = "GATEWAYTEST_CHILD"

func TestMain(m *testing.M) {
	fault, child := os.LookupEnv(childFault)
	if !child {
		os.Exit(m.Run())
	}
	var upstreams []string
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() && lines.Text() != "" {
		upstreams = append(upstreams, lines.Text())
	}
	fmt.Println(startReference(fault)(ends{}, upstreams))
	io.Copy(io.Discard, os.Stdin)
}

// An ends is the testing.TB of a gateway that ends with its process.
type ends struct{ testing.TB }

func (ends) Cleanup(func()) {}

// startChild starts a reference gateway as a process of its own.
func startChild(t *testing.T, fault string, upstreams []string) (url string, pid int) {
	program, err := os.Executable()
	assert.NilError(t, err)
	c := exec.Command(program)
	c.Env = append(os.Environ(), childFault+"="+fault)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	assert.NilError(t, err)
	out, err := c.StdoutPipe()
	assert.NilError(t, err)
	assert.NilError(t, c.Start())
	t.Cleanup(func() {
		in.Close()
		c.Wait()
	})
	fmt.Fprintf(in, "%s\n\n", strings.Join(upstreams, "\n"))
	url, err = bufio.NewReader(out).ReadString('\n')
	assert.NilError(t, err)
	return strings.TrimSpace(url), c.Process.Pid
}

// TestMeasureProcess checks a gateway that is another process: an honest one, and ones that grow. A leak of 8 KB shows in an eighth of the
// requests that a block has time for on an idle machine, and a flood has two minutes.
func TestMeasureProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("MeasureProcess needs Linux")
	}
	if testing.Short() {
		t.Skip("-short: it takes half a minute")
	}
	for fault, want := range map[string]string{"": "", "leaks 8 KB a request": "leak/whole/memory", "keeps answers for its log": "limits/events/memory"} {
		t.Run(fault, func(t *testing.T) {
			pid := os.Getpid()
			classes := []string{"limits/events", "leak/whole"}
			if want != "" {
				classes = []string{path.Dir(want)}
			}
			r, err := Check(func(upstreams []string) (url string, err error) {
				url, pid = startChild(t, fault, upstreams)
				return url, nil
			}, nil, Options{Classes: classes, Wait: 2 * time.Minute, Measure: func() (Footprint, error) { return MeasureProcess(pid)() }})
			assert.NilError(t, err)
			for _, result := range r.Results {
				t.Log(result.Case, result.Facts, result.Took)
			}
			ids := ""
			for _, f := range r.Findings() {
				t.Log(f)
				ids += f.ID()
			}
			assert.Equal(t, ids, want)
		})
	}
}
