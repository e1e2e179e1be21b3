package mockserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/pace"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
	"github.com/seed-2b9cec6d/llmbench/mockserver/oracle"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A Config says how fast a [Server] is, what its answers look like and which requests
// get a fault. The zero Config answers at once and without limits. Without an Engine the
// server has a fixed rate: a request takes as long beside 32 others as alone.
//
// In JSON the names are in snake case and durations are strings that
// time.ParseDuration accepts, such as "20ms". An unknown name is an error. If a name is
// missing, decoding leaves the field's value as it is.
type Config struct {
	// Model is the model's name in every answer; empty means "mock". Requests may name
	// any model.
	Model string `json:"model,omitzero"`

	// TTFT is the time from admission to the first token, for an empty prompt.
	TTFT time.Duration `json:"ttft"`
	// PerPromptToken is added to TTFT for every token of the prompt.
	PerPromptToken time.Duration `json:"per_prompt_token"`
	// PerToken is the time from one token to the next.
	PerToken time.Duration `json:"per_token"`
	// Slots is how many sequences are served at the same time; others wait in the
	// order of their arrival. 0 means no limit.
	Slots int `json:"slots"`
	// OutputTokens is the number of tokens after which the output ends by itself, with
	// finish reason "stop". The output ends earlier if max_tokens is smaller, and later if
	// the request sets ignore_eos. 0 means that the output always has max_tokens tokens.
	OutputTokens int `json:"output_tokens,omitzero"`

	// Engine, if not nil, gives the speed and the limits of a server that batches. TTFT,
	// PerPromptToken, PerToken, Slots and Jitter must then be zero. If OutputTokens is 0,
	// output lengths come from the engine's distribution.
	Engine *engine.Profile `json:"engine,omitempty"`
	// FullStatus is the HTTP status, 429 or 503, of the answer when the engine's queue is
	// full; 0 means 503.
	FullStatus int `json:"full_status,omitzero"`
	// RetryAfter is the value of the header Retry-After in answers with status 429 or 503,
	// rounded up to whole seconds. 0 means one second in answers with status 429, and no
	// header in others.
	RetryAfter time.Duration `json:"retry_after,omitzero"`

	// LoRA has the names of the server's LoRA adapters. A request whose "model" is one of
	// them uses the adapter: its answer has the adapter's name, and its prompt shares no
	// blocks of the prefix cache with other adapters or with the model. An adapter costs no
	// time. With LoRA, /metrics has vLLM's vllm:lora_requests_info.
	LoRA []string `json:"lora,omitempty"`
	// MaxLoRA is the value of the label max_lora of that metric: how many adapters a batch
	// may have; 0 means all of LoRA. It does not limit the batch.
	MaxLoRA int `json:"max_lora,omitzero"`

	// AWS, if not nil, has the keys with which requests to the paths of Amazon Bedrock must be signed.
	// A request without a valid signature is answered with status 403 and AWS's exception. The
	// date of a signature may be five minutes from the server's time.
	AWS *AWSKeys `json:"aws,omitempty"`

	// Flavor says which server's format POST /generate has; empty means that the body of
	// each request decides.
	Flavor Flavor `json:"flavor,omitzero"`

	// Jitter, 0 to 1, multiplies each interval (from admission to the first token, and
	// from token to token) by a random factor, uniform in [1-Jitter, 1+Jitter].
	Jitter float64 `json:"jitter,omitzero"`
	// Seed and the request's ordinal, its number from 1 in the order of arrival, determine
	// the random factors: the same seed and ordinal always give the same intervals.
	Seed uint64 `json:"seed,omitzero"`
	// Speed divides every time above; 0 means 1, real time.
	Speed float64 `json:"speed,omitzero"`

	// Oracle returns the right answer to a prompt, if it knows the prompt. The output is
	// then the answer, and has more tokens only if ignore_eos or min_tokens asks for them.
	// nil means [oracle.Known]. The field is not in the JSON form.
	Oracle oracle.Func `json:"-"`
	// Shape is what answers look like on the wire.
	Shape shape.Shape `json:"shape,omitzero"`
	// Faults says what goes wrong and with which requests. If several faults apply to a
	// request, only the first in the list occurs.
	Faults []fault.Fault `json:"faults,omitzero"`
}

// Default returns the configuration of a small, fast server: 20 ms plus 10 us per prompt
// token to the first token, 1.5 ms to each further token, 32 slots.
func Default() Config {
	return Config{
		TTFT:           20 * time.Millisecond,
		PerPromptToken: 10 * time.Microsecond,
		PerToken:       1500 * time.Microsecond,
		Slots:          32,
	}
}

// Speculative returns the configuration of a server with speculative decoding. A draft has four
// tokens. Each of them is accepted with a probability of 0.7 if all tokens before it in the draft
// were accepted. The mean acceptance length is 1 + 0.7 + 0.7^2 + 0.7^3 + 0.7^4 = 2.7731 tokens. All
// tokens of a step are sent in one chunk.
func Speculative() Config {
	return Config{
		Engine: &engine.Profile{
			Step: 10_000, StepPerSeq: 100, Prefill: 10_000, PrefillPerToken: 10, PrefillSeqs: 8, MaxBatch: 64, Draft: 4, AcceptRate: 0.7,
		},
		Shape: shape.Shape{StepChunks: true},
	}
}

// PrefixCaching returns the configuration of a server with a prefix cache. It has an engine that is as fast as the server of
// [Default].
func PrefixCaching() Config {
	return Config{Engine: &engine.Profile{Step: 1500, Prefill: 5000, PrefillPerToken: 50, MaxBatch: 32, PrefixCache: true}}
}

