package mockserver

import (
	"encoding/json"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/strictjson"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// configJSON is the JSON form of a Config.
type configJSON struct {
	Model          string              `json:"model,omitzero"`
	TTFT           strictjson.Duration `json:"ttft"`
	PerPromptToken strictjson.Duration `json:"per_prompt_token"`
	PerToken       strictjson.Duration `json:"per_token"`
	Slots          int                 `json:"slots"`
	OutputTokens   int                 `json:"output_tokens,omitzero"`
	Engine         *engine.Profile     `json:"engine,omitempty"`
	FullStatus     int                 `json:"full_status,omitzero"`
	RetryAfter     strictjson.Duration `json:"retry_after,omitzero"`
	LoRA           []string            `json:"lora,omitempty"`
	MaxLoRA        int                 `json:"max_lora,omitzero"`
	AWS            *AWSKeys            `json:"aws,omitempty"`
	Flavor         Flavor              `json:"flavor,omitzero"`
	Jitter         float64             `json:"jitter,omitzero"`
	Seed           uint64              `json:"seed,omitzero"`
	Speed          float64             `json:"speed,omitzero"`
	Shape          shape.Shape         `json:"shape,omitzero"`
	Faults         []fault.Fault       `json:"faults,omitzero"`
}

// MarshalJSON writes the configuration in the form that UnmarshalJSON reads.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(toJSON(c)) }

// UnmarshalJSON sets the fields that are in data and leaves the others unchanged. An
// unknown name is an error. UnmarshalJSON does not validate the result.
func (c *Config) UnmarshalJSON(data []byte) error {
	j := toJSON(*c)
	j.Faults, j.LoRA = nil, nil // else the decoder would write into c's arrays, which copies of c share
	if c.Engine != nil {
		j.Engine = new(*c.Engine)
	}
	if c.AWS != nil {
		j.AWS = new(*c.AWS)
	}
	if err := strictjson.Decode(data, &j); err != nil {
		return err
	}
	faults := c.Faults
	if j.Faults != nil {
		faults = j.Faults
	}
	lora := c.LoRA
	if j.LoRA != nil {
		lora = j.LoRA
	}
	*c = Config{
		Model: j.Model, TTFT: time.Duration(j.TTFT), PerPromptToken: time.Duration(j.PerPromptToken),
		PerToken: time.Duration(j.PerToken), Slots: j.Slots, OutputTokens: j.OutputTokens,
		Engine: j.Engine, FullStatus: j.FullStatus, RetryAfter: time.Duration(j.RetryAfter), LoRA: lora, MaxLoRA: j.MaxLoRA, AWS: j.AWS,
		Flavor: j.Flavor, Jitter: j.Jitter, Seed: j.Seed, Speed: j.Speed, Shape: j.Shape, Faults: faults, Oracle: c.Oracle,
	}
	return nil
}

func toJSON(c Config) configJSON {
	return configJSON{
		Model: c.Model, TTFT: strictjson.Duration(c.TTFT), PerPromptToken: strictjson.Duration(c.PerPromptToken),
		PerToken: strictjson.Duration(c.PerToken), Slots: c.Slots, OutputTokens: c.OutputTokens,
		Engine: c.Engine, FullStatus: c.FullStatus, RetryAfter: strictjson.Duration(c.RetryAfter), LoRA: c.LoRA, MaxLoRA: c.MaxLoRA, AWS: c.AWS,
		Flavor: c.Flavor, Jitter: c.Jitter, Seed: c.Seed, Speed: c.Speed, Shape: c.Shape, Faults: c.Faults,
	}
}
