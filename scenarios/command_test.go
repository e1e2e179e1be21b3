package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestCommandArguments checks what the arguments of llmbench mean to the test binary.
func TestCommandArguments(t *testing.T) {
	for _, c := range []struct {
		args   string
		want   string // the arguments of the test binary, or what is printed
		status int    // -1: the process goes on
	}{
		{"-bench=Serve", "-test.bench=Serve -test.run=^$ -test.benchtime=1x", -1},
		{"--bench Serve -v -count 3", "-test.bench=Serve -test.v -test.count=3 -test.run=^$ -test.benchtime=1x", -1},
		{"-test.bench=. -benchtime=2x -run=None", "-test.bench=. -test.benchtime=2x -test.run=None", -1},
		{"-bench -benchtime=2x", "-test.bench=-benchtime=2x -test.run=^$ -test.benchtime=1x", -1}, // a value, as package flag has it
		{"-list .", "-test.list=. -test.run=^$ -test.benchtime=1x", -1},
		{"-v=false -bench=A", "-test.v=false -test.bench=A -test.run=^$ -test.benchtime=1x", -1},
		{"-h", "usage: LLMBENCH_URL=", 0},
		{"-bench=. --help", "run these scenarios: Accuracy, Agent, Agreement, Chat, CodeQA, ColdStart, Concurrency, Decode, Embeddings, Fairness,", 0},
		{"-help", "LLMBENCH_SHARDS, LLMBENCH_STAGES\nstill work, too", 0},
		{"version", "llmbench devel go", 0},
		{"", "llmbench: no scenario: want -bench=REGEXP", 2},
		{"-v", "llmbench: no scenario: want -bench=REGEXP", 2},
		{"Serve", `llmbench: argument "Serve": want flags only, such as -bench=Serve`, 2},
		{"-bench=Serve Chat", `llmbench: argument "Chat": want flags only`, 2},
		{"-race -bench=.", "llmbench: flag -race is not known", 2},
		{"-bench", "llmbench: flag -bench: want a value, as in -bench=VALUE", 2},
	} {
		var out bytes.Buffer
		full, status, end := command(strings.Fields(c.args), flag.Lookup, &out, &out)
		if c.status < 0 {
			assert.Assert(t, !end, "%s: %s", c.args, &out)
			assert.Equal(t, strings.Join(full, " "), c.want)
			continue
		}
		assert.Assert(t, end && status == c.status && strings.Contains(out.String(), c.want), "%s: %d, %s", c.args, status, &out)
	}
}

func TestIsCommand(t *testing.T) {
	for path, want := range map[string]bool{
		"/usr/bin/llmbench": true, "llmbench-linux-amd64": true, "llmbench-windows-amd64.exe": true,
		"scenarios.test": false, "llmbench.test": false, "llmbench.test.exe": false, "/llmbench/scenarios.test": false,
	} {
		assert.Equal(t, isCommand(path), want, path)
	}
}

