package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// errInterrupted is why a command ends when the user asked for it.
var errInterrupted = errors.New("interrupted")

// An interrupt ends a command in two steps. The first Ctrl-C or SIGTERM ends gently:
// processes are asked to end, what is whole is kept, and worktrees are removed. A
// second one, a second or more after it, kills the processes. Neither kills the
// command itself before it has cleaned up: "go tool" forwards signals, so that one
// Ctrl-C at a terminal comes twice, and it reports a tool that a signal killed as a
// success.
type interrupt struct {
	gentle, hard context.Context
	stop         func()
}

func newInterrupt(stderr io.Writer) interrupt {
	gentle, end := context.WithCancelCause(context.Background())
	hard, kill := context.WithCancelCause(context.Background())
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var first time.Time
		for {
			select {
			case <-done:
				return
			case <-signals:
			}
			switch {
			case first.IsZero():
				first = time.Now()
				fmt.Fprintln(stderr, "interrupted: waiting for what runs to end; once more kills it")
				end(errInterrupted)
			case time.Since(first) > time.Second:
				kill(errInterrupted)
			}
		}
	}()
	return interrupt{gentle, hard, func() { signal.Stop(signals); close(done); end(nil); kill(nil) }}
}
