package llmbench

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Cancel makes some clients leave before their answers have ended, like people who have read enough. The
// client closes the connection in the middle of the stream, and the next request may have to open a new
// one. The zero value means that no client leaves.
//
// A request whose client left has the outcome [sample.Left], which is neither a success nor a failure. The
// request counts for left-% and for the denominator of fail-%, but for no latency and no token metric. With
// Time, clients mostly leave the slowest answers. The remaining answers then have lower latencies than all
// answers would have had.
type Cancel struct {
	// Share is the share of the requests of each pass whose clients leave, in [0,1], rounded to a whole
	// number of requests. Seed determines which requests. In a session the client leaves during one of the
	// turns, and does not send the turns after it.
	Share float64
	// If Share is above 0, exactly one of Deltas and Time must be set. With Deltas, a client leaves after a
	// number of deltas with generated text. The number is drawn evenly from 1 to Deltas. With Time, a
	// client leaves when a duration has passed since it sent the request. The duration is drawn evenly,
	// above 0 and up to Time. A client whose answer ends earlier does not leave.
	Deltas int
	Time   time.Duration
	Seed   uint64
}

func (c Cancel) check(stream bool) error {
	switch {
	case !(c.Share >= 0 && c.Share <= 1):
		return fmt.Errorf("cancel: share %v: want a number in [0,1]", c.Share)
	case c.Share == 0 && (c.Deltas != 0 || c.Time != 0):
		return fmt.Errorf("cancel: a share of 0, and %d deltas or %v: want a share, or neither", c.Deltas, c.Time)
	case c.Share == 0:
		return nil
	case c.Deltas < 0 || c.Time < 0 || (c.Deltas > 0) == (c.Time > 0):
		return fmt.Errorf("cancel: %d deltas and %v: want one of them, above 0", c.Deltas, c.Time)
	case c.Deltas > 0 && !stream:
		return fmt.Errorf("cancel: after up to %d deltas; answers that are not streamed have none", c.Deltas)
	}
	return nil
}

// String returns c in the format of [ParseCancel], without the seed.
func (c Cancel) String() string {
	switch {
	case c.Share == 0:
		return ""
	case c.Deltas > 0:
		return fmt.Sprintf("%v:%d", c.Share, c.Deltas)
	}
	return fmt.Sprintf("%v:%v", c.Share, c.Time)
}

// ParseCancel parses SHARE:DELTAS or SHARE:TIME, such as "0.1:50" or "0.1:2s".
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
