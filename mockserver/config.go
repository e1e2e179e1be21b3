package mockserver

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/pace"
	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A Config says how fast a [Server] is, what its streams look like and which
// requests it spoils. The zero Config answers at once and without limit. A server
// is one of two kinds: without an Engine it has a fixed rate, and a sequence takes
// as long with 32 others as alone.
//
// In JSON the names are in snake case, durations are strings as
// time.ParseDuration takes them ("20ms"), unknown names are an error, and a name
// left out leaves the field as it was.
type Config struct {
	// Model is the model's name in every answer; empty means "mock". Requests
	// may ask for any model.
	Model string

	// TTFT is the time from admission to the first token, for an empty prompt.
	TTFT time.Duration
	// PerPromptToken is added to TTFT for every token of the prompt.
	PerPromptToken time.Duration
	// PerToken is the time from one token to the next.
	PerToken time.Duration
	// Slots is how many sequences are served at once; the others queue in the
	// order in which they arrived. 0 means no limit.
	Slots int
	// OutputTokens is where the output ends by itself, with finish reason
	// "stop", unless max_tokens ends it first or ignore_eos is set. 0 means
	// that it always runs to max_tokens.
	OutputTokens int

	// Engine, if set, is the speed and the limits of a server that batches, in
	// place of TTFT, PerPromptToken, PerToken, Slots and Jitter, which must be zero
	// then. Its curve of output lengths holds where OutputTokens is 0.
	Engine *engine.Profile
	// FullStatus is the status, 429 or 503, of the answer to a request that finds
	// the engine's queue full; 0 means 503.
	FullStatus int

	// Flavor says which server's POST /generate this is; empty means that the body
	// of each request decides.
	Flavor Flavor

	// Jitter, 0 to 1, multiplies each interval (admission to first token, token
	// to token) by a factor drawn uniformly from [1-Jitter, 1+Jitter].
	Jitter float64
	// Seed chooses the factors, together with the request's ordinal: the same
	// seed and ordinal always give the same intervals.
	Seed uint64
	// Speed divides every time above; 0 means 1, real time.
	Speed float64

	// Shape is what a stream looks like on the wire.
	Shape shape.Shape
	// Faults are the requests to spoil, and how. Where several hit one request
	// the first in the list does.
	Faults []fault.Fault
}

// Default returns the configuration of a small, quick server: 20 ms and 10 us a
// prompt token to the first token, 1.5 ms to each further one, 32 slots.
func Default() Config {
	return Config{
		TTFT:           20 * time.Millisecond,
		PerPromptToken: 10 * time.Microsecond,
		PerToken:       1500 * time.Microsecond,
		Slots:          32,
	}
}

// Load returns the configuration with that name: "" and "default" are
// [Default], the others those in package profiles. A name ending in ".json" is a
// file that holds a [Config] (what it leaves out is zero, not the default) or a
// profile as cmd/calibrate writes it. The result is valid; the error names the
// file, the field and what is allowed.
func Load(nameOrPath string) (Config, error) {
	switch {
	case nameOrPath == "" || nameOrPath == "default":
		return Default(), nil
	case !strings.HasSuffix(nameOrPath, ".json"):
		p, err := profiles.Load(nameOrPath)
		if err != nil {
			return Config{}, fmt.Errorf("%w, default, or the path of a .json file", err)
		}
		return Config{Engine: &p.Engine}, nil
	}
	data, err := os.ReadFile(nameOrPath)
	if err != nil {
		return Config{}, fmt.Errorf("profile: %w", err)
	}
	var calibrated struct {
		Points json.RawMessage `json:"points"`
	}
	if json.Unmarshal(data, &calibrated) == nil && calibrated.Points != nil {
		p, err := profiles.Parse(data)
		if err != nil {
			return Config{}, fmt.Errorf("%s: %w", nameOrPath, err)
		}
		return Config{Engine: &p.Engine}, nil
	}
	var c Config
	if err := json.Unmarshal(data, &c); err != nil {
		return Config{}, fmt.Errorf("profile %s: %w", nameOrPath, err)
	}
	if err := c.Validate(); err != nil {
		return Config{}, fmt.Errorf("profile %s: %w", nameOrPath, err)
	}
	return c, nil
}

// Validate returns an error that names the first field which cannot be used, its
// value and what is allowed, or nil.
func (c Config) Validate() error {
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"ttft", c.TTFT}, {"per_prompt_token", c.PerPromptToken}, {"per_token", c.PerToken}} {
		if f.value < 0 {
			return fmt.Errorf("%s: %v, want 0s or more", f.name, f.value)
		}
	}
	if c.Slots < 0 {
		return fmt.Errorf("slots: %d, want 0 (no limit) or more", c.Slots)
	}
	if c.OutputTokens < 0 {
		return fmt.Errorf("output_tokens: %d, want 0 (run to max_tokens) or more", c.OutputTokens)
	}
	if !(c.Jitter >= 0 && c.Jitter <= 1) { // not NaN either
		return fmt.Errorf("jitter: %v, want 0 to 1", c.Jitter)
	}
	if !(c.Speed >= 0) || math.IsInf(c.Speed, 0) {
		return fmt.Errorf("speed: %v, want a factor above 0, or 0 for 1", c.Speed)
	}
	if err := c.Flavor.Validate(); err != nil {
		return err
	}
	if err := c.validateEngine(); err != nil {
		return err
	}
	if err := c.Shape.Validate(); err != nil {
		return fmt.Errorf("shape.%w", err)
	}
	for i, f := range c.Faults {
		if err := f.Validate(); err != nil {
			return fmt.Errorf("faults[%d].%w", i, err)
		}
	}
	return nil
}

// validateEngine returns an error if the two kinds of server are mixed up, or if
// the engine's profile is not valid.
func (c Config) validateEngine() error {
	if c.Engine == nil {
		if c.FullStatus != 0 {
			return fmt.Errorf("full_status: %d without an engine, want 0: its queue has no end", c.FullStatus)
		}
		return nil
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"ttft", c.TTFT != 0}, {"per_prompt_token", c.PerPromptToken != 0}, {"per_token", c.PerToken != 0},
		{"slots", c.Slots != 0}, {"jitter", c.Jitter != 0},
	} {
		if f.set {
			return fmt.Errorf("%s: set beside an engine, which has times and limits of its own: want one of the two", f.name)
		}
	}
	if c.FullStatus != 0 && c.FullStatus != http.StatusTooManyRequests && c.FullStatus != http.StatusServiceUnavailable {
		return fmt.Errorf("full_status: %d, want 429, 503 or 0 for 503", c.FullStatus)
	}
	if err := c.Engine.Validate(); err != nil {
		return fmt.Errorf("engine.%w", err)
	}
	return nil
}

// rate returns the timing of a server without an engine.
func (c Config) rate() pace.Rate {
	return pace.Rate{
		TTFT: c.TTFT, PerPromptToken: c.PerPromptToken, PerToken: c.PerToken, Jitter: c.Jitter, Seed: c.Seed, Speed: c.Speed,
	}
}

// naturalEnd returns after how many tokens the output of the request with that
// ordinal ends by itself, 0 for never.
func (c *Config) naturalEnd(ordinal uint64) int {
	if c.OutputTokens == 0 && c.Engine != nil {
		return c.Engine.DrawOutput(ordinal)
	}
	return c.OutputTokens
}

// prefixBlock returns the number of tokens in a block of the prefix cache, 0 if
// there is no prefix cache.
func (c *Config) prefixBlock() int {
	if c.Engine == nil || !c.Engine.PrefixCache {
		return 0
	}
	return c.Engine.Block()
}