// TestCommandMeasures runs this binary under the name llmbench, in an empty folder, against a server with a URL.
func TestCommandMeasures(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	name := filepath.Join(t.TempDir(), "llmbench")
	if err := os.Symlink(self, name); err != nil {
		t.Skip("skipped: no symbolic links: ", err)
	}
	_, url := mockserver.Start(t, mockserver.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	wrong, err := exec.CommandContext(ctx, name, "-bench=serve").CombinedOutput()
	assert.ErrorContains(t, err, "exit status 2")
	assert.Assert(t, strings.HasPrefix(string(wrong), "-bench=serve: no benchmark has such a name; there are Benchmark"), "%s", wrong)
	wrong, err = exec.CommandContext(ctx, name, "-bench=Serve/concurency=2").CombinedOutput()
	assert.ErrorContains(t, err, "exit status 2")
	const none = "-bench=Serve/concurency=2: no result: BenchmarkServe has no sub-benchmark of such a name\n"
	assert.Assert(t, strings.Contains(string(wrong), none), "%s", wrong)
	// A pattern of go test may be for another package.
	for pattern, want := range map[string]string{"serve": "# -bench=serve: no benchmark has such a name; there are Benchmark", "Serve/concurency=2": "# " + none} {
		out, err := exec.CommandContext(ctx, self, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime=1x").Output()
		assert.NilError(t, err, "%s", out)
		assert.Assert(t, strings.Contains(string(out), want), "%s", out)
	}
	cmd := exec.CommandContext(ctx, name, "-bench=Serve")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "LLMBENCH_URL="+url, "LLMBENCH_CONCURRENCY=2", "LLMBENCH_REQUESTS=4", "LLMBENCH_OUTPUT=4", "LLMBENCH_CLIENT_BOUND=report", "LLMBENCH_REPORT=page.html,page.json", "LLMBENCH_PRICE=2.49/h", "LLMBENCH_OUT=out[1")
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	for _, want := range []string{"BenchmarkServe/backend=url/", "concurrency=2", " output-tok/s ", "\nPASS\n"} {
		assert.Assert(t, strings.Contains(string(out), want), "no %q in\n%s", want, out)
	}
	page, err := os.ReadFile(filepath.Join(cmd.Dir, "page.html"))
	assert.NilError(t, err, "%s", out)
	assert.Assert(t, strings.Contains(string(page), "concurrency=2") && strings.Contains(string(page), "price of a million output tokens") && strings.Contains(string(out), "# the page with these results: "+filepath.Join(cmd.Dir, "page.html")+"\n# the summary of these results: "+filepath.Join(cmd.Dir, "page.json")+"\n"), "%s", out)
	summary, err := os.ReadFile(filepath.Join(cmd.Dir, "page.json"))
	assert.NilError(t, err, "%s", out)
	assert.Assert(t, json.Valid(summary) && bytes.Contains(summary, []byte(`"concurrency": "2"`)) && bytes.Contains(summary, []byte(`"price/Mtok": {`)), "%s", summary)
	var stderr bytes.Buffer // another file than standard output
	cmd = exec.CommandContext(ctx, name, "-bench=Serve")
	cmd.Stderr = &stderr
	cmd.Env = append(os.Environ(), "LLMBENCH_URL="+url, "LLMBENCH_CONCURRENCY=2", "LLMBENCH_REQUESTS=4", "LLMBENCH_OUTPUT=4", "LLMBENCH_CLIENT_BOUND=report")
	out, err = cmd.Output()
	assert.NilError(t, err, "%s", out)
	first, table, _ := strings.Cut(stderr.String(), "\n\n")
	assert.Assert(t, strings.HasPrefix(first, "measuring "+url+", model mock: Serve. Before the first measured request come questions to the server and a warm-up.\nServe concurrency=2: ") &&
		strings.Contains(table, "\n  concurrency=2 "), "%s", &stderr)
	for _, args := range [][]string{{"-test.bench=serve"}, {"-test.bench=Serve", "-test.list=Serve"}} { // nothing is measured
		cmd := exec.CommandContext(ctx, self, append(args, "-test.run=^$")...)
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "LLMBENCH_REPORT=page.html")
		out, err := cmd.CombinedOutput()
		assert.NilError(t, err, "%s", out)
		assert.Equal(t, strings.Contains(string(out), "# LLMBENCH_REPORT=page.html: no page: no benchmark wrote records"), len(args) == 1, "%s", out)
	}
	for path, want := range map[string]string{"page.txt": `LLMBENCH_REPORT=page.txt: "page.txt": want the path of a file whose name ends in .html or in .json, host:port, or one of each`, "a.html,b.html": `"b.html": want the path of a file`, "a,b.html": `"a": want the path of a file whose name ends in .html or in .json, host:port, or one of each with commas between them; a path has no comma`, "no/page.html": "no such file or directory"} {
		cmd := exec.CommandContext(ctx, name, "-bench=Serve")
		cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "LLMBENCH_URL="+url, "LLMBENCH_REPORT="+path)
		out, err := cmd.CombinedOutput()
		assert.ErrorContains(t, err, "exit status 1")
		assert.Assert(t, strings.Contains(string(out), want) && !strings.Contains(string(out), "Benchmark"), "%s", out)
	}
}
