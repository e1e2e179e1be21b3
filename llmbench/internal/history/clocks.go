package history

import "time"

const day = 24 * time.Hour

// ranAt returns when the run was measured. That is its date, unless the date cannot be true: it is more than a day
// after now, or more than a day before the commit although the commit is not in the future. Then it is the commit
// time. If date and commit time are both in the future, the date decides, because one clock set it for all runs of
// the machine.
func (r *Run) ranAt(now time.Time) time.Time {
	date, _ := r.added()
	future := func(t time.Time) bool { return t.Sub(now) > day }
	if date.IsZero() || !future(r.Time) && (future(date) || r.Time.Sub(date) > day) {
		return r.Time
	}
	return date
}

// madeAt returns when the commit was made, which was not after the run.
func (r *Run) madeAt(now time.Time) time.Time {
	if ran := r.ranAt(now); ran.Before(r.Time) {
		return ran
	}
	return r.Time
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// dateFormats are the formats of a date. Results of other tools have no time zone.
var dateFormats = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC1123, time.RFC1123Z, time.UnixDate, time.DateOnly}

// added returns when the run was added, and by how much the time may be wrong because it has no time zone or no time
// of day. The time is zero if it is unknown.
func (r *Run) added() (date time.Time, within time.Duration) {
	const skew = 5 * time.Minute // clocks that are right may differ by this time
	for i, format := range dateFormats {
		if t, err := time.Parse(format, r.Date); err == nil {
			if i > 0 {
				within = 24 * time.Hour
			}
			return t, within + skew
		}
	}
	return time.Time{}, 0
}

// early reports whether the run was added before its commit was made, so that one of the two clocks is wrong.
func (r *Run) early() bool {
	date, within := r.added()
	return !date.IsZero() && r.Time.Sub(date) > within
}
