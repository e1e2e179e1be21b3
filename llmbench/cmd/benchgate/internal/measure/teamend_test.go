package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"gotest.tools/v3/assert"
)

// ends returns how often a test ends a team: n times, or 2,000 times if LLMBENCH_FULL=1 asks for the long form.
func ends(n int) int {
	if os.Getenv("LLMBENCH_FULL") == "1" {
		return 2000
	}
	return n
}

// TestTeamEnds ends teams, again and again. All commands must have the exit status of shard 0, whichever of them
// leaves first.
func TestTeamEnds(t *testing.T) {
	for _, count := range []int{3, 16} {
		t.Run(fmt.Sprint(count, " shards"), func(t *testing.T) {
			for range ends(20) {
				statuses, errs := endTeam(t, count, -1)
				assert.NilError(t, errors.Join(errs...))
				assert.DeepEqual(t, statuses, slices.Repeat([]int{command.Regression}, count))
			}
		})
	}
}

// TestTeamInterrupted interrupts one of the commands while the team ends. All must have the same exit status.
func TestTeamInterrupted(t *testing.T) {
	for i := range ends(60) {
		statuses, errs := endTeam(t, 3, i%3)
		assert.Assert(t, len(slices.Compact(slices.Clone(statuses))) == 1, "shard %d was interrupted: %v %v", i%3, statuses, errs)
	}
}

// endTeam does what the commands of all shards do at the beginning and at the end. One of them is interrupted
// meanwhile, unless interrupted is -1.
func endTeam(t *testing.T, count, interrupted int) (statuses []int, errs []error) {
	addr := runtest.FreeAddr(t)
	statuses, errs = make([]int, count), make([]error, count)
	var commands sync.WaitGroup
	for i := range count {
		commands.Go(func() {
			statuses[i], errs[i] = func() (status int, err error) {
				ctx, interrupt := context.WithCancelCause(context.Background())
				defer interrupt(nil)
				team, err := join(ctx, shard.Config{Part: shard.Part{Index: i, Count: count}, Addr: addr, Timeout: time.Minute}, time.Minute, io.Discard)
				if err != nil {
					return command.CannotJudge, err
				}
				defer func() { team.leave(err) }()
				if i == interrupted {
					go interrupt(proc.ErrInterrupted)
				}
				if i > 0 {
					return team.follow(ctx, &rounds{progress: io.Discard})
				}
				return team.finish(command.Regression)
			}()
		})
	}
	commands.Wait()
	return statuses, errs
}
