package measure

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/bisect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/source"
)

// A bisection is a run of "benchgate bisect". Commits are numbered from 0, the good one.
type bisection struct {
	servers
	good, bad string // as in the flags
	limit     int    // the largest number of pairs after the first comparison

	suite    suite
	commits  []revision
	binaries []binary
	cache    buildCache
	prefix   string // the working directory's path in the repository
	hard     context.Context
	outs     map[int]string // the folders with what was built, by commit
	state    bisectState
}

// A revision is a commit of the repository.
type revision struct {
	hash, subject string
	time          time.Time
}

// A bisectState is the file bisect.json in the folder of samples. It has what the samples themselves do not say.
type bisectState struct {
	Pairs        []bisect.Comparison `json:"pairs"`   // in the order in which they were taken
	Skipped      map[int]string      `json:"skipped"` // why commits cannot be measured, by number
	BuildSeconds float64             `json:"build_seconds"`
	PairSeconds  float64             `json:"pair_seconds"`
}

// bisectStateName is the name of the file with the bisectState.
const bisectStateName = "bisect.json"

// findCommits sets b.commits: the good commit, and those from it to the bad one. Of a merge, only the first
// parent is followed, so that the commits are a row.
func (b *bisection) findCommits(ctx context.Context) error {
	good, err := source.Resolve(ctx, "-good", b.good)
	if err != nil {
		return err
	}
	bad, err := source.Resolve(ctx, "-bad", b.bad)
	if err != nil {
		return err
	}
	if good == bad {
		return fmt.Errorf("-good=%s and -bad=%s are the same commit, %.12s", b.good, b.bad, good)
	}
	if _, err := proc.Command(ctx, "", "git", "merge-base", "--is-ancestor", good, bad); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("-good=%s is no ancestor of -bad=%s: want one from which the bad commit descends", b.good, b.bad)
	}
	const format = "--format=%H%x09%cI%x09%P%x09%s"
	first, err := proc.Command(ctx, "", "git", "log", "-1", format, good)
	if err != nil {
		return err
	}
	others, err := proc.Command(ctx, "", "git", "log", "--first-parent", "--reverse", format, good+".."+bad)
	if err != nil {
		return err
	}
	for line := range strings.Lines(first + others) {
		fields := strings.SplitN(strings.TrimRight(line, "\n"), "\t", 4)
		if len(fields) != 4 {
			return fmt.Errorf("git log printed %q: want a hash, a time, parents and a subject", line)
		}
		if n := len(b.commits); n > 0 {
			if parent, _, _ := strings.Cut(fields[2], " "); parent != b.commits[n-1].hash {
				return fmt.Errorf("-good=%s came into -bad=%s by a merge: want a commit that is reached by first parents alone, such as %.12s", b.good, b.bad, parent)
			}
		}
		c := revision{hash: fields[0], subject: fields[3]}
		if c.time, err = time.Parse(time.RFC3339, fields[1]); err != nil {
			return fmt.Errorf("git log: commit %s: %w", c.hash, err)
		}
		b.commits = append(b.commits, c)
	}
	return nil
}

// build builds the server of a commit unless that was done before.
func (b *bisection) build(ctx context.Context, number int) error {
	if b.outs[number] != "" {
		return nil
	}
	c := b.commits[number]
	name := fmt.Sprintf("%.12s", c.hash)
	began := time.Now()
	out, err := b.buildCommit(ctx, b.cache, b.prefix, c.hash, name, b.title(number))
	os.RemoveAll(b.folder.join("_" + name + "-src"))
	if err == nil {
		err = readAll(ctx, out)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("the server of %s cannot be built: %w", b.title(number), err)
	}
	b.state.BuildSeconds = max(b.state.BuildSeconds, time.Since(began).Seconds()) // a build from the cache takes no time
	b.outs[number] = out
	return nil
}

// title describes a commit in messages.
func (b *bisection) title(number int) string {
	switch hash := b.commits[number].hash; number {
	case 0:
		return fmt.Sprintf("the good commit, %.12s", hash)
	case len(b.commits) - 1:
		return fmt.Sprintf("the bad commit, %.12s", hash)
	default:
		return fmt.Sprintf("commit %.12s", hash)
	}
}

// side returns a commit, whose server is built, as a side of comparisons.
func (b *bisection) side(number int, name string) side {
	env := b.buildEnv(b.outs[number])
	return side{name: name, version: b.title(number), source: b.commits[number].hash, binaries: b.binaries, env: env,
		server: strings.Join(append(env, b.buildText), "\n")}
}

// rounds returns rounds of two commits, whose samples are in the folder path. The order in each pair depends on
// the number.
func (b *bisection) rounds(path string, old, new side, number int) *rounds {
	return &rounds{folder: folder{path: path}, sides: [2]side{old, new}, seed: b.seed + uint64(number)*1_000_000_007, run: b.suite.run,
		timeout: b.timeout, progress: b.stderr, hard: b.hard}
}
