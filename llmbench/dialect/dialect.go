package dialect

import (
	"errors"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// ErrTruncated reports that a stream ended before its answer was complete. The errors of a [Parser] wrap
// ErrTruncated and say what is missing.
var ErrTruncated = errors.New("stream is truncated")

// A Dialect is the API of one family of inference servers. It holds no state and
// is safe for concurrent use.
type Dialect interface {
	// Name returns the name of the dialect, as in LLMBENCH_DIALECT.
	Name() string
	// Path returns the path of the POST request for q, relative to the base URL of the server. The path
	// begins with a slash.
	Path(q Query) string
	// Body returns the JSON body of the POST request for q. It returns an error if q is invalid or if the
	// API cannot express q. The error wraps [errors.ErrUnsupported] if q has a conversation, tools or a
	// schema, but the API does not support them.
	Body(q Query) ([]byte, error)
	// NewParser returns a parser for the answers of this dialect. A parser can
	// read any number of answers, one after another.
	NewParser() Parser
}

// A Parser reads answers, one after another. For each answer, the caller calls
// Reset and then either Event for every event of the stream and End, or Body
// once. A Parser is not safe for concurrent use.
type Parser interface {
	// Reset prepares the parser for the next answer.
	Reset()
	// Event parses one event of a streamed answer into d. It overwrites all of d. After an error the caller
	// may continue with the next event, but the answer is malformed; if the error wraps [ErrTruncated], the
	// answer is truncated. Event does not keep e.Data. The slices in d are valid until the next call of a
	// method of the parser.
	Event(e sse.Event, d *Delta) error
	// End returns nil if the answer is complete. The caller calls End after the body of the response ended
	// without an error. If the answer is incomplete, the error wraps [ErrTruncated]. An answer can be
	// incomplete even if its end marker came; see the documentation of the package.
	End() error
	// Body parses an answer that was not streamed into d. It overwrites all of
	// d.
	Body(body []byte, d *Delta) error
}

// A Knower is a [Parser] that recognizes events without parsing them.
type Knower interface {
	// Known checks whether the event differs from an earlier event only in its text. If so, Known does the
	// work of Event and returns true. Otherwise it does nothing and returns false. It needs much less time
	// and stack than Event.
	Known(e sse.Event, d *Delta) bool
}
