package measure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
)

// A team is a group of benchgate commands that start the shards of the benchmark processes. A shard is one of
// several processes that share the load of one benchmark. A launcher such as srun starts one command per shard,
// and each command starts its shard of every process. Shard 0 decides which process runs next and keeps the
// samples; the other shards follow. If there is only one command, the team is nil.
//
// Shard 0 listens for the team only until all commands have joined. The connections then stay open, and the
// benchmark processes use the same address to meet.
type team struct{ *shard.Group }

// An order is an instruction of shard 0 to the other shards: to run a binary, or to finish.
type order struct {
	Side, Package string
	End           bool
}

// readShards returns the configuration of shards from the environment.
func readShards() (shard.Config, error) {
	r := env.NewReader(os.Environ())
	c := shard.ReadFrom(r)
	if c.Alone() {
		return c, nil // the benchmark processes report wrong variables
	}
	return c, r.Err()
}

// join connects to the commands of the other shards, or returns nil if there are none. The team ends when the
// user interrupts the command, which ends ctx with proc.ErrInterrupted. Refused connections are reported to stderr.
// The shards may have to wait for a process of another shard, so each step of the team may take as long as
// timeout.
func join(ctx context.Context, c shard.Config, timeout time.Duration, stderr io.Writer) (*team, error) {
	if c.Alone() {
		return nil, nil
	}
	interrupted, interrupt := context.WithCancelCause(context.Background())
	context.AfterFunc(ctx, func() {
		if context.Cause(ctx) == proc.ErrInterrupted {
			interrupt(proc.ErrInterrupted)
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

// agree returns an error unless all commands have the same identity: the same flags and binaries, and the same
// rules for the verdict.
func (t *team) agree(id identity) error {
	if t == nil {
		return nil
	}
	var facts []shard.Fact
	for _, name := range slices.Sorted(maps.Keys(id)) {
		facts = append(facts, shard.Fact{Name: name, Value: id[name]})
	}
	return t.Agree("benchgate", facts)
}

// order tells the other shards what to do.
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

// ran waits until every shard's process has ended. It returns err, or the error of another shard whose process
// failed.
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

// finish ends the team with the exit status of shard 0, and returns this status in all commands. If it returns
// an error, all commands have one.
func (t *team) finish(status int) (int, error) {
	if t == nil {
		return status, nil
	}
	if t.Index == 0 {
		if err := t.order(order{End: true}); err != nil {
			return command.CannotJudge, err
		}
	}
	all, err := t.Finish(byte(status))
	if err != nil {
		return command.CannotJudge, err
	}
	return int(all), nil
}

// leave closes the connections. If err is not nil, it first tells the other shards that there is no report.
func (t *team) leave(err error) {
	if t == nil {
		return
	}
	if err != nil {
		t.Fail(err)
	}
	t.Close()
}

// follow runs the binaries that shard 0 asks for until shard 0 ends the team, and returns the exit status of shard
// 0.
func (t *team) follow(ctx context.Context, r *rounds) (status int, err error) {
	for {
		data, err := t.Share("next", nil)
		if err != nil {
			return command.CannotJudge, err
		}
		var o order
		if err := json.Unmarshal(data, &o); err != nil {
			return command.CannotJudge, t.Fail(err)
		}
		if o.End {
			return t.finish(0)
		}
		side, b, found := r.binary(o)
		if !found {
			return command.CannotJudge, t.Fail(fmt.Errorf("no binary of %s for %s", o.Side, o.Package))
		}
		fmt.Fprintf(r.progress, "shard %d: %s %s\n", t.Index, o.Side, o.Package)
		_, err = r.process(ctx, side, b)
		if err := t.ran(err); err != nil {
			return command.CannotJudge, err
		}
	}
}

// binary returns the side and the binary that an order names.
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

// within returns a copy of ctx that also ends when the team ends.
func (t *team) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if t == nil {
		return ctx, func() { cancel(nil) }
	}
	stop := context.AfterFunc(t.Context(), func() { cancel(t.Err()) })
	return ctx, func() { stop(); cancel(nil) }
}

// errFollowed is the error that collect returns in all shards but shard 0, because only shard 0 has the report.
var errFollowed = errors.New("shard 0 has the report")
