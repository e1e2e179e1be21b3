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
// prompt and its answer. Traces do not contain texts. The prompts are random words with the
// recorded lengths, and the answers are generated with exactly the recorded lengths.
//
// Some traces have names for the blocks of each prompt. Blocks with the same name get the
// same text, so that a server's prefix cache finds the same common prefixes as the recorded
// server's: if two requests have the same first k names, their first k blocks have the same
// text. Text outside named blocks is different in each request. The first block begins at the
// beginning of the prompt's text. If a chat template adds text before it, these blocks do not
// begin where the blocks of the server's cache begin.
//
// Rows are taken in the order of the file, which must be in order of time. Rows without a
// prompt or without an answer are failed requests, and are skipped.
type Trace struct {
	// Format is the format of the file.
	Format TraceFormat
	// Path is the file. The file may be compressed by gzip or zstd.
	Path string
	// From and For select a part of the trace: the rows that arrived at least From and less
	// than From + For after the first row. A For of 0 means until the end.
	From, For time.Duration
	// Share is the share of the rows to take, above 0 and up to 1; 0 means all. The rows are
	// drawn at random, but Seed does not change the selection. Share reduces the request rate
	// but not the times between the selected rows; Speed changes these times.
	Share float64
	// Speed is the Speed of the [arrivals.Replay]; 0 means 1.
	Speed float64
	// MaxTokens is the largest length of a prompt and its answer together, in tokens. Longer
	// rows are skipped. 0 means no limit.
	MaxTokens int
	// Model selects the rows of one model; "" means all. Only BurstGPT traces have models.
	// vLLM takes the rows of "GPT-4", but does not replay their times.
	Model string
	// Seed and Salt determine the words, including the words in named blocks.
	Seed, Salt uint64
	// Template is the number of tokens that the server adds to each prompt. The text is
	// shortened by Template tokens, but has at least one token.
	Template int
	// Tokenizer counts tokens; nil means [tokenizer.Words]. If the tokenizer has a method
	// Tolerance() int, as [tokenizer.Estimate] has, the lengths of prompts and blocks may
	// differ from the recorded ones by up to Tolerance() tokens.
	Tokenizer llmbench.Tokenizer
}

// Load returns the requests of the first n rows that the fields select, and their arrival
// times. n = 0 means all rows. The first request is due at once, and the times between
// requests are as in the trace. If the trace has fewer than n rows, there are fewer requests:
// a trace does not repeat. All prompts are held in memory, with about seven bytes per token.
//
// Load returns an error if n or a field is out of range, if the file cannot be read, if its
// format is wrong, or if the fields select no row. The error for a wrong format names the line.
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

// Rows yields the rows that the fields select, one at a time, without making prompts. The
// sequence ends with the first error.
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
		return fmt.Errorf("field Format is %q: want one of the formats of traces", t.Format)
	case t.From < 0 || t.For < 0:
		return fmt.Errorf("fields From and For are %v and %v, neither may be negative", t.From, t.For)
	case !(t.Share >= 0 && t.Share <= 1):
		return fmt.Errorf("field Share is %v: want above 0 and at most 1, or 0 for all", t.Share)
	case !(t.Speed >= 0) || math.IsInf(t.Speed, 0):
		return fmt.Errorf("field Speed is %v: want above 0, or 0 for 1", t.Speed)
	case t.MaxTokens < 0:
		return fmt.Errorf("field MaxTokens is %d: want at least 1, or 0 for no limit", t.MaxTokens)
	case t.Template < 0:
		return fmt.Errorf("field Template is %d tokens: want at least 0", t.Template)
	case t.Model != "" && t.Format != BurstGPT:
		return fmt.Errorf("field Model is %q: want it empty unless field Format is %s", t.Model, BurstGPT)
	}
	return nil
}

// loaded has the requests and arrival times that Load returns.
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

// firstRows yields the first n rows that the fields select, or all rows if n is 0. If the
// fields select no row, it yields an error.
func (t Trace) firstRows(s *source, n int) iter.Seq2[TraceRow, error] {
	return func(yield func(TraceRow, error) bool) {
		if n < 0 {
			yield(TraceRow{}, fmt.Errorf("%d requests: want at least 1, or 0 for all", n))
			return
		}
		taken := 0
		for r, err := range t.rows(s) {
			if taken++; !yield(r, err) || err != nil || taken == n {
				return
			}
		}
		if taken == 0 {
			yield(TraceRow{}, errors.New("no row of the trace is selected by the fields"))
		}
	}
}

// longestTrace is the longest time from the first row of a trace to another row: ten years.
const longestTrace = 10 * 365 * 24 * time.Hour

// rows yields the rows that the fields select.
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
				err = &lineError{Line: s.line(), Err: fmt.Errorf("the row is %v earlier than the row before: want rows in order of time", last-r.At)}
			case r.At-first > longestTrace:
				err = &lineError{Line: s.line(), Err: fmt.Errorf("the row is %v later than the first row: want at most %v", r.At-first, longestTrace)}
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
			// Draw a number for every row, so that the other fields do not change which
			// rows are drawn.
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
