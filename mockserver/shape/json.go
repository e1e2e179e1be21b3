package shape

import (
	"encoding/json"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/strictjson"
)

// plain is a Shape without its methods.
type plain Shape

// document is the JSON form of a Shape.
type document struct {
	plain
	SplitPause strictjson.Duration `json:"split_pause,omitzero"`
}

// MarshalJSON writes the shape in the form that UnmarshalJSON reads.
func (s Shape) MarshalJSON() ([]byte, error) {
	return json.Marshal(document{plain(s), strictjson.Duration(s.SplitPause)})
}

// UnmarshalJSON sets the fields that are in data and leaves the others unchanged. An
// unknown name is an error. UnmarshalJSON does not validate the result.
func (s *Shape) UnmarshalJSON(data []byte) error {
	d := document{plain(*s), strictjson.Duration(s.SplitPause)}
	if err := strictjson.Decode(data, &d); err != nil {
		return err
	}
	*s = Shape(d.plain)
	s.SplitPause = time.Duration(d.SplitPause)
	return nil
}
