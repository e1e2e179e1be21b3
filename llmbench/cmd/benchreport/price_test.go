package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestPrice checks the price of a million output tokens in the answer, for all systems and for single ones.
func TestPrice(t *testing.T) {
	var all strings.Builder
	for backend, rate := range map[string]float64{"vllm": 2000, "llamacpp": 500} {
		for users := 1; users <= 4; users *= 2 {
			fmt.Fprintf(&all, "BenchmarkServe/backend=%s/concurrency=%d-2 1 %.0f output-tok/s 20000000 p50-ttft-ns\n", backend, users, rate*float64(users))
		}
	}
	file := filepath.Join(t.TempDir(), "new.txt")
	assert.NilError(t, os.WriteFile(file, []byte("goos: linux\npkg: p\n"+all.String()+"PASS\n"), 0o600))
	for _, c := range []struct {
		prices []string
		want   []string // in the page
		err    string
	}{
		{[]string{"3.6/h"}, []string{"0.125", "2"}, ""}, // 3.6/3600 = 0.001 a second; 8000 and 500 tok/s
		{[]string{"vllm=7.2/h", "llamacpp=0.36/h"}, []string{"0.25", "0.2"}, ""},
		{[]string{"new=3.6/h"}, []string{"0.125", "2"}, ""},
		{nil, nil, ""},
		{[]string{"tgi=1/h"}, nil, `price of "tgi": want the backend, the model or another part`},
		{[]string{"vllm=1/h", "4=1/h"}, nil, `prices of "4" and of "vllm": Serve/backend=vllm/concurrency=4-2 has both names: want one price for each system`},
		{[]string{"vllm=1"}, nil, `"1": want a price of an hour of the server, such as 2.49/h`},
	} {
		args := []string{"-o=-"}
		for _, p := range c.prices {
			args = append(args, "-price="+p)
		}
		var page, stderr bytes.Buffer
		status := run(append(args, file), &page, &stderr)
		assert.Equal(t, status == 0, c.err == "", "%q: %s", c.prices, &stderr)
		assert.Assert(t, strings.Contains(stderr.String(), c.err), "%q: %s", c.prices, &stderr)
		assert.Equal(t, strings.Contains(page.String(), "rice of a million output tokens"), len(c.want) > 0, "%q", c.prices)
		for _, want := range c.want {
			assert.Assert(t, strings.Contains(page.String(), ">"+want+"<"), "%q: no %s in the page", c.prices, want)
		}
	}
}

// TestPriceText checks the prices in the answer of two systems, and of a load without output tokens.
func TestPriceText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new.txt")
	assert.NilError(t, os.WriteFile(file, []byte("BenchmarkServe/backend=a/concurrency=1 1 1000 output-tok/s 2e7 p50-ttft-ns\n"+
		"BenchmarkServe/backend=a/concurrency=2 1 0 output-tok/s 2e7 p50-ttft-ns\nBenchmarkServe/backend=b/concurrency=1 1 500 output-tok/s 2e7 p50-ttft-ns\nPASS\n"), 0o600))
	var text, page, stderr bytes.Buffer
	assert.Equal(t, run([]string{"-format=text", "-price=a=3.6/h", "-price=b=36/h", file}, &text, &stderr), 0, "%s", &stderr)
	assert.Assert(t, strings.Contains(text.String(), "price, a  price, b"), "%s", &text)
	assert.Equal(t, run([]string{"-o=-", "-price=3.6/h", file}, &page, &stderr), 0, "%s", &stderr)
	assert.Assert(t, !strings.Contains(page.String(), "Inf"))
}
