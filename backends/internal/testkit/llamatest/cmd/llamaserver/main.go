// Llamaserver runs a real llama.cpp llama-server with a tiny generated model in the foreground, for use
// with any client:
//
//	go run ./backends/internal/testkit/llamatest/cmd/llamaserver -parallel 4 -addr 127.0.0.1:8080
//
// It prints the base URL when the server is ready, and ends with Ctrl-C. Arguments after
// -- are passed to llama-server. Package llamatest documents where the server comes
// from and what it needs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "llamaserver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var o llamatest.Options
	flag.StringVar(&o.Addr, "addr", "127.0.0.1:8080", "`host:port` to listen on")
	flag.IntVar(&o.Parallel, "parallel", 4, "slots, which is the number of requests served at once")
	flag.IntVar(&o.Context, "context", 4096, "tokens per slot")
	flag.BoolVar(&o.Model.EndsTurns, "ends-turns", false, "let the model end its turns, after about 150 tokens, instead of at the token limit")
	flag.IntVar(&o.Model.Dim, "dim", 64, "the model's embedding length, a multiple of 64; the number of heads and the feed-forward length depend on it")
	flag.IntVar(&o.Model.Layers, "layers", 2, "transformer blocks of the model; -dim 512 -layers 4 makes 20 MB and 1 ms a token")
	flag.BoolVar(&o.Container, "container", false, "run the server in a Docker container even if a chroot is possible")
	verbose := flag.Bool("v", false, "print the server's log on stderr")
	flag.Parse()
	o.Args = flag.Args()
	if o.Model.Dim < 64 || o.Model.Dim%64 != 0 || o.Model.Dim > 4096 {
		return fmt.Errorf("-dim %d: want a multiple of 64, at most 4096", o.Model.Dim)
	}
	if o.Model.Layers < 1 || o.Model.Layers > 64 {
		return fmt.Errorf("-layers %d: want 1 to 64", o.Model.Layers)
	}
	o.Model.Heads, o.Model.FF = max(4, o.Model.Dim/64), 2*o.Model.Dim
	o.Model.KVHeads = o.Model.Heads / 2
	if *verbose {
		o.Log = os.Stderr
	}
	s, err := llamatest.Run(ctx, o)
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
