// Engines installs, starts, checks and lists real inference engines and gateways on this machine: vLLM, llama.cpp, NVIDIA
// Dynamo, HAProxy, Envoy and others, without an image registry, a GPU or weights.
//
//	go run ./.ci/engines -list        what there is
//	go run ./.ci/engines vllm         installs vLLM if it is missing, and serves a tiny model until Ctrl-C
//	go run ./.ci/engines -gateways -check all    installs gateways and routers, and checks them
//	go run ./.ci/engines -help        the rest
//
// It is the command backends/internal/testkit/enginetest/cmd/engines, which this program builds and runs.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

const command = "github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/enginetest/cmd/engines"

func main() {
	err := run(os.Args[1:])
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "engines:", err)
		os.Exit(1)
	}
}

// run builds the command and runs it. The command also gets the signals that this process gets.
func run(args []string) error {
	dir, err := os.MkdirTemp("", "engines-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "engines")
	build := exec.Command("go", "build", "-o", path, command)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // the command may have ended
		}
	}()
	return cmd.Wait()
}
