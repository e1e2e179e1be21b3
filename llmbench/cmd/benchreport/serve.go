package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/live"
)

const serveUsage = "usage: benchreport serve [-addr address] [folder]"

// serve runs "benchreport serve" until SIGINT or SIGTERM arrives, and returns the exit status.
func serve(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return serveUntil(ctx, args, stdout, stderr)
}

// serveUntil is like serve but runs until ctx ends.
func serveUntil(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("benchreport serve", flag.ContinueOnError)
	addr := fs.String("addr", "127.0.0.1:0", "listen at this `address`; port 0 is any free one")
	folders, err := cli.Parse(fs, serveUsage, args, stdout, stderr)
	switch {
	case err != nil:
		return fail(stderr, err)
	case len(folders) > 1:
		return fail(stderr, fmt.Errorf("serve: %d folders: want one", len(folders)))
	}
	folder := os.Getenv("LLMBENCH_OUT")
	if len(folders) == 1 {
		folder = folders[0]
	}
	if folder == "" {
		return fail(stderr, errors.New("serve: no folder: want one as an argument, or LLMBENCH_OUT"))
	}
	if path, err := filepath.Abs(folder); err == nil {
		folder = path
	}
	host, _, err := net.SplitHostPort(*addr)
	if err != nil {
		return fail(stderr, fmt.Errorf("serve: -addr %q: %w: want host:port", *addr, err))
	}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		return fail(stderr, fmt.Errorf("serve: -addr %s: %w", *addr, err))
	}
	if _, err := fmt.Fprintf(stdout, "http://%s shows the runs in %s; Ctrl-C ends it\n", l.Addr(), folder); err != nil {
		l.Close()
		return fail(stderr, fmt.Errorf("serve: %w", err))
	}
	if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(stdout, "%s does not exist yet: a benchmark with LLMBENCH_OUT=%[1]s makes it\n", folder)
	}
	if !live.IsLocal(l.Addr()) {
		fmt.Fprintf(stderr, "benchreport: warning: everybody who reaches %s can read the records, without a password and without encryption\n", l.Addr())
	}
	if err := live.NewServer(live.NewWatcher(folder), host).Serve(ctx, l); err != nil {
		return fail(stderr, fmt.Errorf("serve: %w", err))
	}
	return 0
}
