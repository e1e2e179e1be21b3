package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
)

// A Profile is what a server's speed and limits are. Times are in microseconds,
// with fractions; a zero means that the thing costs nothing, or has no limit,
// except for MaxBatch, which must be set.
type Profile struct {
	// Step, StepPerSeq and StepPerKVToken are the time of a decode step: of any,
	// of each sequence in it, and of each token in their KV caches.
	Step           float64 `json:"step_us"`
	StepPerSeq     float64 `json:"step_per_seq_us,omitzero"`
	StepPerKVToken float64 `json:"step_per_kv_token_us,omitzero"`
	// StepPerSeqAboveKnee is added for each sequence beyond the first Knee.
	StepPerSeqAboveKnee float64 `json:"step_per_seq_above_knee_us,omitzero"`
	Knee                int     `json:"knee,omitzero"`
	// Prefill and PrefillPerToken are the time of a prefill: of any, and of each
	// token in it.
	Prefill         float64 `json:"prefill_us,omitzero"`
	PrefillPerToken float64 `json:"prefill_per_token_us,omitzero"`
	// PrefillChunk is how many prompt tokens at most are computed beside one
	// decode step; 0 means that a prompt is computed as a whole, alone.
	PrefillChunk int `json:"prefill_chunk,omitzero"`
	// PrefillSeqs is how many sequences at most share a prefill, 0 means 1, and
	// PrefillTokens how many tokens they may have together; a longer prompt is
	// computed alone.
	PrefillSeqs   int `json:"prefill_seqs,omitzero"`
	PrefillTokens int `json:"prefill_tokens,omitzero"`
	// PrefillGap is how many decode steps at least come between two prefills
	// while there is something to decode. It goes with whole prefills only.
	PrefillGap int `json:"prefill_gap,omitzero"`

	// MaxBatch is how many sequences at most are admitted at once, 1 or more.
	MaxBatch int `json:"max_batch"`
	// MaxQueue is how many requests at most wait beyond MaxBatch; those that
	// come then are refused.
	MaxQueue int `json:"max_queue,omitzero"`
	// MaxContext is how long a prompt and its output may be together, in tokens;
	// longer requests are refused.
	MaxContext int `json:"max_context,omitzero"`
	// KVBlocks is the size of the KV cache, in blocks of BlockTokens tokens (0
	// means 16). A request that would not fit into all of it is refused.
	KVBlocks    int `json:"kv_blocks,omitzero"`
	BlockTokens int `json:"block_tokens,omitzero"`
	// Watermark is the share of KVBlocks, 0 to below 1, that an admission must
	// leave free while other sequences are being served.
	Watermark float64 `json:"watermark,omitzero"`
	// PrefixCache keeps the blocks of prompts; see [Job.Prefix].
	PrefixCache bool `json:"prefix_cache,omitzero"`
	// Zombies are requests that go on being computed after their client is gone.
	Zombies bool `json:"zombies,omitzero"`

	// Draft is how many tokens are drafted for each sequence and step, and
	// AcceptRate, 0 to 1, the chance of each to be accepted if those before it
	// were.
	Draft      int     `json:"draft,omitzero"`
	AcceptRate float64 `json:"accept_rate,omitzero"`

	// Output is the curve that output lengths are drawn from where a request does
	// not set its own; see [Profile.DrawOutput].
	Output Lengths `json:"output,omitzero"`
	// Seed chooses what is drawn: output lengths and accepted drafts.
	Seed uint64 `json:"seed,omitzero"`
}

// defaultBlock is the number of tokens in a block where the profile has none, as
// in vLLM.
const defaultBlock = 16

// The largest values that a profile may have: beyond them instants or sums could
// overflow.
const (
	mostMicros = 1e12 // 11 days
	mostCount  = 1 << 30
	mostBlock  = 1 << 12
	mostTokens = 1 << 30 // of a request
	mostDraft  = 64
)

// Block returns BlockTokens, or its default where that is 0.
func (p *Profile) Block() int {
	if p.BlockTokens == 0 {
		return defaultBlock
	}
	return p.BlockTokens
}

// UnmarshalJSON reads a profile over p. A name it does not know is an error. It
// does not validate.
func (p *Profile) UnmarshalJSON(data []byte) error {
	type plain Profile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(p))
}

// Validate returns an error that names the first field which cannot be used, as
// it is called in JSON, its value and what is allowed, or nil.
func (p Profile) Validate() error {
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"step_us", p.Step}, {"step_per_seq_us", p.StepPerSeq}, {"step_per_kv_token_us", p.StepPerKVToken},
		{"step_per_seq_above_knee_us", p.StepPerSeqAboveKnee},
		{"prefill_us", p.Prefill}, {"prefill_per_token_us", p.PrefillPerToken},
	} {
		if !(f.value >= 0 && f.value <= mostMicros) { // not NaN either
			return fmt.Errorf("%s: %v, want 0 to %g microseconds", f.name, f.value, mostMicros)
		}
	}
	for _, f := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"max_batch", p.MaxBatch, 1, mostCount},
		{"knee", p.Knee, 0, mostCount}, {"prefill_chunk", p.PrefillChunk, 0, mostCount},
		{"prefill_seqs", p.PrefillSeqs, 0, mostCount}, {"prefill_tokens", p.PrefillTokens, 0, mostCount},
		{"prefill_gap", p.PrefillGap, 0, mostCount},
		{"max_queue", p.MaxQueue, 0, mostCount}, {"max_context", p.MaxContext, 0, mostCount},
		{"kv_blocks", p.KVBlocks, 0, mostCount}, {"block_tokens", p.BlockTokens, 0, mostBlock},
		{"draft", p.Draft, 0, mostDraft},
	} {
		if f.value < f.least || f.value > f.most {
			return fmt.Errorf("%s: %d, want %d to %d", f.name, f.value, f.least, f.most)
		}
	}
	switch {
	case p.PrefillGap > 0 && p.PrefillChunk > 0:
		return fmt.Errorf("prefill_gap: %d with a prefill_chunk of %d, want one of the two", p.PrefillGap, p.PrefillChunk)
	case !(p.Watermark >= 0 && p.Watermark < 1):
		return fmt.Errorf("watermark: %v, want 0 to below 1", p.Watermark)
	case !(p.AcceptRate >= 0 && p.AcceptRate <= 1):
		return fmt.Errorf("accept_rate: %v, want 0 to 1", p.AcceptRate)
	}
	if err := p.Output.Validate(); err != nil {
		return fmt.Errorf("output%w", err)
	}
	return nil
}

// stepTime is the time of a decode step in microseconds, of b sequences that
// have so many tokens.
func (p *Profile) stepTime(b, tokens int) float64 {
	return p.Step + p.StepPerSeq*float64(b) + p.StepPerSeqAboveKnee*math.Max(0, float64(b-p.Knee)) +
		p.StepPerKVToken*float64(tokens)
}

// prefillTime is the time of a prefill of so many tokens, in microseconds.
func (p *Profile) prefillTime(tokens int) float64 {
	return p.Prefill + p.PrefillPerToken*float64(tokens)
}
