// Package sse decodes the body of a text/event-stream response, one event at a
// time.
//
// The decoder follows the algorithm of the HTML standard
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).
// It drops one leading byte order mark. A line ends with CR, LF or CRLF, also
// when a read ends between CR and LF. Comments and unknown fields are ignored;
// [Decoder.Ignored] returns the last unknown field.
// The data lines of an event are joined with LF. Two points differ from a
// browser, because a client of an inference server needs them:
//
//   - If the body ends before the blank line that completes an event, the
//     decoder returns that event, marked [Event.Unterminated]. A browser would
//     drop the event.
//   - Data is returned as the bytes of the body. Invalid UTF-8 is not replaced.
//
// A line may have any length. [Decoder.MaxEventSize] limits the memory for one event. A larger event causes
// an error; it is never truncated.
//
// # When an event is returned
//
// The decoder reads from the body only when it holds no complete event. It returns an event as soon as it
// has read the line end that completes the event, even if this line end is a CR that an LF may follow. The
// instant of the last Read is therefore the instant at which the event became visible. A caller that needs
// this instant can record it in the reader.
//
// # Formats
//
// Inference servers do not always send event streams, and do not always declare
// the right content type. [Decoder.Format] selects the format: plain
// text/event-stream by default, [JSONLines] for one JSON document per line, or
// [Auto] for a client that must read either.
//
// # What the package refuses to do
//
// The package knows no HTTP: it checks neither status nor content type and never
// reconnects. It does not parse the data of an event. It allocates nothing per
// event, so an event is valid only until the next call of [Decoder.Next].
package sse
