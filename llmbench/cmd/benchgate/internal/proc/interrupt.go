package proc

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

// ErrInterrupted is the error if the user interrupted the command.
var ErrInterrupted = errors.New("interrupted")

// An Interrupt ends a command in two steps. The first Ctrl-C or SIGTERM ends the context Gentle: the running
// processes get an interrupt signal, complete samples are kept, and the files of the base are removed. A second
// signal at least one second later ends the context Hard, which kills the processes. In both cases the command
// itself cleans up before it ends.
//
// The second must be at least one second later because "go tool" forwards signals, so one Ctrl-C at a terminal
// arrives twice. The command must not die by a signal because "go tool" reports a tool that was killed by a
// signal as successful.
type Interrupt struct {
	Gentle, Hard context.Context
	Stop         func()
}

// NewInterrupt returns an interrupt that prints to stderr what it waits for. The caller must call Stop.
func NewInterrupt(stderr io.Writer) Interrupt {
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
				end(ErrInterrupted)
			case time.Since(first) > time.Second:
				kill(ErrInterrupted)
			}
		}
	}()
	return Interrupt{gentle, hard, func() { signal.Stop(signals); close(done); end(nil); kill(nil) }}
}
