package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
)

// A Profile is the speed and the limits of a server. Times are in microseconds and
// may have fractions. Zero means no time or no limit. MaxBatch must not be zero.
type Profile struct {
	// Step is the fixed time of a decode step. StepPerSeq is added for each sequence in
	// the batch. StepPerKVToken is added for each token of these sequences, in prompt and
	// output so far.
	Step           float64 `json:"step_us"`
	StepPerSeq     float64 `json:"step_per_seq_us,omitzero"`
	StepPerKVToken float64 `json:"step_per_kv_token_us,omitzero"`
	// StepPerSeqAboveKnee is added for each sequence beyond the first Knee.
	StepPerSeqAboveKnee float64 `json:"step_per_seq_above_knee_us,omitzero"`
	Knee                int     `json:"knee,omitzero"`
	// Prefill is the fixed time of a prefill. PrefillPerToken is added for each token.
	Prefill         float64 `json:"prefill_us,omitzero"`
	PrefillPerToken float64 `json:"prefill_per_token_us,omitzero"`
	// PrefillChunk is the largest number of prompt tokens that are computed together with
	// one decode step (chunked prefill). 0 means that decoding waits while a whole prompt
	// is computed.
	PrefillChunk int `json:"prefill_chunk,omitzero"`
	// PrefillSeqs is the largest number of sequences in one prefill; 0 means 1.
	// PrefillTokens is the largest number of tokens of these sequences together; a longer
	// prompt is computed alone.
	PrefillSeqs   int `json:"prefill_seqs,omitzero"`
	PrefillTokens int `json:"prefill_tokens,omitzero"`
	// PrefillGap is the least number of decode steps between two prefills while there are
	// sequences to decode. PrefillGap and PrefillChunk must not both be set.
	PrefillGap int `json:"prefill_gap,omitzero"`

	// MaxBatch is the largest number of sequences that run at the same time, 1 or more.
	MaxBatch int `json:"max_batch"`
	// MaxQueue is the largest number of requests that wait while MaxBatch sequences run.
	// Further requests are refused.
	MaxQueue int `json:"max_queue,omitzero"`
	// MaxContext is the largest number of tokens of a prompt and its output together.
	// Longer requests are refused.
	MaxContext int `json:"max_context,omitzero"`
	// KVBlocks is the size of the KV cache in blocks of BlockTokens tokens; a
	// BlockTokens of 0 means 16. A request that is larger than the whole cache is
	// refused.
	KVBlocks    int `json:"kv_blocks,omitzero"`
	BlockTokens int `json:"block_tokens,omitzero"`
	// Watermark is a share of KVBlocks, 0 to below 1. While other sequences run, a
	// sequence is admitted only if this share remains free.
	Watermark float64 `json:"watermark,omitzero"`
	// PrefixCache keeps the blocks of prompts, so that later prompts with the same
	// beginning can use them; see [Job.Prefix].
	PrefixCache bool `json:"prefix_cache,omitzero"`
	// OffloadBlocks is the size, in blocks, of a second cache (memory of the host), which needs PrefixCache and KVBlocks. Blocks that
	// the prefix cache drops go there, and the least recently used one is dropped. A prompt that begins with offloaded
	// blocks has them loaded, which adds LoadPerBlock for each of them to its prefill. They stay in the second cache, and
	// count as found in the prefix cache.
	OffloadBlocks int     `json:"offload_blocks,omitzero"`
	LoadPerBlock  float64 `json:"load_per_block_us,omitzero"`
	// Zombies makes the server compute a request to its end even if its client has hung
	// up.
	Zombies bool `json:"zombies,omitzero"`

	// Draft is the number of tokens that are drafted per sequence and step (speculative
	// decoding). AcceptRate, 0 to 1, is the probability that a drafted token is accepted
	// if all tokens before it in the draft were accepted.
	Draft      int     `json:"draft,omitzero"`
	AcceptRate float64 `json:"accept_rate,omitzero"`

	// Output is the distribution of output lengths. It applies to requests that do not set
	// an output length; see [Profile.DrawOutput].
	Output Lengths `json:"output,omitzero"`
	// Seed is the seed of all random draws: output lengths and accepted drafts.
	Seed uint64 `json:"seed,omitzero"`
}

// defaultBlock is the default of BlockTokens, as in vLLM.
const defaultBlock = 16

