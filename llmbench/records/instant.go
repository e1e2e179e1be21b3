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
