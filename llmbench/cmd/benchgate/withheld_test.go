package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"gotest.tools/v3/assert"
)

// bufferingTest is the benchmark of serverTest for a gateway: a time to first token, which is withheld if the gateway
// buffers streams. That is so if the file that its build made has the word "buffers".
const bufferingTest = `package fixture

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

func BenchmarkServer(b *testing.B) {
	text, err := os.ReadFile(os.Getenv("LLMBENCH_BUILD") + "/value")
	if err != nil {
		b.Fatal(err)
	}
	fmt.Printf("command: %s\nserver-version: %s\n", os.Getenv("LLMBENCH_COMMAND"), text)
	fmt.Print("Unit p50-ttft-ns better=lower gate=5%\nUnit bursts-% better=lower withheld=server says=buffers-streams:come-in-bursts\n")
	b.ReportMetric(0, "ns/op")
	if strings.Contains(string(text), "buffers") {
		b.ReportMetric(100, "bursts-%")
	} else {
		b.ReportMetric(2e6*(1+0.02*(rand.Float64()-0.5)), "p50-ttft-ns")
	}
}
`

// TestBuffering compares and bisects versions of a gateway of which the later ones buffer streams.
func TestBuffering(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if apart(t) {
		return
	}
	change, _ := serverFixture(t)
	units, binary := filepath.Join(t.TempDir(), "units"), filepath.Join(t.TempDir(), "any.test")
	assert.NilError(t, os.WriteFile(units, []byte("Unit p50-ttft-ns better=lower gate=5%\n"), 0o666))
	assert.NilError(t, os.WriteFile("fixture_test.go", []byte(bufferingTest), 0o666))
	_, err := proc.Command(t.Context(), "", "go", "test", "-c", "-o", binary, ".")
	assert.NilError(t, err)
	assert.NilError(t, os.Remove("fixture_test.go"))
	const first = 11 // the commit that begins to buffer
	var hashes []string
	for i := range 16 {
		value := fmt.Sprintf("streams %d", i)
		if i >= first {
			value = fmt.Sprintf("buffers %d", i)
		}
		change(value)
		commit(t)
		hashes = append(hashes, git(t, "rev-parse", "HEAD"))
	}
	flags := func(name string, more ...string) []string {
		all := append([]string{name, "-build=cp value {out}", "-command={out}/server --port {port}", "-units=" + units, "-bench-from=" + binary, "-out=" + t.TempDir()}, more...)
		return append(all, "--", "-bench=Server", "-benchtime=1x")
	}

	for _, removed := range []string{"-removed=fail", "-removed=allow"} {
		status, stdout, stderr := benchgate(flags("ab", "-base="+hashes[0], "-n=20", removed)...)
		assert.Equal(t, status, command.Regression, "%s%s", stdout, stderr)
		assert.Assert(t, strings.HasPrefix(stdout, fmt.Sprintf("regression after 8 of 20 rounds: the working tree at %.12s buffers streams: 8 of 8 runs come in bursts, 0 of 8 before; p50-ttft-ns withheld; ", hashes[15])), stdout)
	}
	status, stdout, stderr := benchgate(flags("ab", "-base="+hashes[15], "-n=10", "-bench-from="+binary)...)
	assert.Equal(t, status, command.CannotJudge, "both sides buffer: %s%s", stdout, stderr)
	assert.Assert(t, strings.Contains(stdout, "nothing can be judged: 10 of 10 runs of the working tree"), stdout)

	status, stdout, stderr = benchgate(flags("bisect", "-good="+hashes[0], "-bad="+hashes[15], "-seed=1", "-format=json")...)
	assert.Equal(t, status, 0, "%s%s", stdout, stderr)
	var r bisectJSON
	assert.NilError(t, json.Unmarshal([]byte(stdout), &r))
	assert.Equal(t, r.First, hashes[first], "%s%s", stdout, stderr)
	assert.Equal(t, r.Unit, "bursts-%")
	assert.Assert(t, strings.HasPrefix(r.Summary, fmt.Sprintf("%.12s is the first commit that is worse than allowed: Server", hashes[first])), r.Summary)
	assert.Assert(t, strings.Contains(r.Summary, fmt.Sprintf("only the runs of %.12s come in bursts and not of its parent", hashes[first])), r.Summary)
}
