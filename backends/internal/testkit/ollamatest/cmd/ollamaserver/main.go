// Ollamaserver runs a real Ollama with a tiny generated model in the foreground, for use with any client:
//
//	go run ./backends/internal/testkit/ollamatest/cmd/ollamaserver -parallel 4 -addr 127.0.0.1:11434
//
// If the cache does not contain Ollama, the command first builds it, which takes minutes. It prints the
// base URL when the server is ready, and runs until Ctrl-C. With -build it only builds Ollama. Its exit
// status is 3 if this machine cannot build Ollama. Package ollamatest documents what the build needs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/ollamatest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "ollamaserver:", err)
		if errors.Is(err, need.ErrUnavailable) {
			os.Exit(3)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var o ollamatest.Options
	build := flag.Bool("build", false, "only build, and print the path of the program")
	flag.StringVar(&o.Addr, "addr", "127.0.0.1:11434", "`host:port` to listen on")
	flag.IntVar(&o.Parallel, "parallel", 4, "requests served at once")
	flag.IntVar(&o.Context, "context", 4096, "tokens per request")
	verbose := flag.Bool("v", false, "print the server's log on stderr")
	flag.Parse()
	program, err := ollamatest.Build(ctx)
	if err != nil {
		return err
	}
	if *build {
		fmt.Println(program)
		return nil
	}
	if *verbose {
		o.Log = os.Stderr
	}
	s, err := ollamatest.Run(ctx, o)
	if err != nil {
		return err
	}
	fmt.Println(s.URL)
	select {
	case <-ctx.Done():
	case <-s.Done():
	}
	return s.Close()
}
