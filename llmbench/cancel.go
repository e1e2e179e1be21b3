package llmbench

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Cancel makes clients leave before their answer has ended, as people do who have
// read enough: the connection is closed in the middle of the stream, and who sends
// next may have to open another. Its zero value is that none does.
//
// A request that was left is neither successful nor failed: its outcome is [sample.Left],
// it is counted in left-% and, as one of all requests, in fail-%, and it enters no
// latency and no token figure. With Time the slowest answers are the likeliest to be left, so that the
// latencies of the others look better than those of all.
type Cancel struct {
	// Share of the requests, in [0,1], whose clients leave: so many of each
	// pass, to the nearest whole number, chosen by Seed. Of a session it is one
	// of its turns, and no further one is sent.
	Share float64
	// Exactly one of Deltas and Time is set: when a client leaves. It is drawn
	// evenly for each, from 1 to Deltas deltas with generated text, or above 0
	// and up to Time from the send. A client whose answer has ended by then
	// does not leave.
	Deltas int
	Time   time.Duration
	Seed   uint64
}

// errLeft is why the context of a request ends whose client leaves.
var errLeft = errors.New("the client left, as the load has it")

// A leave is when a client goes; its zero value is never.
type leave struct {
	turn   int // of its session
	deltas int
	after  time.Duration // the send
}

// at returns l in that turn of its session.
func (l leave) at(turn int) leave {
	if l.turn != turn {
		return leave{}
	}
	return l
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

// plan says of each of posts when its client leaves.
func (c Cancel) plan(posts []post) {
	if c.Share == 0 {
		return
	}
	r := rand.New(rand.NewPCG(c.Seed, 0x6c6566742d656172))
	n := int(math.Round(c.Share * float64(len(posts))))
	for _, i := range r.Perm(len(posts))[:n] {
		l := leave{turn: r.IntN(posts[i].samples())}
		if c.Deltas > 0 {
			l.deltas = 1 + r.IntN(c.Deltas)
		} else {
			l.after = 1 + time.Duration(r.Int64N(int64(c.Time)))
		}
		posts[i].leave = l
	}
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