// The largest values in a profile. With larger values, times or sums could overflow.
const (
	maxMicros = 1e12 // 11 days
	maxCount  = 1 << 30
	maxBlock  = 1 << 12
	maxDraft  = 64
)

// Block returns BlockTokens with its default applied.
func (p *Profile) Block() int { return cmp.Or(p.BlockTokens, defaultBlock) }

// UnmarshalJSON sets the fields that are in data and leaves the others unchanged. An
// unknown name is an error. UnmarshalJSON does not validate the result.
func (p *Profile) UnmarshalJSON(data []byte) error {
	type plain Profile
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode((*plain)(p))
}

// Validate returns nil if the profile is valid. Otherwise the error begins with the JSON
// name of the first invalid field and gives the field's value and what is allowed.
func (p Profile) Validate() error {
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"step_us", p.Step}, {"step_per_seq_us", p.StepPerSeq}, {"step_per_kv_token_us", p.StepPerKVToken},
		{"step_per_seq_above_knee_us", p.StepPerSeqAboveKnee},
		{"prefill_us", p.Prefill}, {"prefill_per_token_us", p.PrefillPerToken}, {"load_per_block_us", p.LoadPerBlock},
	} {
		if !(f.value >= 0 && f.value <= maxMicros) { // NaN is neither
			return fmt.Errorf("%s: %v: want 0 to %g microseconds", f.name, f.value, maxMicros)
		}
	}
	for _, f := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"max_batch", p.MaxBatch, 1, maxCount},
		{"knee", p.Knee, 0, maxCount}, {"prefill_chunk", p.PrefillChunk, 0, maxCount},
		{"prefill_seqs", p.PrefillSeqs, 0, maxCount}, {"prefill_tokens", p.PrefillTokens, 0, maxCount},
		{"prefill_gap", p.PrefillGap, 0, maxCount},
		{"max_queue", p.MaxQueue, 0, maxCount}, {"max_context", p.MaxContext, 0, maxCount},
		{"kv_blocks", p.KVBlocks, 0, maxCount}, {"block_tokens", p.BlockTokens, 0, maxBlock},
		{"draft", p.Draft, 0, maxDraft}, {"offload_blocks", p.OffloadBlocks, 0, maxCount},
	} {
		if f.value < f.least || f.value > f.most {
			return fmt.Errorf("%s: %d: want %d to %d", f.name, f.value, f.least, f.most)
		}
	}
	switch {
	case p.PrefillGap > 0 && p.PrefillChunk > 0:
		return fmt.Errorf("prefill_gap: %d and prefill_chunk: %d are both set: want only one", p.PrefillGap, p.PrefillChunk)
	case p.OffloadBlocks > 0 && !(p.PrefixCache && p.KVBlocks > 0):
		return fmt.Errorf("offload_blocks: %d without prefix_cache and kv_blocks: want both", p.OffloadBlocks)
	case !(p.Watermark >= 0 && p.Watermark < 1):
		return fmt.Errorf("watermark: %v: want 0 to below 1", p.Watermark)
	case !(p.AcceptRate >= 0 && p.AcceptRate <= 1):
		return fmt.Errorf("accept_rate: %v: want 0 to 1", p.AcceptRate)
	}
	if err := p.Output.Validate(); err != nil {
		return fmt.Errorf("output%w", err)
	}
	return nil
}

// DrawOutput draws the output length of a request from Output. ordinal is the request's
// number: the same seed and ordinal give the same length. The length is in tokens and at
// least 1, or 0 if the profile has no Output.
func (p Profile) DrawOutput(ordinal uint64) int {
	if len(p.Output) == 0 {
		return 0
	}
	share := rand.New(rand.NewPCG(p.Seed, ordinal)).Float64()
	return max(int(math.Round(p.Output.At(share))), 1)
}

// stepTime returns the time of a decode step in microseconds. The step has b sequences,
// which have the given number of tokens together.
func (p *Profile) stepTime(b, tokens int) float64 {
	return p.Step + p.StepPerSeq*float64(b) + p.StepPerSeqAboveKnee*math.Max(0, float64(b-p.Knee)) +
		p.StepPerKVToken*float64(tokens)
}

// prefillTime returns the time of a prefill of that many tokens, in microseconds.
func (p *Profile) prefillTime(tokens int) float64 {
	return p.Prefill + p.PrefillPerToken*float64(tokens)
}
