package dialect

import (
	"io"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/frames"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// ErrCorrupt reports that the body of a stream does not have the form that its dialect prescribes, for
// example because a checksum is wrong. The errors of a [Framer]'s decoder wrap ErrCorrupt.
var ErrCorrupt = frames.ErrCorrupt

// A Framer is a [Dialect] whose streams are neither text/event-stream nor lines of JSON.
type Framer interface {
	// MediaType returns the media type of the dialect's streams, in lower case. An answer of another type is
	// not a stream.
	MediaType() string
	// NewDecoder returns a decoder of the dialect's streams that reads from body, which may be an
	// [sse.Waiter].
	NewDecoder(body io.Reader) Decoder
}

// A Decoder splits the body of a stream into events, as [sse.Decoder] does. A Decoder is not safe for
// concurrent use.
type Decoder interface {
	// Reset prepares the decoder for another body.
	Reset(body io.Reader)
	// Next returns the next event, whose bytes are valid until the next call of Next or Reset. It returns
	// [io.EOF] after the last event, [io.ErrUnexpectedEOF] if the body ended within an event, the error of
	// the body, or an error that wraps [ErrCorrupt] or [sse.ErrTooLarge]. An event has at most 16 MiB.
	Next() (sse.Event, error)
	// Buffered returns the number of bytes that were read but do not belong to an event yet.
	Buffered() int
}
