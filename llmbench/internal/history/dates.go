package history

import "time"

// dates holds the dates of runs, by their index.
type dates struct {
	ran   []time.Time // when the run was measured
	shown []time.Time // the date that readers see: ran, or when the commit was made
	made  bool        // shown has the times of commits
}

// datesOf returns the dates of runs, which are in the order of [Reader.ReadAll]. Usually the dates that readers see are
// those of the runs. They are those of commits if the commits are of more than twice as many days, because then somebody
// has measured old commits one after another.
func datesOf(runs []*Run, now time.Time) (d dates) {
	var made []time.Time
	var newest time.Time
	for _, run := range runs {
		newest = later(newest, run.madeAt(now))
		made, d.ran = append(made, newest), append(d.ran, run.ranAt(now))
	}
	d.made = days(made) > 2*days(d.ran)
	d.shown = d.ran
	if d.made {
		d.shown = made
	}
	return d
}

// days counts the different days of times.
func days(times []time.Time) int {
	all := map[string]bool{}
	for _, t := range times {
		all[t.UTC().Format(time.DateOnly)] = true
	}
	return len(all)
}

// day returns the date of a run that readers see.
func (d dates) day(night int) string { return d.shown[night].UTC().Format(time.DateOnly) }

// found returns the date on which a run revealed something.
func (d dates) found(night int) string { return d.ran[night].UTC().Format(time.DateOnly) }
