package records

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// ns is an instant in nanoseconds. One that never came is null or not there, and 0.
type ns int64

// missing is an instant that has to be there and is not. No instant is negative.
const missing ns = -1

// longest is more than any pass takes: sums of instants are no more than a number holds.
const longest = 30 * 24 * time.Hour

// clockError is how far the kernel's instant of an event may be before the send,
// which is the client's (llmbench's own tolerance).
const clockError = 100 * time.Microsecond

// line is a request as it stands in a file; instants in nanoseconds.
type line struct {
	ID         jsontext.Value `json:"id"`
	Pass       int            `json:"pass"`
	Turn       int            `json:"turn"`
	Due        ns             `json:"due_ns"`
	Granted    ns             `json:"granted_ns"`
	Start      ns             `json:"start_ns"`
	Connect    int64          `json:"connect_ns"`
	Resent     int            `json:"resent"`
	Wrote      ns             `json:"wrote_ns"`
	FirstByte  ns             `json:"first_byte_ns"`
	First      ns             `json:"first_ns"`
	Last       ns             `json:"last_ns"`
	End        ns             `json:"end_ns"`
	Gaps       gaps           `json:"gaps_ns"`
	Admitted   ns             `json:"admitted_ns"`
	Clock      string         `json:"clock"`
	Lags       gaps           `json:"read_lags_ns"`
	Outputs    *int           `json:"outputs"`
	FirstOut   ns             `json:"first_output_ns"`
	Choices    choices        `json:"choices"`
	LastEvent  ns             `json:"last_event_ns"`
	Done       ns             `json:"done_ns"`
	Prompt     int            `json:"prompt_tokens"`
	Cached     int            `json:"cached_tokens"`
	MaxTokens  int            `json:"max_tokens"`
	Asked      int            `json:"asked_tokens"`
	Output     int            `json:"output_tokens"`
	UsageAlone bool           `json:"usage_alone"`
	Source     string         `json:"token_source"`
	InChars    int            `json:"prompt_chars"`
	OutChars   int            `json:"output_chars"`
	Server     *server        `json:"server"`
	Finish     string         `json:"finish"`
	Outcome    string         `json:"outcome"`
	Error      string         `json:"error"`
	Status     int            `json:"status"`
}

type choices struct {
	Before int   `json:"before"`
	Amid   int   `json:"amid"`
	After  int   `json:"after"`
	First  int64 `json:"first_ns"`
	Last   int64 `json:"last_ns"`
}

type server struct {
	Prompt       int64 `json:"prompt_ns"`
	Predict      int64 `json:"predict_ns"`
	PromptTokens int   `json:"prompt_tokens"`
	OutputTokens int   `json:"output_tokens"`
}

// outcomes and sources are the words of the format, so that each is in memory once.
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
	line  line              // the one under way
}

// request reads a line.
func (p *parser) request(text []byte, number int) (q Request, err error) {
	l := &p.line
	*l = line{ID: l.ID[:0], Due: missing, Start: missing, End: missing}
	if err := json.Unmarshal(text, l); err != nil {
		return q, fmt.Errorf("want a request's record: %w", err)
	}
	if l.ID.Kind() != '"' || l.Due == missing || l.Start == missing || l.End == missing {
		return q, errors.New("want a request's record, with id, due_ns, start_ns and end_ns")
	}
	var ok bool
	if q.Outcome, ok = outcomes[l.Outcome]; !ok {
		return q, fmt.Errorf("outcome %.100q: not one that llmbench writes", l.Outcome)
	}
	if q.Source, ok = sources[l.Source]; !ok {
		return q, fmt.Errorf("token_source %.100q: not one that llmbench writes", l.Source)
	}
	for _, n := range []int{l.Pass, l.Turn, l.Resent, l.Prompt, l.Cached, l.Output, l.MaxTokens, l.Asked, l.Status, l.InChars, l.OutChars, l.Choices.Before, l.Choices.Amid, l.Choices.After} {
		if n < 0 || n > math.MaxInt32 {
			return q, fmt.Errorf("count %d: want 0 to %d", n, math.MaxInt32)
		}
	}
	q.Turn = int32(l.Turn)
	q.Pass, q.Line, q.Resent, q.Status = int32(l.Pass), int32(number), int32(l.Resent), int32(l.Status)
	q.Prompt, q.Cached, q.Output, q.UsageAlone = int32(l.Prompt), int32(l.Cached), int32(l.Output), l.UsageAlone
	q.MaxTokens, q.Asked = int32(l.MaxTokens), int32(l.Asked)
	q.PromptChars, q.OutputChars = int32(l.InChars), int32(l.OutChars)
	q.Due, q.Start, q.End = time.Duration(l.Due), time.Duration(l.Start), time.Duration(l.End)
	q.Wrote, q.FirstByte, q.LastEvent, q.Done = time.Duration(l.Wrote), time.Duration(l.FirstByte), time.Duration(l.LastEvent), time.Duration(l.Done)
	q.First, q.Last, q.Connect = time.Duration(l.First), time.Duration(l.Last), time.Duration(l.Connect)
	q.Before, q.Amid, q.After = int32(l.Choices.Before), int32(l.Choices.Amid), int32(l.Choices.After)
	q.ChoiceFirst, q.ChoiceLast = time.Duration(l.Choices.First), time.Duration(l.Choices.Last)
	q.Error, q.Finish = p.word(l.Error), p.word(l.Finish)
	q.Streamed, q.Scheduled = p.head.Stream, p.head.Concurrency == 0 && l.Turn == 0
	q.gaps, q.lags = l.Gaps, l.Lags
	q.Granted = time.Duration(l.Granted)
	q.Admitted, q.Clock = time.Duration(l.Admitted), sample.Clock(p.word(l.Clock))
	if s := l.Server; s != nil {
		q.Server = &Server{time.Duration(s.Prompt), time.Duration(s.Predict), s.PromptTokens, s.OutputTokens}
	}
	if l.First != 0 {
		q.Deltas = int32(l.Gaps.len()) + 1
		q.Outputs, q.FirstOutput = q.Deltas, q.First // all of them, unless it says otherwise
	}
	if l.Outputs != nil {
		if *l.Outputs < 0 || *l.Outputs > int(q.Deltas) || (*l.Outputs > 0) != (l.FirstOut != 0) {
			return q, fmt.Errorf("outputs %d of %d deltas: want as many at most, and first_output_ns if there is one", *l.Outputs, q.Deltas)
		}
		q.Outputs, q.FirstOutput = int32(*l.Outputs), time.Duration(l.FirstOut)
	}
	return q, q.check(l.First != 0, l.Last != 0)
}

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

