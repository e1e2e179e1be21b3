package mockserver

import (
	"encoding/json"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/strictjson"
)

// plain is a Config without its methods.
type plain Config

// document is the JSON form of a Config.
type document struct {
	plain
	TTFT           strictjson.Duration `json:"ttft"`
	PerPromptToken strictjson.Duration `json:"per_prompt_token"`
	PerToken       strictjson.Duration `json:"per_token"`
	RetryAfter     strictjson.Duration `json:"retry_after,omitzero"`
}

func documentOf(c Config) document {
	return document{plain(c), strictjson.Duration(c.TTFT), strictjson.Duration(c.PerPromptToken), strictjson.Duration(c.PerToken), strictjson.Duration(c.RetryAfter)}
}

// MarshalJSON writes the configuration in the form that UnmarshalJSON reads.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(documentOf(c)) }

// UnmarshalJSON sets the fields that are in data and leaves the others unchanged. An
// unknown name is an error. UnmarshalJSON does not validate the result.
func (c *Config) UnmarshalJSON(data []byte) error {
	d := documentOf(*c)
	d.Faults, d.LoRA = nil, nil // else the decoder would write into c's arrays, which copies of c share
	if c.Engine != nil {
		d.Engine = new(*c.Engine)
	}
	if c.AWS != nil {
		d.AWS = new(*c.AWS)
	}
	if err := strictjson.Decode(data, &d); err != nil {
		return err
	}
	if d.Faults == nil {
		d.Faults = c.Faults
	}
	if d.LoRA == nil {
		d.LoRA = c.LoRA
	}
	*c = Config(d.plain)
	c.TTFT, c.PerPromptToken = time.Duration(d.TTFT), time.Duration(d.PerPromptToken)
	c.PerToken, c.RetryAfter = time.Duration(d.PerToken), time.Duration(d.RetryAfter)
	return nil
}
