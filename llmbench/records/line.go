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
	ID           jsontext.Value `json:"id"`    // a string
	Shard        int            `json:"shard"` // only if several processes made the measurement
	Pass         int            `json:"pass"`
	Request      int            `json:"request"` // among the requests of the pass; 0 in older files
	Turn         int            `json:"turn"`
	Due          instant        `json:"due_ns"`
	Epoch        int64          `json:"epoch_unix_ns"` // the zero of instants, on the wall clock
	Granted      instant        `json:"granted_ns"`
	Start        instant        `json:"start_ns"`
	Admitted     instant        `json:"admitted_ns"`
	SentBy       instant        `json:"sent_by_ns"` // only if it differs much from start_ns
	Connect      int64          `json:"connect_ns"`
	Resent       int            `json:"resent"`
	ResentUnread bool           `json:"resent_unread"`
	Wrote        instant        `json:"wrote_ns"`
	FirstByte    instant        `json:"first_byte_ns"`
	First        instant        `json:"first_ns"`
	Last         instant        `json:"last_ns"`
	End          instant        `json:"end_ns"`
	InFlight     int            `json:"in_flight"` // just before the end, itself included; 0 in older files
	Gaps         gaps           `json:"gaps_ns"`
	DeltaTokens  []int32        `json:"delta_tokens"` // only if some delta has several
	Events       *int           `json:"events"`       // nil in older files
	Outputs      *int           `json:"outputs"`      // this and the next only if there was reasoning
	FirstOutput  instant        `json:"first_output_ns"`
	Cut          int            `json:"cut"`
	Choices      choices        `json:"choices"`
	LastEvent    instant        `json:"last_event_ns"`
	Done         instant        `json:"done_ns"`
	Clock        string         `json:"clock"`
	Lags         gaps           `json:"read_lags_ns"`
	Merged       []merged       `json:"merged"`
	FirstByteLag int64          `json:"first_byte_lag_ns"`
	EndLag       int64          `json:"end_lag_ns"`
	MaxTokens    int            `json:"max_tokens"`
	FixedOutput  bool           `json:"fixed_output"`
	Prompt       int            `json:"prompt_tokens"`
	Cached       int            `json:"cached_tokens"`
	Output       int            `json:"output_tokens"`
	Reasoning    int            `json:"reasoning_tokens"`
	UsageAlone   bool           `json:"usage_alone"`
	Source       string         `json:"token_source"`
	Asked        int            `json:"asked_tokens"`
	PromptChars  int            `json:"prompt_chars"`
	OutputChars  int            `json:"output_chars"`
	Server       *server        `json:"server"`
	Finish       string         `json:"finish"`
	Outcome      string         `json:"outcome"`
	Error        string         `json:"error"`
	Status       int            `json:"status"`
	RetryAfter   int64          `json:"retry_after_ns"`
	Correct      *bool          `json:"correct"` // only if the answer was checked
	Wrong        string         `json:"wrong"`   // why it is not correct
}

// merged is a sample.Merged: the index of the first delta, the number of deltas, and Since.
type merged [3]int64

// groups returns the groups of merged deltas.
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

// server are sample.ServerTimings. What the server did not state is left out.
type server struct {
	Load         int64 `json:"load_ns"`
	Queue        int64 `json:"queue_ns"`
	Prompt       int64 `json:"prompt_ns"`
	Predict      int64 `json:"predict_ns"`
	Total        int64 `json:"total_ns"`
	PromptTokens int   `json:"prompt_tokens"`
	CachedTokens int   `json:"cached_tokens"`
	OutputTokens int   `json:"output_tokens"`
	Drafted      int   `json:"draft_tokens"`
	Accepted     int   `json:"accepted_tokens"`
	DecodeSteps  int   `json:"decode_steps"`
}

// timings returns what the server stated.
func (s *server) timings() *sample.ServerTimings {
	return &sample.ServerTimings{
		Load: time.Duration(s.Load), Queue: time.Duration(s.Queue), Prompt: time.Duration(s.Prompt), Predict: time.Duration(s.Predict), Total: time.Duration(s.Total),
		PromptTokens: s.PromptTokens, CachedTokens: s.CachedTokens, OutputTokens: s.OutputTokens,
		DraftTokens: s.Drafted, AcceptedTokens: s.Accepted, DecodeSteps: s.DecodeSteps,
	}
}
