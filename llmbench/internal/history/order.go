package history

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// together is the longest time between runs that were measured one after another, as when many commits are measured
// at once.
const together = 6 * time.Hour

// inOrder returns the runs of each machine in the order in which they ran. Clocks of those who committed and of the
// machines that measured may have been wrong (see ranAt). Runs of several machines are in the order of commits.
//
// Runs of one machine that ran together are a batch. If several of its steps, and more than a quarter, lead back to an
// older commit, somebody has measured old commits in no order of time: then the commits decide.
func inOrder(runs []*Run, now time.Time) []*Run {
	machines := map[string][]*Run{}
	for _, run := range runs {
		machines[run.Machine] = append(machines[run.Machine], run)
	}
	type instants struct{ made, ran time.Time }
	at := make(map[*Run]instants, len(runs)) // neither goes back within a machine
	for _, all := range machines {
		slices.SortFunc(all, func(a, b *Run) int {
			return cmp.Or(a.ranAt(now).Compare(b.ranAt(now)), a.Time.Compare(b.Time), strings.Compare(a.Name, b.Name))
		})
		var times []time.Time
		for _, run := range all {
			times = append(times, run.ranAt(now))
		}
		for from, i := 0, 1; i <= len(all); i++ {
			if i == len(all) || times[i].Sub(times[i-1]) > together {
				byCommit(all[from:i])
				from = i
			}
		}
		var made time.Time
		for i, run := range all {
			made = later(made, run.madeAt(now))
			at[run] = instants{made, times[i]}
		}
	}
	var sorted []*Run
	for _, run := range runs {
		sorted = append(sorted, machines[run.Machine]...)
		delete(machines, run.Machine)
	}
	slices.SortStableFunc(sorted, func(a, b *Run) int { return cmp.Or(at[a].made.Compare(at[b].made), at[a].ran.Compare(at[b].ran)) })
	return sorted
}

// byCommit sorts a batch by commit time if the order of its runs is clearly not an order of commits. A run whose
// commit is dated after the run stays behind the run that it followed.
func byCommit(batch []*Run) {
	var decided []*Run
	behind := map[*Run][]*Run{} // keyed by the run that they follow, or nil at the beginning of the batch
	back := 0
	for _, run := range batch {
		var before *Run
		if n := len(decided); n > 0 {
			before = decided[n-1]
		}
		if run.early() {
			behind[before] = append(behind[before], run)
			continue
		}
		if before != nil && run.Time.Before(before.Time) {
			back++
		}
		decided = append(decided, run)
	}
	if back < 2 || 4*back <= len(decided)-1 {
		return
	}
	slices.SortStableFunc(decided, func(a, b *Run) int { return a.Time.Compare(b.Time) })
	at := copy(batch, behind[nil])
	for _, run := range decided {
		at += copy(batch[at:], append([]*Run{run}, behind[run]...))
	}
}

// repeated returns the runs that measured a commit again, after the machine had measured other commits. The runs are
// of one machine, in order, without reruns.
func repeated(runs []*Run) map[*Run]bool {
	again, seen := map[*Run]bool{}, map[string]bool{}
	for i, run := range runs {
		if i > 0 && run.Commit != runs[i-1].Commit && seen[run.Commit] && !noCommit(run.Commit) {
			again[run] = true
		}
		seen[run.Commit] = true
	}
	return again
}
