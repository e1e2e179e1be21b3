package conn

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
)

// TestGoexit checks that a function that ends its goroutine also ends the caller's goroutine.
func TestGoexit(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    func()
		want bool
	}{
		{"returns", func() {}, true},
		{"ends the goroutine", runtime.Goexit, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wentOn := false
			var caller sync.WaitGroup
			caller.Go(func() {
				Apart(tt.f)
				wentOn = true
			})
			caller.Wait()
			assert.Equal(t, wentOn, tt.want)
		})
	}
}

// TestPanic checks that a panic ends the process before the caller continues.
func TestPanic(t *testing.T) {
	const name = "LLMBENCH_TEST_APART_PANIC"
	if os.Getenv(name) != "" {
		Apart(func() { panic("of f") })
		fmt.Println("the caller went on")
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPanic$")
	cmd.Env = append(os.Environ(), name+"=1")
	out, err := cmd.CombinedOutput()
	assert.Assert(t, err != nil, "%s", out)
	assert.Assert(t, strings.Contains(string(out), "panic: of f"), "%s", out)
	assert.Assert(t, !strings.Contains(string(out), "went on"), "%s", out)
}
