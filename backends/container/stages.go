package container

import (
	"context"
	"errors"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
)

// A stage is a part of a server's start.
type stage struct {
	name  string
	limit time.Duration
	do    func(ctx context.Context) error
}

// stages returns the stages of the start in order. Each stage checks more than the previous one: a server
// with an open port may not be healthy, and a healthy server may not have the model, or may be unable to
// run it.
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

// run runs one stage. The stage fails at its deadline, or if a container exits.
func run(ctx context.Context, i *instance, st stage) error {
	began := time.Now()
	err := probe.Within(ctx, st.limit, i.endings(), st.do)
	if err == nil {
		i.logf("%s: %s: done after %v", i.spec.Backend, st.name, time.Since(began).Round(time.Millisecond))
		return nil
	}
	if i.endedSoon() {
		err = errors.New(i.end())
	}
	return i.failure(st.name, err)
}

// lastWords limits the wait for the last lines of a container that has exited.
const lastWords = time.Minute
