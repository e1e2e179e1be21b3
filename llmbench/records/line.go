package records

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A line is a request as it stands in a file. Names that end in _ns are nanoseconds:
// instants since the start of the pass, or durations (connect, gaps, lags and what the
// server measured). Instants that may never come are null or left out.
//
// The instants of the deltas in merged are the latest possible ones: see sample.Merged. With
// merged and sent_by_ns a reader can compute the bounds of each figure.
type line struct {
	ID           jsontext.Value `json:"id"` // a string
	Pass         int            `json:"pass"`
	Turn         int            `json:"turn,omitempty"`
	Due          instant        `json:"due_ns"`
	Epoch        int64          `json:"epoch_unix_ns"` // the zero of instants, on the wall clock
	Granted      instant        `json:"granted_ns,omitzero"`
	Start        instant        `json:"start_ns"`
	Admitted     instant        `json:"admitted_ns"`
	SentBy       instant        `json:"sent_by_ns,omitzero"` // only if it differs much from start_ns
	Connect      int64          `json:"connect_ns"`
	Resent       int            `json:"resent,omitempty"`
	ResentUnread bool           `json:"resent_unread,omitempty"`
	Wrote        instant        `json:"wrote_ns"`
	FirstByte    instant        `json:"first_byte_ns"`
	First        instant        `json:"first_ns"`
	Last         instant        `json:"last_ns"`
	End          instant        `json:"end_ns"`
	Gaps         gaps           `json:"gaps_ns"`
	Events       *int           `json:"events,omitempty"`  // nil in older files
	Outputs      *int           `json:"outputs,omitempty"` // this and the next only if there was reasoning
	FirstOutput  instant        `json:"first_output_ns,omitzero"`
	Cut          int            `json:"cut,omitempty"`
	Choices      choices        `json:"choices,omitzero"`
	LastEvent    instant        `json:"last_event_ns,omitzero"`
	Done         instant        `json:"done_ns,omitzero"`
	Clock        string         `json:"clock,omitempty"`
	Lags         gaps           `json:"read_lags_ns,omitzero"`
	Merged       []merged       `json:"merged,omitempty"`
	FirstByteLag int64          `json:"first_byte_lag_ns,omitempty"`
	EndLag       int64          `json:"end_lag_ns,omitempty"`
	MaxTokens    int            `json:"max_tokens,omitempty"`
	FixedOutput  bool           `json:"fixed_output,omitempty"`
	Prompt       int            `json:"prompt_tokens"`
	Cached       int            `json:"cached_tokens,omitempty"`
	Output       int            `json:"output_tokens"`
	Reasoning    int            `json:"reasoning_tokens,omitempty"`
	UsageAlone   bool           `json:"usage_alone,omitempty"`
	Source       string         `json:"token_source,omitempty"`
	Asked        int            `json:"asked_tokens,omitempty"`
	PromptChars  int            `json:"prompt_chars,omitempty"`
	OutputChars  int            `json:"output_chars,omitempty"`
	Server       *server        `json:"server,omitempty"`
	Finish       string         `json:"finish,omitempty"`
	Outcome      string         `json:"outcome"`
	Error        string         `json:"error,omitempty"`
	Status       int            `json:"status"`
	RetryAfter   int64          `json:"retry_after_ns,omitempty"`
}

// A writtenLine is a line as it is written. An answer is not read again: no figure is
// computed from it.
type writtenLine struct {
	line
	Answer *sample.Answer `json:"answer,omitempty"`
}

// merged is a sample.Merged: the index of the first delta, the number of deltas, and Since.
type merged [3]int64

func newMerged(all []sample.Merged) (m []merged) {
	for _, g := range all {
		m = append(m, merged{int64(g.Delta), int64(g.Deltas), int64(g.Since)})
	}
	return m
}

// groups is the inverse of newMerged.
func groups(all []merged) (m []sample.Merged) {
	for _, g := range all {
		m = append(m, sample.Merged{Delta: int(g[0]), Deltas: int(g[1]), Since: time.Duration(g[2])})
	}
	return m
}

