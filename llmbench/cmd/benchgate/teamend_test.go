package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
)

// TestTeamEnds ends teams, again and again. All commands must have the exit status of shard 0, whichever of them
// leaves first. LLMBENCH_FULL=1 asks for 2,000 ends.
func TestTeamEnds(t *testing.T) {
	n := 20
	if os.Getenv("LLMBENCH_FULL") == "1" {
		n = 2000
	}
	for _, count := range []int{3, 16} {
		t.Run(fmt.Sprint(count, " shards"), func(t *testing.T) {
			want := make([]int, count)
			for i := range want {
				want[i] = exitRegression
			}
			for range n {
				addr := runtest.FreeAddr(t)
				statuses, errs := make([]int, count), make([]error, count)
				var commands sync.WaitGroup
				for i := range count {
					commands.Go(func() { statuses[i], errs[i] = endTeam(shard.Part{Index: i, Count: count}, addr) })
				}
				commands.Wait()
				assert.NilError(t, errors.Join(errs...))
				assert.DeepEqual(t, statuses, want)
			}
		})
	}
}

// endTeam does what the command of a shard does at the beginning and at the end, and returns the exit status.
func endTeam(p shard.Part, addr string) (status int, err error) {
	ctx := context.Background()
	team, err := join(ctx, shard.Config{Part: p, Addr: addr, Timeout: time.Minute}, time.Minute, io.Discard)
	if err != nil {
		return exitCannotJudge, err
	}
	defer func() { team.leave(err) }()
	if p.Index > 0 {
		return team.follow(ctx, &rounds{progress: io.Discard})
	}
	return team.finish(exitRegression)
}
