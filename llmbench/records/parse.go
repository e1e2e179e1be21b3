package records

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// outcomes and sources are the words of the format.
var (
	outcomes = known(sample.OK, sample.Connect, sample.HTTP, sample.Timeout, sample.Stalled, sample.Truncated,
		sample.ServerError, sample.Empty, sample.Malformed, sample.Canceled, sample.Left)
	sources = known(sample.FromUsage, sample.FromEvents, sample.FromTokenizer, sample.FromDeltas, sample.FromNothing, "")
)

func known[T ~string](all ...T) map[string]T {
	m := map[string]T{}
	for _, v := range all {
		m[string(v)] = v
	}
	return m
}

// A parser reads the lines of a block.
type parser struct {
	head  *Head
	words map[string]string // errors and finish reasons, each in memory once
	line  line              // the line that is being read
}

// request reads the line of that number.
func (p *parser) request(text []byte, number int) (Request, error) {
	l := &p.line
	*l = line{ID: l.ID[:0]}
	if err := json.Unmarshal(text, l); err != nil {
		return Request{}, fmt.Errorf("want a request's record: %w", err)
	}
	if l.ID.Kind() != '"' || !l.Due.came || !l.Start.came || !l.End.came {
		return Request{}, errors.New("want a request's record, with id, due_ns, start_ns and end_ns")
	}
	outcome, ok := outcomes[l.Outcome]
	if !ok {
		return Request{}, fmt.Errorf("outcome %.100q: not one that llmbench writes", l.Outcome)
	}
	source, ok := sources[l.Source]
	if !ok {
		return Request{}, fmt.Errorf("token_source %.100q: not one that llmbench writes", l.Source)
	}
	if err := l.checkCounts(); err != nil {
		return Request{}, err
	}
	q := p.convert(l)
	q.Line, q.Outcome, q.Source = int32(number), outcome, source
	if err := q.setOutputs(l); err != nil {
		return Request{}, err
	}
	return q, q.check()
}

// checkCounts returns an error if a count is not one.
func (l *line) checkCounts() error {
	events := 0
	if l.Events != nil {
		events = *l.Events
	}
	for _, n := range []int{events, l.Cut, l.Shard, l.Pass, l.Turn, l.Resent, l.InFlight, l.Prompt, l.Cached, l.Output, l.Reasoning, l.MaxTokens, l.Asked, l.Status, l.PromptChars, l.OutputChars, l.Choices.Before, l.Choices.Amid, l.Choices.After} {
		if n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("count %d: want 0 to %d", n, math.MaxInt32)
		}
	}
	return nil
}

// convert returns the request of a line, without its outputs.
func (p *parser) convert(l *line) Request {
	q := Request{
		Shard: int32(l.Shard), Pass: int32(l.Pass), Turn: int32(l.Turn), Resent: int32(l.Resent), ResentUnread: l.ResentUnread, Status: int32(l.Status),
		Due: l.Due.at, Granted: l.Granted.at, Admitted: l.Admitted.at, Start: l.Start.at, SentBy: l.SentBy.at, Connect: time.Duration(l.Connect),
		RetryAfter: time.Duration(l.RetryAfter), Wrote: l.Wrote.at, FirstByte: l.FirstByte.at, First: l.First.at, Last: l.Last.at, End: l.End.at,
		Epoch: l.Epoch, InFlight: int32(l.InFlight), LastEvent: l.LastEvent.at, Done: l.Done.at,
		Before: int32(l.Choices.Before), Amid: int32(l.Choices.Amid), After: int32(l.Choices.After),
		ChoiceFirst: time.Duration(l.Choices.First), ChoiceLast: time.Duration(l.Choices.Last),
		Prompt: int32(l.Prompt), Cached: int32(l.Cached), Output: int32(l.Output), Reasoning: int32(l.Reasoning), UsageAlone: l.UsageAlone,
		MaxTokens: int32(l.MaxTokens), FixedOutput: l.FixedOutput, Asked: int32(l.Asked), PromptChars: int32(l.PromptChars), OutputChars: int32(l.OutputChars),
		Error: p.word(l.Error), Finish: p.word(l.Finish), Clock: sample.Clock(p.word(l.Clock)),
		Streamed: p.head.Stream, Scheduled: p.head.Concurrency == 0 && l.Turn == 0,
		Merged: groups(l.Merged), Cut: int32(l.Cut), gaps: l.Gaps, lags: l.Lags, DeltaTokens: l.DeltaTokens,
	}
	if l.Server != nil {
		q.Server = l.Server.timings()
	}
	if l.Correct != nil {
		q.Checked, q.Correct, q.Wrong = true, *l.Correct, p.word(l.Wrong)
	}
	q.Events = -1
	if l.Events != nil {
		q.Events = int32(*l.Events)
	}
	if l.First.came {
		q.Deltas = int32(l.Gaps.len()) + 1
	}
	return q
}

// setOutputs sets the deltas with more than reasoning: all deltas, unless the line says
// otherwise.
func (q *Request) setOutputs(l *line) error {
	q.Outputs, q.FirstOutput = q.Deltas, q.First
	if l.Outputs == nil {
		return nil
	}
	n := *l.Outputs
	if n < 0 || n > int(q.Deltas) || (n > 0) != l.FirstOutput.came {
		return fmt.Errorf("outputs %d of %d deltas: want as many at most, and first_output_ns if there is one", n, q.Deltas)
	}
	q.Outputs, q.FirstOutput = int32(n), l.FirstOutput.at
	return nil
}

// word returns s, in memory once as long as there are few different words.
func (p *parser) word(s string) string {
	if s == "" {
		return ""
	}
	if w, ok := p.words[s]; ok {
		return w
	}
	if len(p.words) < 1<<12 {
		p.words[s] = s
	}
	return s
}

// block reads the lines of text, which are complete. The first has that number. A line about
// the end must be the last one.
func (p *parser) block(text []byte, number int) (all []Request, end *End, err error) {
	all = make([]Request, 0, bytes.Count(text, []byte("\n")))
	for l := range bytes.Lines(text) {
		l = bytes.TrimRight(l, "\r\n")
		if end != nil {
			return nil, nil, &lineError{number, errAfter}
		}
		if bytes.HasPrefix(l, []byte(`{"end":`)) {
			if end, err = parseEnd(l); err != nil {
				return nil, nil, &lineError{number, err}
			}
			number++
			continue
		}
		q, err := p.request(l, number)
		if err != nil {
			return nil, nil, &lineError{number, err}
		}
		all = append(all, q)
		number++
	}
	return all, end, nil
}

// A lineError is an error with the number of its line.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }
