package measure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/bisect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// attempts is how often a pair is tried before a commit is skipped.
const attempts = 2

// begin begins the search with the comparison of the good and the bad commit. If that allows no search, the
// report says why.
func (b *bisection) begin(ends *gate.Report) (*looker, *bisectReport, error) {
	var text strings.Builder
	if err := ends.Text(&text); err != nil {
		return nil, nil, err
	}
	if err := command.WriteFile(b.folder.join("good-bad.txt"), []byte(text.String())); err != nil {
		return nil, nil, err
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	r := b.newReport()
	if ends.Verdict != gate.Regression {
		r.Summary = "cannot judge: the bad commit is not shown to be worse than allowed: " + strings.TrimPrefix(lines[len(lines)-1], "cannot judge ")
		return nil, r, nil
	}
	l := &looker{bisection: b}
	var first []float64
	best := math.Inf(-1)
	for _, row := range ends.Rows {
		if row.Verdict != gate.Regression || row.Points || row.Limit != nil || row.Amounts && !(*row.Old.Median > 0) {
			continue
		}
		candidate := newBisectRow(row)
		pairs, err := b.differences(candidate, ends.Samples)
		if err != nil {
			return nil, nil, err
		}
		if signal := candidate.signal(pairs); signal > best {
			best, l.row, first = signal, candidate, pairs
		}
	}
	if first == nil {
		r.Summary = "cannot judge: the bad commit is worse only in units with a margin in percentage points (gate=…pp), a budget (max=, min=), or old values of 0 or less, and bisect needs a unit with a margin and values above 0"
		return nil, r, nil
	}
	var err error
	l.search, err = bisect.New(bisect.Options{Commits: len(b.commits) - 1, Margin: l.row.margin, Alpha: b.Alpha, First: first})
	if err != nil {
		r.Summary = fmt.Sprintf("cannot judge: %s: %v", l.row.title(), err)
		return nil, r, nil
	}
	return l, nil, l.restore()
}

// differences returns the differences of the first pairs of the good and the bad commit. Pairs without a value
// are left out.
func (b *bisection) differences(row bisectRow, rounds int) (all []float64, err error) {
	rs := b.rounds(b.folder.path, b.side(0, "good"), b.side(len(b.commits)-1, "bad"), 0)
	for round := 1; round <= rounds; round++ {
		x, err := rs.difference(row, round)
		if _, lacks := errors.AsType[*sideError](err); lacks {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// restore adds the pairs and skipped commits in the folder to the search.
func (l *looker) restore() error {
	path := l.folder.join(bisectStateName)
	text, err := os.ReadFile(path)
	var before bisectState
	if err == nil {
		err = json.Unmarshal(text, &before)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w; delete the folder", path, err)
	}
	before.BuildSeconds = max(before.BuildSeconds, l.state.BuildSeconds)
	if before.Skipped == nil {
		before.Skipped = map[int]string{}
	}
	l.state = before
	taken := map[bisect.Comparison]int{}
	for i, c := range l.state.Pairs {
		if c.Old < 0 || c.New <= c.Old || c.New >= len(l.commits) || c.Old > 0 && !c.Confirm {
			return fmt.Errorf("%s: pair %d is of commits %d and %d: want two of the commits 0 to %d, with 0 unless it confirms; delete the folder", path, i, c.Old, c.New, len(l.commits)-1)
		}
		taken[c]++
		x, err := l.pairOf(c).difference(l.row, taken[c])
		if err != nil {
			return err
		}
		l.search.Add(c, x)
	}
	for _, number := range slices.Sorted(maps.Keys(l.state.Skipped)) {
		if number < 1 || number >= len(l.commits)-1 {
			return fmt.Errorf("%s: commit %d is skipped: want one of the commits 1 to %d; delete the folder", path, number, len(l.commits)-2)
		}
		l.search.Skip(number)
	}
	return nil
}

// save writes the state to the folder.
func (l *looker) save() error {
	text, err := json.MarshalIndent(l.state, "", "\t")
	if err != nil {
		return err
	}
	return command.WriteFile(l.folder.join(bisectStateName), text)
}

// pairOf returns the rounds of a comparison.
func (l *looker) pairOf(c bisect.Comparison) *rounds {
	kind := "search"
	number := 1 + 2*(c.New*len(l.commits)+c.Old)
	if c.Confirm {
		kind, number = "confirm", number+1
	}
	name := fmt.Sprintf("%04d-%.12s", c.New, l.commits[c.New].hash)
	if c.Confirm {
		name += fmt.Sprintf("-%04d-%.12s", c.Old, l.commits[c.Old].hash)
	}
	return l.rounds(l.folder.join(kind, name), l.side(c.Old, "old"), l.side(c.New, "new"), number)
}

// cost returns how long a pair with a commit takes, in seconds.
func (l *looker) cost(number int) float64 {
	if l.outs[number] != "" || slices.ContainsFunc(l.state.Pairs, func(c bisect.Comparison) bool { return c.New == number || c.Old == number }) {
		return cmp.Or(l.state.PairSeconds, 1)
	}
	return cmp.Or(l.state.PairSeconds, 1) + l.state.BuildSeconds
}

// look takes pairs until a commit is named, or cannot be.
func (b *bisection) look(ctx context.Context, l *looker) (*bisectReport, error) {
	if needed := l.search.Needed(); len(l.state.Pairs) == 0 && !(needed <= float64(l.limit)) {
		return l.report(fmt.Sprintf("cannot judge: %s; an answer needs about %s pairs, and -pairs allows %d", l.noise(), pairsText(needed), l.limit)), nil
	}
	fmt.Fprintf(l.stderr, "%s is followed; about %s further pairs are needed\n", l.row.title(), pairsText(l.search.Needed()))
	for {
		c, more := l.search.Next(l.cost)
		if !more {
			return l.report(l.conclude()), nil
		}
		if len(l.state.Pairs) >= l.limit {
			return l.report(l.exhausted()), nil
		}
		err := l.measure(ctx, c)
		if errors.Is(err, proc.ErrInterrupted) {
			return l.report(fmt.Sprintf("cannot judge: interrupted after %d pairs; the same command with -out=%q continues", len(l.state.Pairs), l.folder.path)), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// measure takes a pair, or skips a commit that cannot be measured.
func (l *looker) measure(ctx context.Context, c bisect.Comparison) error {
	for _, number := range []int{c.New, c.Old} {
		if err := l.build(ctx, number); err != nil {
			return l.skip(ctx, number, err)
		}
	}
	rs := l.pairOf(c)
	round := 1
	for _, before := range l.state.Pairs {
		if before == c {
			round++
		}
	}
	var x float64
	var err error
	began := time.Now()
	for range attempts {
		if x, err = l.pair(ctx, rs, round); err == nil || ctx.Err() != nil {
			break
		}
		for _, s := range rs.sides {
			os.Remove(rs.file(s, round))
		}
	}
	if err != nil {
		failed, ok := errors.AsType[*sideError](err)
		if !ok {
			return err
		}
		number := c.New
		if failed.side == rs.sides[0].name {
			number = c.Old
		}
		return l.skip(ctx, number, err)
	}
	l.search.Add(c, x)
	n := float64(len(l.state.Pairs))
	l.state.PairSeconds = (l.state.PairSeconds*n + time.Since(began).Seconds()) / (n + 1)
	l.state.Pairs = append(l.state.Pairs, c)
	fmt.Fprintf(l.stderr, "pair %d of at most %d: %.12s against %.12s: %s; %s\n", len(l.state.Pairs), l.limit, l.commits[c.New].hash, l.commits[c.Old].hash,
		l.row.changeText(x), l.favoriteText())
	return l.save()
}

// pair takes the two samples of a round and returns their difference. If a side cannot be measured or compared,
// the error is a sideError.
func (l *looker) pair(ctx context.Context, rs *rounds, round int) (float64, error) {
	running := ""
	err := rs.pair(ctx, round, rs.secondFirst(round)[round-1], func(s side) { running = s.name }, func(side, time.Duration, bool) {})
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil:
		return 0, &sideError{running, err}
	}
	x, err := rs.difference(l.row, round)
	if err != nil {
		return 0, err
	}
	l.servers.Versions = [2]string{rs.sides[0].version, rs.sides[1].version}
	l.Planned, l.Max = round+100, 0 // the verdict is not used
	r, err := l.compareRounds(rs, round)
	if err == nil && len(r.Problems) > 0 {
		p := r.Problems[0]
		return 0, &sideError{rs.sides[1].name, fmt.Errorf("it cannot be compared with %s: %s", rs.sides[0].version, strings.TrimSpace(p.Name+" "+p.Unit+" "+p.Message))}
	}
	return x, err
}

// skip skips a commit because of err. The good and the bad commit cannot be skipped.
func (l *looker) skip(ctx context.Context, number int, err error) error {
	if ctx.Err() != nil || number == 0 || number == len(l.commits)-1 {
		return err
	}
	fmt.Fprintf(l.stderr, "skipped: %s: %v\n", l.title(number), err)
	l.state.Skipped[number] = err.Error()
	l.search.Skip(number)
	return l.save()
}
