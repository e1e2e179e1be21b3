package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
)

// A team is the commands that each start one shard of every process, because a launcher such as srun
// started the command itself as often as there are shards. Shard 0 decides which process is next, and
// keeps the samples; the others follow. A nil team is a command alone.
//
// The connections of the team stay open while the processes meet at the same address: shard 0 listens
// there only until all have joined.
type team struct{ *shard.Group }

// An order is what shard 0 tells the others to do next: to run a binary, or to end.
type order struct {
	Side, Package string
	End           bool
	Status        int // the exit status
}

// readShards returns what the environment says about the shards.
func readShards() (shard.Config, error) {
	r := env.NewReader(os.Environ())
	c := shard.ReadFrom(r)
	if c.Alone() {
		return c, nil // the processes say what is wrong with the variables
	}
	return c, r.Err()
}

// join joins the other commands, or returns nil if there are none. The team ends when ctx is
// interrupted. It writes to stderr who was refused. A step may take as long as a process.
func join(ctx context.Context, c shard.Config, timeout time.Duration, stderr io.Writer) (*team, error) {
	if c.Alone() {
		return nil, nil
	}
	interrupted, interrupt := context.WithCancelCause(context.Background())
	context.AfterFunc(ctx, func() {
		if context.Cause(ctx) == errInterrupted {
			interrupt(errInterrupted)
		}
	})
	machine, err := os.Hostname()
	g, err := shard.Join(interrupted, shard.Options{
		Part: c.Part, Addr: c.Addr, Token: c.Token, Timeout: c.Timeout, StepTimeout: max(timeout, c.Timeout),
		Name: cmp.Or(machine, fmt.Sprint(err)), Facts: []shard.Fact{{Name: "the program", Value: "benchgate"}},
		Log: func(text string) { fmt.Fprintln(stderr, "benchgate:", text) },
	})
	if err != nil {
		return nil, err
	}
	return &team{g}, nil
}

// agree returns an error unless all commands have built the same binaries and have the same flags.
func (t *team) agree(id identity) error {
	if t == nil {
		return nil
	}
	var facts []shard.Fact
	for name, value := range id {
		facts = append(facts, shard.Fact{Name: name, Value: value})
	}
	slices.SortFunc(facts, func(a, b shard.Fact) int { return cmp.Compare(a.Name, b.Name) })
	return t.Agree("benchgate", facts)
}

// order tells the others what to do.
func (t *team) order(o order) error {
	if t == nil {
		return nil
	}
	data, err := json.Marshal(o)
	if err == nil {
		_, err = t.Share("next", data)
	}
	return err
}

// ran returns err, or else the error of another command whose process has failed.
func (t *team) ran(err error) error {
	if t == nil {
		return err
	}
	if err != nil {
		return t.Fail(err)
	}
	_, err = t.Gather("ran", nil, nil)
	return err
}

// end tells the others the exit status, or that there is no report because of err.
func (t *team) end(status int, err error) {
	if t == nil {
		return
	}
	if err != nil {
		t.Fail(err)
	} else if t.Index == 0 {
		t.order(order{End: true, Status: status})
	}
	t.Close()
}

// follow runs the binaries that shard 0 names, until shard 0 ends. It returns the exit status.
func (t *team) follow(ctx context.Context, r *rounds) (status int, err error) {
	for {
		data, err := t.Share("next", nil)
		if err != nil {
			return exitCannotJudge, err
		}
		var o order
		if err := json.Unmarshal(data, &o); err != nil {
			return exitCannotJudge, t.Fail(err)
		}
		if o.End {
			return o.Status, nil
		}
		side, b, found := r.binary(o)
		if !found {
			return exitCannotJudge, t.Fail(fmt.Errorf("no binary of %s for %s", o.Side, o.Package))
		}
		fmt.Fprintf(r.progress, "shard %d: %s %s\n", t.Index, o.Side, o.Package)
		_, err = r.process(ctx, side, b)
		if err := t.ran(err); err != nil {
			return exitCannotJudge, err
		}
	}
}

// binary returns the binary that an order names, and its side.
func (r *rounds) binary(o order) (side, binary, bool) {
	for _, s := range r.sides {
		for _, b := range s.binaries {
			if s.name == o.Side && b.pkg == o.Package {
				return s, b, true
			}
		}
	}
	return side{}, binary{}, false
}

// within returns a context that ends with the team, too.
func (t *team) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if t == nil {
		return ctx, func() { cancel(nil) }
	}
	stop := context.AfterFunc(t.Context(), func() { cancel(t.Err()) })
	return ctx, func() { stop(); cancel(nil) }
}

// errFollowed is the error of collect in a command that follows shard 0, which has the report.
var errFollowed = errors.New("shard 0 has the report")
