package records

import (
	"strconv"
	"time"
)

// An instant is a time since the start of the pass, as a line of a file holds it: in
// nanoseconds, or null for one that never came.
type instant struct {
	at   time.Duration
	came bool
}

// IsZero reports whether the instant never came.
func (i instant) IsZero() bool { return !i.came }

// MarshalJSON writes nanoseconds, or null.
func (i instant) MarshalJSON() ([]byte, error) {
	if !i.came {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(i.at), 10), nil
}

// UnmarshalJSON reads nanoseconds, or null.
func (i *instant) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*i = instant{}
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	*i = instant{time.Duration(n), true}
	return err
}

// when returns the instant, if it came.
func when(at time.Duration, came bool) instant {
	if !came {
		at = 0
	}
	return instant{at, came}
}
