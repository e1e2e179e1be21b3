package benchdata

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
)

// A Trace is a recorded load: when each request came, how long its prompt was
// and how long its answer. No trace has the texts, so prompts are random words
// of those lengths, and answers are asked for at their whole length.
//
// Where the trace names the blocks of its prompts, equal names are equal text,
// and a server's prefix cache finds what the recorded one could find: of two
// requests whose first k names are equal, the first k blocks are. Tokens
// beyond the named blocks, and all of a trace without names, are like no other
// request's. Blocks begin where the prompt's own text does: a chat template
// before it moves them against those of the server's cache.
//
// Rows are taken in the order of the file, which must be that of their
// instants. Rows without prompt or without answer are requests that failed,
// and are left out.
type Trace struct {
	// Format is what the file is.
	Format TraceFormat
	// Path is the file; it may be compressed by gzip or zstd.
	Path string
	// From and For are the part of the trace that is taken: rows from From to
	// less than From + For after the first row; 0 is the beginning and the end.
	From, For time.Duration
	// Share is the part of the rows that is taken, drawn at random but the same
	// ones for every Seed, above 0 to 1; 0 means all. It divides the rate and
	// leaves the pauses of users as they are, which Speed does not.
	Share float64
	// Speed is the Speed of the [arrivals.Replay]; 0 means 1.
	Speed float64
	// MaxTokens leaves out rows whose prompt and answer together are longer;
	// 0 means none.
	MaxTokens int
	// Model takes rows of that model only, of a BurstGPT trace; "" means all.
	// vLLM's rules are those of Model "GPT-4", but it does not replay the
	// instants.
	Model string
	// Seed draws the words.
	Seed uint64
	// Template is how many tokens the server adds to each prompt; the texts
	// are so much shorter, but no shorter than one token.
	Template int
	// Tokenizer counts the tokens; nil means [tokenizer.Words]. When it is an
	// [tokenizer.Estimate], or has a method Tolerance() int, a prompt may be off by
	// that many tokens, and blocks by as much each.
	Tokenizer llmbench.Tokenizer
}

// Load reads the first n rows that the fields take, or all for n = 0, and
// returns their requests and when these are due: the first at once, the others
// as far after it as in the trace. There are fewer than n when there are no
// more rows: a trace is not repeated. All prompts are held in memory, some
// seven bytes a token.
//
// It returns an error when n or a field is out of range, when the file cannot
// be read or is not in the format (naming the line), and when it has no row to
// take.
func (t Trace) Load(n int) ([]llmbench.Request, arrivals.Replay, error) {
	l, err := readFile(t.kind(), t.Path, func(s *source) (loaded, error) { return t.load(s, n) })
	return l.requests, arrivals.Replay{At: l.at, Speed: t.Speed}, err
}

// Replay is Load without the requests: it only looks when they are due, with
// the same errors.
func (t Trace) Replay(n int) (arrivals.Replay, error) {
	at, err := readFile(t.kind(), t.Path, func(s *source) (at []time.Duration, err error) {
		var first time.Duration
		for r, err := range t.firstRows(s, n) {
			if err != nil {
				return nil, err
			}
			if len(at) == 0 {
				first = r.At
			}
			at = append(at, r.At-first)
		}
		return at, nil
	})
	if err != nil {
		return arrivals.Replay{}, err
	}
	return arrivals.Replay{At: at, Speed: t.Speed}, nil
}

// Requests is Load without when the requests are due.
func (t Trace) Requests(n int) ([]llmbench.Request, error) {
	requests, _, err := t.Load(n)
	return requests, err
}

// Read is Load for a file that is read from r.
func (t Trace) Read(r io.Reader, n int) ([]llmbench.Request, arrivals.Replay, error) {
	l, err := readFrom(t.kind(), r, func(s *source) (loaded, error) { return t.load(s, n) })
	return l.requests, arrivals.Replay{At: l.at, Speed: t.Speed}, err
}

// Rows reads the rows that the fields take, one at a time, without making
// prompts of them. It ends with the first error.
func (t Trace) Rows() iter.Seq2[TraceRow, error] {
	return func(yield func(TraceRow, error) bool) {
		_, err := readFile(t.kind(), t.Path, func(s *source) (struct{}, error) {
			for r, err := range t.rows(s) {
				if err != nil {
					return struct{}{}, err
				}
				if !yield(r, nil) {
					break
				}
			}
			return struct{}{}, nil
		})
		if err != nil {
			yield(TraceRow{}, err)
		}
	}
}

// kind is what errors call the trace.
func (t Trace) kind() string {
	if _, ok := traceFormats[t.Format]; !ok {
		return "trace"
	}
	return string(t.Format)
}

func (t Trace) check() error {
	switch _, ok := traceFormats[t.Format]; {
	case !ok:
		return fmt.Errorf("field Format is %q, must be one of the formats of traces", t.Format)
	case t.From < 0 || t.For < 0:
		return fmt.Errorf("fields From and For are %v and %v, none may be negative", t.From, t.For)
	case !(t.Share >= 0 && t.Share <= 1):
		return fmt.Errorf("field Share is %v, must be above 0 to 1, or 0 for all", t.Share)
	case !(t.Speed >= 0) || math.IsInf(t.Speed, 0):
		return fmt.Errorf("field Speed is %v, must be above 0, or 0 for 1", t.Speed)
	case t.MaxTokens < 0:
		return fmt.Errorf("field MaxTokens is %d, must be at least 1, or 0 for no limit", t.MaxTokens)
	case t.Template < 0:
		return fmt.Errorf("field Template is %d tokens, must be at least 0", t.Template)
	case t.Model != "" && t.Format != BurstGPT:
		return fmt.Errorf("field Model is %q, which only a trace of format %s has", t.Model, BurstGPT)
	}
	return nil
}

type loaded struct {
	requests []llmbench.Request
	at       []time.Duration
}

func (t Trace) load(s *source, n int) (loaded, error) {
	var l loaded
	if err := t.check(); err != nil {
		return l, err
	}
	fit := newFitter(orWords(t.Tokenizer))
	u := newUnlike(t.Seed)
	b := newBlocks(fit, max(t.Format.BlockTokens(), 1), t.Seed)
	var first time.Duration
	for r, err := range t.firstRows(s, n) {
		if err != nil {
			return loaded{}, err
		}
		if len(l.at) == 0 {
			first = r.At
		}
		tokens := max(r.Input-t.Template, 1)
		prompt, err := b.prompt(r.Blocks, tokens, u, len(l.requests))
		if err != nil {
			return loaded{}, fmt.Errorf("request %d: %w", len(l.requests), err)
		}
		l.at = append(l.at, r.At-first)
		l.requests = append(l.requests, llmbench.Request{
			Prompt:       prompt,
			MaxTokens:    r.Output,
			FixedOutput:  true,
			PromptTokens: tokens + t.Template,
		})
	}
	return l, nil
}

// firstRows reads the first n rows that the fields take, or all for n = 0. That
// there is none is an error.
func (t Trace) firstRows(s *source, n int) iter.Seq2[TraceRow, error] {
	return func(yield func(TraceRow, error) bool) {
		if n < 0 {
			yield(TraceRow{}, fmt.Errorf("%d requests, must be at least 1, or 0 for all", n))
			return
		}
		taken := 0
		for r, err := range t.rows(s) {
			if taken++; !yield(r, err) || err != nil || taken == n {
				return
			}
		}
		if taken == 0 {
			yield(TraceRow{}, errors.New("no row of the trace is taken: it has none, or the fields leave out all"))
		}
	}
}

// rows reads the rows that the fields take.
func (t Trace) rows(s *source) iter.Seq2[TraceRow, error] {
	return func(yield func(TraceRow, error) bool) {
		if err := t.check(); err != nil {
			yield(TraceRow{}, err)
			return
		}
		share := rand.New(rand.NewPCG(0, 2))
		var first, last time.Duration
		begun := false
		for r, err := range traceFormats[t.Format].read(s) {
			switch {
			case err != nil:
			case !begun:
				begun, first, last = true, r.At, r.At
			case r.At < last:
				err = &lineError{s.line(), fmt.Errorf("the row is %v before the one above it, must be in the order of time", last-r.At)}
			}
			if err != nil {
				yield(TraceRow{}, err)
				return
			}
			last = r.At
			r.At -= first
			if t.For > 0 && r.At-t.From >= t.For {
				return
			}
			// Drawn for every row of the window: which are taken does not
			// depend on the other fields.
			drawn := t.Share == 0 || share.Float64() < t.Share
			if r.At < t.From || !drawn || r.Input == 0 || r.Output == 0 ||
				t.MaxTokens > 0 && r.Input+r.Output > t.MaxTokens || t.Model != "" && r.Model != t.Model {
				continue
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}
