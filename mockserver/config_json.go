package mockserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// configJSON is a Config as it stands in a file.
type configJSON struct {
	Model          string          `json:"model,omitzero"`
	TTFT           duration        `json:"ttft"`
	PerPromptToken duration        `json:"per_prompt_token"`
	PerToken       duration        `json:"per_token"`
	Slots          int             `json:"slots"`
	OutputTokens   int             `json:"output_tokens,omitzero"`
	Engine         *engine.Profile `json:"engine,omitempty"`
	FullStatus     int             `json:"full_status,omitzero"`
	Flavor         Flavor          `json:"flavor,omitzero"`
	Jitter         float64         `json:"jitter,omitzero"`
	Seed           uint64          `json:"seed,omitzero"`
	Speed          float64         `json:"speed,omitzero"`
	Shape          Shape           `json:"shape,omitzero"`
	Faults         []Fault         `json:"faults,omitzero"`
}

// MarshalJSON writes the configuration in the form that UnmarshalJSON reads.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(toJSON(c)) }

// UnmarshalJSON reads a configuration over c. It does not validate it.
func (c *Config) UnmarshalJSON(data []byte) error {
	j := toJSON(*c)
	j.Faults = nil // the decoder would write into the caller's array, and engine
	if c.Engine != nil {
		j.Engine = new(*c.Engine)
	}
	if err := decodeStrictly(data, &j); err != nil {
		return err
	}
	faults := c.Faults
	if j.Faults != nil {
		faults = j.Faults
	}
	*c = Config{
		Model: j.Model, TTFT: time.Duration(j.TTFT), PerPromptToken: time.Duration(j.PerPromptToken),
		PerToken: time.Duration(j.PerToken), Slots: j.Slots, OutputTokens: j.OutputTokens,
		Engine: j.Engine, FullStatus: j.FullStatus, Flavor: j.Flavor, Jitter: j.Jitter, Seed: j.Seed, Speed: j.Speed, Shape: j.Shape, Faults: faults,
	}
	return nil
}

func toJSON(c Config) configJSON {
	return configJSON{
		Model: c.Model, TTFT: duration(c.TTFT), PerPromptToken: duration(c.PerPromptToken),
		PerToken: duration(c.PerToken), Slots: c.Slots, OutputTokens: c.OutputTokens,
		Engine: c.Engine, FullStatus: c.FullStatus, Flavor: c.Flavor, Jitter: c.Jitter, Seed: c.Seed, Speed: c.Speed, Shape: c.Shape, Faults: c.Faults,
	}
}

// plainShape is a Shape without its methods, and shapeJSON as it stands in a file.
type plainShape Shape

type shapeJSON struct {
	plainShape
	SplitPause duration `json:"split_pause,omitzero"`
}

// MarshalJSON writes the shape in the form that UnmarshalJSON reads.
func (s Shape) MarshalJSON() ([]byte, error) {
	return json.Marshal(shapeJSON{plainShape(s), duration(s.SplitPause)})
}

// UnmarshalJSON reads a shape over s. It does not validate it.
func (s *Shape) UnmarshalJSON(data []byte) error {
	j := shapeJSON{plainShape(*s), duration(s.SplitPause)}
	if err := decodeStrictly(data, &j); err != nil {
		return err
	}
	*s = Shape(j.plainShape)
	s.SplitPause = time.Duration(j.SplitPause)
	return nil
}

// decodeStrictly is json.Unmarshal for one value, with unknown names an error.
func decodeStrictly(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// A duration is a time.Duration that is a string in JSON.
type duration time.Duration

func (d duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

func (d *duration) UnmarshalJSON(data []byte) error {
	var text string
	err := json.Unmarshal(data, &text)
	var v time.Duration
	if err == nil {
		v, err = time.ParseDuration(text)
	}
	if err != nil {
		return fmt.Errorf("duration %s: want a string with a unit, as in \"20ms\"", data)
	}
	*d = duration(v)
	return nil
}
