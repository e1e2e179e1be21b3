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

// errInterrupted is the error if the user interrupted the command.
var errInterrupted = errors.New("interrupted")

// An interrupt ends a command in two steps. The first Ctrl-C or SIGTERM ends the context gentle: the running
// processes get an interrupt signal, complete samples are kept, and the files of the base are removed. A second
// signal at least one second later ends the context hard, which kills the processes. In both cases the command
// itself cleans up before it ends.
//
// The second must be at least one second later because "go tool" forwards signals, so one Ctrl-C at a terminal
// arrives twice. The command must not die by a signal because "go tool" reports a tool that was killed by a
// signal as successful.
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
				fmt.Fprintln(stderr, "interrupted: waiting for the running processes to end; interrupt again to kill them")
				end(errInterrupted)
			case time.Since(first) > time.Second:
				kill(errInterrupted)
			}
		}
	}()
	return interrupt{gentle, hard, func() { signal.Stop(signals); close(done); end(nil); kill(nil) }}
}
