package send

import (
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// The limits of what a server may send, so that no server can fill the memory. Further limits are in package
// conn (the head, chunk extensions and the trailer), package sse and package frames (an event). The table in
// ACCURACY.md has all of them.
const (
	// maxBody is the maximum length in bytes of an answer that is not a stream.
	maxBody = 64 << 20
	// maxOther is the maximum length in bytes that is read of an answer that should be a stream and is not.
	maxOther = 1 << 20
	// maxText is the maximum length in bytes of the generated text of an answer: the content, the reasoning
	// and the arguments of tool calls.
	maxText = 64 << 20
	// maxNames is the maximum length in bytes of the names of all tool calls of an answer.
	maxNames = 64 << 10
	// maxCalls is the maximum number of tool calls of an answer that is kept without names. Further arguments
	// count as one call.
	maxCalls = 1024
	// maxField is the maximum length in bytes of the type of an event, and of its ID.
	maxField = 64 << 10
	// deltasPerToken and moreDeltas limit the number of deltas of a stream: deltasPerToken for each token
	// that the request allowed, plus moreDeltas. Most servers send at most one delta per token, but some
	// proxies divide the text of a token.
	deltasPerToken = 8
	moreDeltas     = 64
	// maxRecorded is the maximum length in bytes of a recorded header field of an answer.
	maxRecorded = 200
	// maxEcho is the maximum length in bytes of the header fields that a session sends back.
	maxEcho = 64 << 10
	// maxErrorBody is the maximum length in bytes that is kept of an error response's body.
	maxErrorBody = 4 << 10
	// maxError is the maximum length in bytes of the error of a sample.
	maxError = 8 << 10
	// maxDrained is the maximum number of further bytes of such a body that are read, so that the
	// connection can be used again.
	maxDrained = 256 << 10
	// errorBodyTime is the maximum time for reading the body of an error response.
	errorBodyTime = 10 * time.Second
	// maxLarge is the maximum memory in bytes for the large events of all streams.
	maxLarge = 512 << 20
	// maxSpare is the maximum size in bytes of the buffers of a parsed event that a worker keeps for its next
	// answer.
	maxSpare = 1 << 20
)

// A size counts what an answer has had so far.
type size struct {
	text, names int // in bytes
	typ, id     int // of the last event, in bytes
}

// add adds what was parsed: an event, or an answer that is not a stream.
func (z *size) add(d *dialect.Delta) {
	z.text += len(d.Text) + len(d.Reasoning) + len(d.ToolCall)
	z.names += len(d.ToolName)
}

// addEvent adds an event that has not been parsed.
func (z *size) addEvent(e *sse.Event) { z.typ, z.id = len(e.Type), len(e.ID) }

// check returns a failure if the answer is larger than any answer may be.
func (z *size) check() error {
	switch {
	case z.typ > maxField:
		return fail(sample.Malformed, "the type of an event has %d bytes: want at most %d", z.typ, maxField)
	case z.id > maxField:
		return fail(sample.Malformed, "the ID of an event has %d bytes: want at most %d", z.id, maxField)
	case z.text > maxText:
		return fail(sample.Malformed, "the text of the answer has %d bytes: want at most %d", z.text, maxText)
	case z.names > maxNames:
		return fail(sample.Malformed, "the names of tools in the answer have %d bytes: want at most %d", z.names, maxNames)
	}
	return nil
}

// tooManyDeltas returns a failure if a stream has more deltas or tokens than any answer with the allowed number
// of tokens.
func tooManyDeltas(s *sample.Sample, tokens int) error {
	bound := deltasPerToken*min(s.MaxTokens, maxText) + moreDeltas
	switch {
	case s.MaxTokens == 0 || s.Deltas <= bound && tokens <= bound:
		return nil
	case s.Deltas > bound:
		return fail(sample.Malformed, "the stream has %d deltas and has not ended: want at most %d where %d output tokens are allowed", s.Deltas, bound, s.MaxTokens)
	}
	return fail(sample.Malformed, "the events of the stream have %d tokens: want at most %d where %d output tokens are allowed", tokens, bound, s.MaxTokens)
}