// choices are sample.Choices.
type choices struct {
	Before int   `json:"before"`
	Amid   int   `json:"amid"`
	After  int   `json:"after"`
	First  int64 `json:"first_ns"`
	Last   int64 `json:"last_ns"`
}

func newChoices(c sample.Choices) choices {
	return choices{c.Before, c.Amid, c.After, int64(c.First), int64(c.Last)}
}

// server are sample.ServerTimings. What the server did not state is left out.
type server struct {
	Load         int64 `json:"load_ns,omitempty"`
	Queue        int64 `json:"queue_ns,omitempty"`
	Prompt       int64 `json:"prompt_ns,omitempty"`
	Predict      int64 `json:"predict_ns,omitempty"`
	Total        int64 `json:"total_ns,omitempty"`
	PromptTokens int   `json:"prompt_tokens,omitempty"`
	CachedTokens int   `json:"cached_tokens,omitempty"`
	OutputTokens int   `json:"output_tokens,omitempty"`
}

func newServer(t sample.ServerTimings) *server {
	return &server{int64(t.Load), int64(t.Queue), int64(t.Prompt), int64(t.Predict), int64(t.Total), t.PromptTokens, t.CachedTokens, t.OutputTokens}
}

// timings is the inverse of newServer.
func (s *server) timings() *sample.ServerTimings {
	return &sample.ServerTimings{
		Load: time.Duration(s.Load), Queue: time.Duration(s.Queue), Prompt: time.Duration(s.Prompt), Predict: time.Duration(s.Predict), Total: time.Duration(s.Total),
		PromptTokens: s.PromptTokens, CachedTokens: s.CachedTokens, OutputTokens: s.OutputTokens,
	}
}

// newLine returns the line of a sample.
func newLine(s *sample.Sample) writtenLine {
	streamed := s.Deltas > 0
	l := writtenLine{Answer: s.Answer, line: line{
		ID: quote(s.ID), Pass: s.Pass, Turn: s.Turn, Epoch: s.Epoch.UnixNano(),
		Due: when(s.Due, true), Granted: when(s.Granted, s.Granted > 0), Start: when(s.Start, true), Admitted: when(s.Admitted, true), SentBy: when(s.SentBy, s.SentBy > 0),
		Connect: int64(s.Connect), Resent: s.Resent, ResentUnread: s.ResentUnread,
		Wrote: when(s.Wrote, s.Wrote > 0), FirstByte: when(s.FirstByte, s.FirstByte > 0),
		First: when(s.First, streamed), Last: when(s.Last, streamed), End: when(s.End, true), Gaps: newGaps(s.Gaps), Events: &s.Events, Cut: s.Cut,
		Choices: newChoices(s.Choices), LastEvent: when(s.LastEvent, s.LastEvent > 0), Done: when(s.Done, s.Done > 0),
		Clock: string(s.Clock), Lags: newGaps(s.Lags), Merged: newMerged(s.Merged), FirstByteLag: int64(s.FirstByteLag), EndLag: int64(s.EndLag),
		MaxTokens: s.MaxTokens, FixedOutput: s.FixedOutput, Prompt: s.PromptTokens, Cached: s.CachedTokens, Output: s.OutputTokens, Reasoning: s.ReasoningTokens,
		UsageAlone: s.UsageAlone, Source: string(s.TokenSource), Asked: s.AskedTokens, PromptChars: s.PromptChars, OutputChars: s.OutputChars,
		Finish: s.Finish, Outcome: string(s.Outcome), Status: s.Status, RetryAfter: int64(s.RetryAfter),
	}}
	if s.Outputs < s.Deltas {
		l.Outputs, l.FirstOutput = &s.Outputs, when(s.FirstOutput, s.Outputs > 0)
	}
	if s.Server != (sample.ServerTimings{}) {
		l.Server = newServer(s.Server)
	}
	if s.Err != nil {
		l.Error = s.Err.Error()
	}
	return l
}

// quote returns the JSON of a string.
func quote(s string) jsontext.Value {
	v, _ := jsontext.AppendQuote(nil, s) // invalid UTF-8 is replaced
	return v
}
