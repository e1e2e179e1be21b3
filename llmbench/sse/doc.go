// Package sse reads a text/event-stream body, event by event.
//
// It follows the algorithm of the HTML standard
// (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream):
// one leading byte order mark is dropped; lines end with CR, LF or CRLF, also
// when a read ends between the two; comments and unknown fields are ignored;
// the data lines of an event are joined with LF. Two things differ from a
// browser, because a client of an inference server needs them:
//
//   - an event that the end of the body left without its blank line is handed
//     over, marked [Event.Unterminated], where a browser would drop it;
//   - data is handed over as the bytes that came. Invalid UTF-8 is left to
//     whoever decodes them.
//
// There is no limit on the length of a line. There is one on the memory that a
// single event may take, [Decoder.MaxEventSize], and passing it is an error,
// never a truncated event.
//
// The decoder asks its reader for more only when it holds no complete event,
// and hands an event over as soon as the line end that completes it was read,
// also when that is a CR whose LF may still follow. So the moment of the last
// Read is the moment the event became visible: a caller that needs the instant
// of an event stamps it in the reader.
//
// Servers of language models do not only send event streams, nor call by that
// name what they send. [Decoder.Format] chooses: plain text/event-stream unless
// set, [JSONLines] for a JSON document a line, [Auto] for a client that has to
// read whatever comes.
//
// Nothing is allocated per event: an event's bytes are the decoder's own.
package sse
