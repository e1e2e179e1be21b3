// Package frames splits the bodies of streams that are not text/event-stream into events: the messages of
// Amazon's event stream. Package sse splits all other bodies.
package frames
