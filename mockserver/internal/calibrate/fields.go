package calibrate

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// A field is a number in an engine's profile that a fit can vary.
type field struct {
	name  string
	real  func(*engine.Profile) *float64
	whole func(*engine.Profile) *int
	// prior is the expected value if the profile has none. For a time, prior is a multiple of the time per
	// token at the training point with the lowest concurrency.
	prior float64
}

// fields lists the engine's times, in microseconds, and its limits. A prefill of few tokens is expected to take
// as long as a decode step, because both read all weights once.
var fields = []field{
	{name: "step_us", real: func(p *engine.Profile) *float64 { return &p.Step }, prior: 1},
	{name: "step_per_seq_us", real: func(p *engine.Profile) *float64 { return &p.StepPerSeq }, prior: .01},
	{name: "step_per_kv_token_us", real: func(p *engine.Profile) *float64 { return &p.StepPerKVToken }, prior: 1e-5},
	{name: "step_per_seq_above_knee_us", real: func(p *engine.Profile) *float64 { return &p.StepPerSeqAboveKnee }, prior: .01},
	{name: "knee", whole: func(p *engine.Profile) *int { return &p.Knee }, prior: 100},
	{name: "prefill_us", real: func(p *engine.Profile) *float64 { return &p.Prefill }, prior: 1},
	{name: "prefill_per_token_us", real: func(p *engine.Profile) *float64 { return &p.PrefillPerToken }, prior: .01},
	{name: "prefill_seqs", whole: func(p *engine.Profile) *int { return &p.PrefillSeqs }, prior: 2},
	{name: "prefill_gap", whole: func(p *engine.Profile) *int { return &p.PrefillGap }, prior: 4},
	{name: "max_batch", whole: func(p *engine.Profile) *int { return &p.MaxBatch }, prior: 256},
	{name: "kv_blocks", whole: func(p *engine.Profile) *int { return &p.KVBlocks }, prior: 8192},
}

func fieldNamed(name string) (field, error) {
	var names []string
	for _, f := range fields {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	return field{}, fmt.Errorf("%q: want one of %s", name, strings.Join(names, ", "))
}

// Field returns the value of the field with this JSON name. If a fit cannot vary a field of that name, the
// error lists the fields that a fit can vary.
func Field(e engine.Profile, name string) (float64, error) {
	f, err := fieldNamed(name)
	if err != nil {
		return 0, err
	}
	return f.get(&e), nil
}

func (f field) get(p *engine.Profile) float64 {
	if f.real != nil {
		return *f.real(p)
	}
	return float64(*f.whole(p))
}

func (f field) set(p *engine.Profile, v float64) {
	if f.real != nil {
		*f.real(p) = min(v, 1e9)
		return
	}
	*f.whole(p) = int(math.Round(min(max(v, 1), 1e9)))
}
