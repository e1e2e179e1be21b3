package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// BenchmarkLogs compares two logs of 50 MB with 60 processes each. Nearly all their lines are no results. The unit
// peak-MB is the largest resident set of benchgate in 10^6 bytes, which getrusage(2) has.
func BenchmarkLogs(b *testing.B) {
	const size, loads = 50e6, 4
	dir := b.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	logs := [2]string{filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")}
	for _, path := range logs {
		var text bytes.Buffer
		for text.Len() < size {
			text.WriteString("goos: linux\npkg: example.com/serving\nUnit p50-ttft-ns better=lower gate=5%\n")
			for load := range loads {
				for n := range 2000 {
					fmt.Fprintf(&text, "    serving_test.go:%d: request %d took %d ms, and then the server said something about its own queue\n", n%100, n, r.IntN(1000))
				}
				fmt.Fprintf(&text, "BenchmarkServing/concurrency=%d-2 \t       1\t1000000000 ns/op\t%.0f p50-ttft-ns\n", 1<<load, 4e8+4e6*r.NormFloat64())
			}
			text.WriteString("PASS\nok  \texample.com/serving\t1.0s\n")
		}
		assert.NilError(b, os.WriteFile(path, text.Bytes(), 0o600))
	}
	tool := filepath.Join(dir, "benchgate")
	out, err := exec.Command("go", "build", "-o", tool, ".").CombinedOutput()
	assert.NilError(b, err, "%s", out)
	b.SetBytes(2 * size)
	peak := int64(0)
	for b.Loop() {
		cmd := exec.Command(tool, logs[0], logs[1])
		out, err := cmd.CombinedOutput()
		assert.NilError(b, err, "%s", out)
		peak = max(peak, int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)) // 32 bits on some systems
	}
	b.ReportMetric(float64(peak)*1024/1e6, "peak-MB")
}
