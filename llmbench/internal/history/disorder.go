package history

import (
	"fmt"
	"time"
)

// order says which clocks of the night's run and of its commit were wrong, and whether the commit is older than the
// machine's last commit.
func (c *checker) order(night int) (texts []string) {
	run := c.nights[night]
	minute := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
	date, within := run.added()
	if run.early() {
		texts = append(texts, fmt.Sprintf("the commit is dated %s, after the run, which is dated %s: a clock is wrong", minute(run.Time), minute(date)))
	}
	if now := time.Now(); !date.IsZero() && date.Sub(now) > within {
		texts = append(texts, fmt.Sprintf("the run is dated %s, but it is %s: the clock of the machine is wrong", minute(date), minute(now)))
	}
	if noCommit(run.Commit) {
		texts = append(texts, fmt.Sprintf("commit %s stands for no commit: git writes zeros where there is none", run.Commit))
	}
	if night == 0 {
		return texts
	}
	before := c.nights[night-1]
	switch {
	case c.again:
		texts = append(texts, fmt.Sprintf("commit %.12s of %s was measured before commit %.12s of %s: it is judged, but does not count in later baselines",
			run.Commit, minute(run.Time), before.Commit, minute(before.Time)))
	case run.Time.Before(before.Time):
		texts = append(texts, fmt.Sprintf("commit %.12s of %s is older than commit %.12s of %s, which was measured before: it is judged as the later run",
			run.Commit, minute(run.Time), before.Commit, minute(before.Time)))
	}
	return texts
}