// check says where a request contradicts itself.
func (q *Request) check(first, last bool) error {
	for _, d := range []time.Duration{q.Due, q.Admitted, q.Start, q.Connect, q.Wrote, q.FirstByte, q.First, q.Last, q.End, q.LastEvent, q.Done, q.ChoiceFirst, q.ChoiceLast} {
		switch {
		case d < 0:
			return fmt.Errorf("an instant of %d ns: want none before the pass", d)
		case d > longest:
			return fmt.Errorf("an instant of %d ns: want none after %v", d, longest)
		}
	}
	during := func(d time.Duration) bool { return d == 0 || d >= q.Start-clockError && d <= q.End }
	switch {
	case first != last:
		return errors.New("one of first_ns and last_ns: want both or none")
	case !first && q.gaps.len() > 0:
		return errors.New("gaps_ns without first_ns: want none")
	case q.Start < q.Due:
		return fmt.Errorf("start_ns %d before due_ns %d", q.Start, q.Due)
	case q.Granted > q.Start || q.Granted < 0:
		return fmt.Errorf("granted_ns %d: want 0 to start_ns %d", q.Granted, q.Start)
	case q.Admitted > q.Start:
		return fmt.Errorf("admitted_ns %d after start_ns %d", q.Admitted, q.Start)
	case q.Clock != "" && q.Clock != sample.KernelClock && q.Clock != sample.UserClock:
		return fmt.Errorf("clock %.100q: not one that llmbench writes", q.Clock)
	case q.lags.len() > 0 && q.lags.len() != int(q.Deltas):
		return fmt.Errorf("read_lags_ns has %d, for %d deltas", q.lags.len(), q.Deltas)
	case q.End < q.Start:
		return fmt.Errorf("end_ns %d before start_ns %d", q.End, q.Start)
	case first && (q.First < q.Start || q.Last > q.End || q.Last < q.First):
		return fmt.Errorf("first_ns %d and last_ns %d: want them in this order between start_ns %d and end_ns %d", q.First, q.Last, q.Start, q.End)
	case q.Outputs > 0 && (q.FirstOutput < q.First || q.FirstOutput > q.Last):
		return fmt.Errorf("first_output_ns %d: want it between first_ns %d and last_ns %d", q.FirstOutput, q.First, q.Last)
	case (q.ChoiceFirst == 0) != (q.ChoiceLast == 0) || q.ChoiceFirst == 0 && q.Before+q.Amid+q.After > 0:
		return fmt.Errorf("choices: %d events without text, first_ns %d and last_ns %d: want both instants, or nothing", q.Before+q.Amid+q.After, q.ChoiceFirst, q.ChoiceLast)
	case !during(q.ChoiceFirst) || !during(q.ChoiceLast) || q.ChoiceLast < q.ChoiceFirst:
		return fmt.Errorf("choices: first_ns %d and last_ns %d: want them in this order between start_ns %d and end_ns %d", q.ChoiceFirst, q.ChoiceLast, q.Start, q.End)
	case first && q.ChoiceFirst > 0 && (q.ChoiceFirst > q.First || q.ChoiceLast < q.Last):
		return fmt.Errorf("choices: first_ns %d and last_ns %d: want those of the text, %d and %d, between them", q.ChoiceFirst, q.ChoiceLast, q.First, q.Last)
	case !during(q.LastEvent) || !during(q.Done):
		return fmt.Errorf("last_event_ns %d and done_ns %d: want them between start_ns %d and end_ns %d", q.LastEvent, q.Done, q.Start, q.End)
	case q.gaps.most() > longest || q.lags.most() > longest:
		return fmt.Errorf("gaps_ns or read_lags_ns: %d ns: want at most %v", max(q.gaps.most(), q.lags.most()), longest)
	case first && q.gaps.sum() != int64(q.Last-q.First):
		return fmt.Errorf("gaps_ns add up to %d: want last_ns - first_ns, %d", q.gaps.sum(), q.Last-q.First)
	}
	return nil
}

// block reads the lines of text, which are whole, from number on. The line about
// the end is the last, if it is there.
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

// A lineError is what is wrong with a line.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }
