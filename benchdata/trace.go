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

// A Trace is a recorded load: the arrival time of each request, and the lengths of its
// prompt and its answer. Traces do not have the texts. Prompts are random words of the
// same length, and answers have a fixed length.
//
// Some traces name the blocks of each prompt. Blocks with equal names get equal text,
// so that a server's prefix cache finds the same prefixes as the recorded one: if the
// first k names of two requests are equal, so is the text of the first k blocks. Text
// without a name differs from the text of all other requests. The first block begins at
// the beginning of the prompt's text, so that a chat template shifts the blocks against
// the blocks of the server's cache.
//
// Rows are taken in the order of the file, which must be the order of time. Rows
// without a prompt or without an answer are failed requests, and are skipped.
type Trace struct {
	// Format is the format of the file.
	Format TraceFormat
	// Path is the file. The file may be compressed by gzip or zstd.
	Path string
	// From and For select a part of the trace: the rows from From to before From + For
	// after the first row. A From of 0 is the beginning, a For of 0 means until the
	// end.
	From, For time.Duration
	// Share is the share of the rows that is taken, above 0 and up to 1; 0 means all.
	// The rows are drawn at random, but the same ones for every Seed. Share reduces
	// the rate without changing the pauses of users, which Speed changes.
	Share float64
	// Speed is the Speed of the [arrivals.Replay]; 0 means 1.
	Speed float64
	// MaxTokens skips rows whose prompt and answer together have more tokens; 0 means
	// no limit.
	MaxTokens int
	// Model takes only the rows of that model; "" means all. Only BurstGPT traces
	// allow it. vLLM takes the rows of "GPT-4", but does not replay their times.
	Model string
	// Seed and Salt determine the words, also in named blocks.
	Seed, Salt uint64
	// Template is the number of tokens that the server adds to each prompt. The text is
	// shorter by Template, but has at least one token.
	Template int
	// Tokenizer counts tokens; nil means [tokenizer.Words]. If it has a method
	// Tolerance() int, as [tokenizer.Estimate] has, the length of a prompt, and of each
	// block, may differ by that many tokens.
	Tokenizer llmbench.Tokenizer
}

// Load returns the requests of the first n rows that the fields select, or of all rows
// for n = 0, and their arrival times. The first request is due at once, the others as
// long after the first as in the trace. There are fewer than n requests if the trace has
// fewer rows: a trace does not repeat. All prompts are held in memory, with about seven
// bytes per token.
//
// Load returns an error if n or a field is out of range, if the file cannot be read,
// with the line if the file is not in the format, or if the fields select no row.
func (t Trace) Load(n int) ([]llmbench.Request, arrivals.Replay, error) {
	l, err := readFile(t.kind(), t.Path, func(s *source) (loaded, error) { return t.load(s, n) })
	return l.requests, arrivals.Replay{At: l.at, Speed: t.Speed}, err
}

// Replay returns the arrival times that Load returns, without making the requests. It
// returns the same errors.
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

// Requests returns the requests that Load returns, without their arrival times.
func (t Trace) Requests(n int) ([]llmbench.Request, error) {
	requests, _, err := t.Load(n)
	return requests, err
}

// Read is like Load for a file that is read from r.
func (t Trace) Read(r io.Reader, n int) ([]llmbench.Request, arrivals.Replay, error) {
	l, err := readFrom(t.kind(), r, func(s *source) (loaded, error) { return t.load(s, n) })
	return l.requests, arrivals.Replay{At: l.at, Speed: t.Speed}, err
}

// Rows reads the rows that the fields select, one at a time, without making their
// prompts. It ends with the first error.
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

// kind returns the name of the trace in errors.
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
		return fmt.Errorf("field Share is %v, must be above 0 and at most 1, or 0 for all", t.Share)
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

// loaded is the result of Load without the speed.
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
	seed := saltedSeed(t.Seed, t.Salt)
	distinct := newDistinctTexts(seed)
	b := newBlocks(fit, max(t.Format.BlockTokens(), 1), seed)
	var first time.Duration
	for r, err := range t.firstRows(s, n) {
		if err != nil {
			return loaded{}, err
		}
		if len(l.at) == 0 {
			first = r.At
		}
		tokens := max(r.Input-t.Template, 1)
		prompt, err := b.prompt(r.Blocks, tokens, distinct, len(l.requests))
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

// firstRows reads the first n rows that the fields select, or all for n = 0. It yields
// an error if they select none.
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
			yield(TraceRow{}, errors.New("the trace has no rows that the fields select"))
		}
	}
}

// longestTrace is the longest time from the first row of a trace to another row: ten years.
const longestTrace = 10 * 365 * 24 * time.Hour

// rows reads the rows that the fields select.
func (t Trace) rows(s *source) iter.Seq2[TraceRow, error] {
	return func(yield func(TraceRow, error) bool) {
		if err := t.check(); err != nil {
			yield(TraceRow{}, err)
			return
		}
		share := rand.New(rand.NewPCG(0, 2))
		var first, last time.Duration
		started := false
		for r, err := range traceFormats[t.Format].read(s) {
			switch {
			case err != nil:
			case !started:
				started, first, last = true, r.At, r.At
			case r.At < last:
				err = &lineError{s.line(), fmt.Errorf("the row is %v earlier than the row before, must be in the order of time", last-r.At)}
			case r.At-first > longestTrace:
				err = &lineError{s.line(), fmt.Errorf("the row is %v later than the first row, must be at most %v", r.At-first, longestTrace)}
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
			// Draw for every row from the first, so that the rows that are drawn
			// do not depend on the other fields.
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
