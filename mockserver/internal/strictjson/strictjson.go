// Package strictjson reads configuration files in JSON. An unknown name is an error, and
// durations are strings.
package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Decode decodes the first JSON value in data into v like encoding/json, but returns an
// error if an object has a key for which v has no field.
func Decode(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

// A Duration is a time.Duration whose JSON form is a string that
// time.ParseDuration accepts, such as "20ms".
type Duration time.Duration

// MarshalJSON writes the duration as time.Duration.String does.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	err := json.Unmarshal(data, &text)
	var v time.Duration
	if err == nil {
		v, err = time.ParseDuration(text)
	}
	if err != nil {
		return fmt.Errorf("duration %s: want a string with a unit, as in \"20ms\"", data)
	}
	*d = Duration(v)
	return nil
}
