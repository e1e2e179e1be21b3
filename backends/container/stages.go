package container

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A stage is a part of a server's start.
type stage struct {
	name  string
	limit time.Duration
	do    func(ctx context.Context) error
}

// stages returns the stages of the start in their order. Each stage proves more
// than the one before: a server with an open port may not be healthy, and a
// healthy server may lack the model, or be unable to run it.
func stages(i *instance) []stage {
	d := i.spec.Deadlines
	return []stage{
		{"image", d.Image, i.getImage},
		{"running", d.Running, i.getRunning},
		{"port", d.Port, i.getPort},
		{"health", d.Health, i.getHealth},
		{"setup", d.Setup, i.getSetup},
		{"model", d.Model, i.getModel},
		{"completion", d.Completion, i.getCompletion},
	}
}

// run runs one stage. The stage ends at its deadline, or when a container ends.
func run(ctx context.Context, i *instance, st stage) error {
	began := time.Now()
	errLate := fmt.Errorf("not within %v", st.limit)
	ctx, cancel := context.WithTimeoutCause(ctx, st.limit, errLate)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	for _, box := range i.boxes() {
		go func() {
			select {
			case <-box.Ended():
				fail(errors.New("the container ended"))
			case <-ctx.Done():
			}
		}()
	}
	err := st.do(ctx)
	if err == nil {
		i.logf("%s: %s: done after %v", i.spec.Backend, st.name, time.Since(began).Round(time.Millisecond))
		return nil
	}
	ended := i.endedWithin(endGrace)
	switch cause := context.Cause(ctx); {
	case ended:
		err = errors.New(i.end())
	case cause == errLate:
		err = fmt.Errorf("%w: %w", errLate, err)
	case cause != nil:
		err = cause
	}
	return i.failure(st.name, err)
}

// endGrace is how long to wait for a container that seems to have failed to end,
// so that the error can tell its exit status and its last words.
const endGrace = time.Second

// lastWords bounds the wait for the last lines of a container that has ended.
const lastWords = time.Minute
