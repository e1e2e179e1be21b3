package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A pause says when a user sends the next turn of a conversation.
type pause struct {
	times *benchdata.Distribution // in microseconds
	every bool                    // the times are from send to send, and not from the end of an answer to the next send
}

// parsePause parses a time or a distribution of times; "every(…)" around it means times from send to send.
func parsePause(text string) (p pause, err error) {
	within, every := strings.CutPrefix(text, "every(")
	if every {
		within, every = strings.CutSuffix(within, ")")
	}
	if !every {
		within = text
	}
	p.every = every
	if p.times, err = benchdata.ParseTime(within); err != nil {
		return p, fmt.Errorf("%w; or every(…) around one of these, for times from send to send", err)
	}
	return p, nil
}

// String returns the text that parsePause reads, with each number written in one way.
func (p pause) String() string {
	if p.every {
		return "every(" + p.times.String() + ")"
	}
	return p.times.String()
}

// before returns the turn with a pause of the given number of microseconds before it.
func (p pause) before(t llmbench.Turn, drawn int64) llmbench.Turn {
	d := time.Duration(drawn) * time.Microsecond
	if p.every {
		t.Every = d
	} else {
		t.Think = d
	}
	return t
}