// Describe returns one line about the server's speed: the TTFT and TPOT of a request that runs alone,
// and how many requests the server serves at once.
func (c Config) Describe() string {
	speed := cmp.Or(c.Speed, 1)
	scaled := func(d time.Duration) string { return time.Duration(float64(d) / speed).String() }
	micros := func(us float64) string { return scaled(time.Duration(us * float64(time.Microsecond))) }
	first, perPrompt, next, most, at := scaled(c.TTFT), scaled(c.PerPromptToken), scaled(c.PerToken), c.Slots, ""
	if e := c.Engine; e != nil {
		first, perPrompt, next, most, at = micros(e.Prefill), micros(e.PrefillPerToken), micros(e.Step+e.StepPerSeq), e.MaxBatch, " of a lone request"
		if e.Draft > 0 {
			next = micros(e.Step+e.StepPerSeq) + " for each step"
		}
	}
	if perPrompt != "0s" {
		first += fmt.Sprintf(" + %s for each token of the prompt", perPrompt)
	}
	text := fmt.Sprintf("TTFT %s, TPOT %s%s", first, next, at)
	if c.Jitter > 0 {
		text += fmt.Sprintf(", each time %g %% more or less", 100*c.Jitter)
	}
	if most > 0 {
		text += fmt.Sprintf(", %d requests at once", most)
	}
	return text
}

// Load returns the configuration with the given name: [Default] for "" and "default",
// [Speculative] for "speculative", [PrefixCaching] for "prefix-cache", or the profile of a measured server. A name that ends in
// ".json" is the path of a file. The file has a [Config], whose missing fields are zero, or
// a profile that cmd/calibrate has written. The result is valid. An error names the file
// and the field, and says what is allowed.
func Load(nameOrPath string) (Config, error) {
	switch {
	case nameOrPath == "" || nameOrPath == "default":
		return Default(), nil
	case nameOrPath == "speculative":
		return Speculative(), nil
	case nameOrPath == "prefix-cache":
		return PrefixCaching(), nil
	case !strings.HasSuffix(nameOrPath, ".json"):
		p, err := profiles.Load(nameOrPath)
		if err != nil {
			return Config{}, fmt.Errorf("%w, default, speculative, prefix-cache, or the path of a .json file", err)
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

// Validate returns nil if the configuration is valid. Otherwise the error begins with the
// JSON name of the first invalid field and gives the field's value and what is allowed.
func (c Config) Validate() error {
	for _, f := range []struct {
		name  string
		value time.Duration
	}{{"ttft", c.TTFT}, {"per_prompt_token", c.PerPromptToken}, {"per_token", c.PerToken}} {
		if f.value < 0 {
			return fmt.Errorf("%s: %v: want 0s or more", f.name, f.value)
		}
	}
	if c.Slots < 0 {
		return fmt.Errorf("slots: %d: want 0 (no limit) or more", c.Slots)
	}
	if c.OutputTokens < 0 {
		return fmt.Errorf("output_tokens: %d: want 0 (run to max_tokens) or more", c.OutputTokens)
	}
	if !(c.Jitter >= 0 && c.Jitter <= 1) { // NaN is neither
		return fmt.Errorf("jitter: %v: want 0 to 1", c.Jitter)
	}
	if !(c.Speed >= 0) || math.IsInf(c.Speed, 0) {
		return fmt.Errorf("speed: %v: want a factor above 0, or 0 for 1", c.Speed)
	}
	if c.RetryAfter < 0 {
		return fmt.Errorf("retry_after: %v: want 0s or more", c.RetryAfter)
	}
	if err := cmp.Or(c.Flavor.Validate(), c.validateEngine(), c.validateLoRA()); err != nil {
		return err
	}
	if k := c.AWS; k != nil && (k.AccessKeyID == "" || k.SecretAccessKey == "" || k.Region == "") {
		return errors.New("aws: want access_key_id, secret_access_key and region, none of them empty")
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

// validateEngine returns an error if settings for a server with an engine are mixed with
// settings for a server without one, or if the engine's profile is not valid.
func (c Config) validateEngine() error {
	if c.Engine == nil {
		if c.FullStatus != 0 {
			return fmt.Errorf("full_status: %d without an engine: want 0: the queue has no limit", c.FullStatus)
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
			return fmt.Errorf("%s: set together with engine, which has its own times and limits: want only one of the two", f.name)
		}
	}
	if c.FullStatus != 0 && c.FullStatus != http.StatusTooManyRequests && c.FullStatus != http.StatusServiceUnavailable {
		return fmt.Errorf("full_status: %d: want 429, 503 or 0 for 503", c.FullStatus)
	}
	if err := c.Engine.Validate(); err != nil {
		return fmt.Errorf("engine.%w", err)
	}
	return nil
}

// validateLoRA returns an error if the adapters are invalid.
func (c Config) validateLoRA() error {
	for i, name := range c.LoRA {
		if name == "" || strings.ContainsAny(name, ", ") || name == c.Model || slices.Contains(c.LoRA[:i], name) {
			return fmt.Errorf("lora[%d]: %q: want different names without commas and spaces, none of which is the model's", i, name)
		}
	}
	if c.MaxLoRA < 0 || c.MaxLoRA > 0 && len(c.LoRA) == 0 {
		return fmt.Errorf("max_lora: %d with %d adapters: want 0 (all) or more, and adapters in lora", c.MaxLoRA, len(c.LoRA))
	}
	return nil
}

// rate returns the timing of a server without an engine.
func (c Config) rate() pace.Rate {
	return pace.Rate{
		TTFT: c.TTFT, PerPromptToken: c.PerPromptToken, PerToken: c.PerToken, Jitter: c.Jitter, Seed: c.Seed, Speed: c.Speed,
	}
}

// naturalEnd returns the number of tokens after which the output of a request ends by
// itself, or 0 if it never does. ordinal is the request's number.
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
