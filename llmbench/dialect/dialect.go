package dialect

import (
	"errors"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// ErrTruncated reports a stream that ended before its answer was complete. The
// errors of a [Parser] wrap ErrTruncated and add what is missing.
var ErrTruncated = errors.New("stream is truncated")

// A Dialect is the API of one family of inference servers. It holds no state and
// is safe for concurrent use.
type Dialect interface {
	// Name returns the name of the dialect, the value that LLMBENCH_DIALECT
	// has for it.
	Name() string
	// Path returns the path to which q is posted, relative to the base URL of
	// the server. The path begins with a slash.
	Path(q Query) string
	// Body returns the JSON body of the POST request for q. It returns an error
	// if q is invalid or if the API cannot express q. The error wraps
	// [errors.ErrUnsupported] if the API has no conversations, no tools or no
	// schemas, and q has one.
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
	// Event parses one event of a streamed answer into d. It overwrites all of
	// d. After an error the caller may go on with the next event, but the
	// answer is malformed, or truncated if the error wraps [ErrTruncated].
	// Event does not keep e.Data, and the slices in d are valid until the next
	// call of a method of the parser.
	Event(e sse.Event, d *Delta) error
	// End reports whether the answer is complete. The caller calls End after
	// the body of the response ended without an error. The error of an
	// incomplete answer wraps [ErrTruncated]. An answer can be incomplete
	// although its end marker came, see the documentation of the package.
	End() error
	// Body parses an answer that was not streamed into d. It overwrites all of
	// d.
	Body(body []byte, d *Delta) error
}

// A Knower is a [Parser] that recognizes events without parsing them.
type Knower interface {
	// Known does the work of Event and returns true if the event differs from an earlier one only
	// in its text. Otherwise it does nothing. It needs much less time and stack than Event.
	Known(e sse.Event, d *Delta) bool
}
