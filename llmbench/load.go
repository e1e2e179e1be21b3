package llmbench

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// A Load says which requests a pass sends, when, and what is tolerated. The
// zero value of an optional field is its default.
type Load struct {
	// Requests are what one pass sends, each once, in order.
	Requests []Request
	// Fresh, when set, gives the requests of each pass instead of Requests,
	// so that no server answers a later pass from its prefix cache. It should
	// give the same lengths every time; pass counts from 0 over all passes of
	// the benchmark, those of other -count samples too. It is called between
	// passes, by the benchmark's goroutine.
	Fresh func(pass int) ([]Request, error)

	// Exactly one of Concurrency and Arrivals is set.
	//
	// Concurrency is how many requests a closed loop keeps in flight: each
	// worker sends its next request when its last one has ended.
	Concurrency int
	// Arrivals is when an open loop's requests are due, whether or not
	// earlier ones have ended. All that are due are in flight.
	Arrivals Arrivals

	// Warmup is sent once before the first pass, in the same way as a pass,
	// and not measured. It should hold no prompt of Requests.
	Warmup []Request

	// NoStream asks for whole answers instead of streams.
	NoStream bool

	// Timeout ends a request, from the send; 0 means 10 minutes.
	Timeout time.Duration
	// IdleTimeout ends a stream between two of its events; 0 means 60
	// seconds. Comments, which servers send as heartbeats, are not events.
	// Before the first event only Timeout applies, as a request may have to
	// wait for its turn.
	IdleTimeout time.Duration
	// PassTimeout ends a pass; 0 means no limit but those of its requests,
	// which end every pass in time.
	PassTimeout time.Duration

	// MaxFail is the share of failed requests that is tolerated, in [0,1]:
	// above it the benchmark fails.
	MaxFail float64
	// SLO, if any limit is set, adds the unit good-req/s.
	SLO SLO
	// Tokenizer counts the output of servers that do not state usage; nil
	// leaves the number of deltas.
	Tokenizer Tokenizer
}

// Default deadlines of a request.
const (
	DefaultTimeout     = 10 * time.Minute
	DefaultIdleTimeout = time.Minute
)

// check returns l with its defaults filled in.
func (l Load) check() (Load, error) {
	if l.Timeout == 0 {
		l.Timeout = DefaultTimeout
	}
	if l.IdleTimeout == 0 {
		l.IdleTimeout = DefaultIdleTimeout
	}
	switch {
	case len(l.Requests) == 0 && l.Fresh == nil:
		return l, errors.New("load: no requests")
	case len(l.Requests) > 0 && l.Fresh != nil:
		return l, errors.New("load: both Requests and Fresh; want one")
	case l.Concurrency == 0 && l.Arrivals == nil:
		return l, errors.New("load: neither Concurrency nor Arrivals; want one")
	case l.Concurrency != 0 && l.Arrivals != nil:
		return l, errors.New("load: both Concurrency and Arrivals; want one")
	case l.Concurrency < 0:
		return l, fmt.Errorf("load: concurrency %d; must be at least 1", l.Concurrency)
	case l.Timeout < 0 || l.IdleTimeout < 0 || l.PassTimeout < 0:
		return l, fmt.Errorf("load: timeout %v, idle timeout %v, pass timeout %v; none may be negative", l.Timeout, l.IdleTimeout, l.PassTimeout)
	case len(l.Requests) > 0 && l.checkCount(len(l.Requests)) != nil:
		return l, l.checkCount(len(l.Requests))
	case !(l.MaxFail >= 0 && l.MaxFail <= 1):
		return l, fmt.Errorf("load: max fail %v; must be in [0,1]", l.MaxFail)
	case l.NoStream && (l.SLO.TTFT > 0 || l.SLO.TPOT > 0):
		return l, fmt.Errorf("load: SLO %v; answers that are not streamed have no TTFT and no TPOT", l.SLO)
	}
	return l, nil
}

// checkCount says whether a pass can have n requests.
func (l Load) checkCount(n int) error {
	switch {
	case n == 0:
		return errors.New("load: no requests")
	case n < l.Concurrency:
		return fmt.Errorf("load: %d requests at concurrency %d; must be at least as many", n, l.Concurrency)
	}
	return nil
}

// bodies returns the bodies to post for requests.
func (l Load) bodies(t Target, requests []Request) ([]post, error) {
	d := t.dialect()
	posts := make([]post, len(requests))
	for i, r := range requests {
		q := dialect.Query{
			Model:       t.Model,
			Prompt:      r.Prompt,
			Messages:    r.Messages,
			MaxTokens:   r.MaxTokens,
			FixedOutput: r.FixedOutput,
			Stream:      !l.NoStream,
		}
		body, err := d.Body(q)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		posts[i] = post{path: d.Path(q), body: body}
	}
	return posts, nil
}

// A post is a request ready to be sent.
type post struct {
	path string
	body []byte
}
