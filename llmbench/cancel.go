package llmbench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Cancel makes clients leave before their answer has ended, as people do who have read enough.
// The client closes the connection in the middle of the stream, and the next request may have
// to open another one. With the zero value no client leaves.
//
// A request whose client left has the outcome [sample.Left]: it is neither successful nor
// failed. It is counted in left-%, and in the total of fail-%, but in no latency and no token
// figure. With Time the slowest answers are the likeliest to be left, so that the latencies of
// the others are lower than the latencies of all requests.
type Cancel struct {
	// Share is the share of the requests of each pass whose clients leave, in [0,1],
	// rounded to a whole number of requests. Seed chooses them. In a session the client
	// leaves in one of the turns, and sends no further turn.
	Share float64
	// Exactly one of Deltas and Time is set. A client leaves after a number of deltas with
	// generated text, drawn evenly from 1 to Deltas, or after a time since the send, drawn
	// evenly above 0 and up to Time. A client whose answer ends earlier does not leave.
	Deltas int
	Time   time.Duration
	Seed   uint64
}

func (c Cancel) check(stream bool) error {
	switch {
	case !(c.Share >= 0 && c.Share <= 1):
		return fmt.Errorf("cancel: share %v; must be in [0,1]", c.Share)
	case c.Share == 0 && (c.Deltas != 0 || c.Time != 0):
		return fmt.Errorf("cancel: a share of 0, and %d deltas or %v; want a share, or neither", c.Deltas, c.Time)
	case c.Share == 0:
		return nil
	case c.Deltas < 0 || c.Time < 0 || (c.Deltas > 0) == (c.Time > 0):
		return fmt.Errorf("cancel: %d deltas and %v; want one of them, above 0", c.Deltas, c.Time)
	case c.Deltas > 0 && !stream:
		return fmt.Errorf("cancel: after up to %d deltas; answers that are not streamed have none", c.Deltas)
	}
	return nil
}

// String returns c as [ParseCancel] reads it, without its seed.
func (c Cancel) String() string {
	switch {
	case c.Share == 0:
		return ""
	case c.Deltas > 0:
		return fmt.Sprintf("%v:%d", c.Share, c.Deltas)
	}
	return fmt.Sprintf("%v:%v", c.Share, c.Time)
}

// ParseCancel reads a share and a number of deltas or a time, as in "0.1:50" and
// "0.1:2s".
func ParseCancel(text string) (c Cancel, err error) {
	head, when, ok := strings.Cut(text, ":")
	if !ok {
		return c, errors.New("want SHARE:DELTAS or SHARE:TIME")
	}
	if c.Share, err = strconv.ParseFloat(head, 64); err != nil {
		return c, err
	}
	if c.Deltas, err = strconv.Atoi(when); err != nil {
		c.Deltas = 0
		if c.Time, err = time.ParseDuration(when); err != nil {
			return c, err
		}
	}
	return c, c.check(true)
}
