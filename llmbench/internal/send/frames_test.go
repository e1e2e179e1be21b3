package send

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// message returns a message of Amazon's event stream with the payload of an event.
func message(event, payload string) string {
	headers := "\x0d:message-type\x07\x00\x05event\x0b:event-type\x07\x00" + string(rune(len(event))) + event
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// TestFrames checks the outcomes of streams that are not text/event-stream.
func TestFrames(t *testing.T) {
	const aws = "application/vnd.amazon.eventstream"
	text, end := message("contentBlockDelta", `{"delta":{"text":"a"}}`), message("messageStop", `{"stopReason":"end_turn"}`)
	for _, c := range []struct {
		d          dialect.Dialect
		kind, body string
		want       sample.Outcome
		err        string // a part of the error
	}{
		{dialect.BedrockConverse{}, aws, text + end, sample.OK, ""},
		{dialect.BedrockConverse{}, aws, text + end[:20], sample.Truncated, "unexpected EOF"},
		{dialect.BedrockConverse{}, aws, text, sample.Truncated, "no stop reason"},
		{dialect.BedrockConverse{}, aws, text + "HTTP/1.1 502 Bad Gateway", sample.Malformed, "stream is corrupt"},
		{dialect.BedrockConverse{}, aws, "", sample.Empty, "no event in the stream"},
		{dialect.BedrockConverse{}, "application/json", `{"message":"no"}`, sample.ServerError, "no"},
		{dialect.BedrockConverse{}, "application/json", `{}`, sample.Malformed, "want a stream, but the answer is application/json"},
		{dialect.BedrockConverse{}, "text/event-stream", "data: {}\n\n", sample.Malformed, "want a stream, but the answer is text/event-stream"},
		{dialect.BedrockInvoke{}, aws, message("chunk", `{"error":"no"}`), sample.ServerError, "no"},
	} {
		w, p := newDialectWorker(t, c.d, reply{200, ofType(c.kind), c.body}, Options{Stream: true})
		s := w.Do(t.Context(), p, 0, false)
		assert.Equal(t, s.Outcome, c.want, "%s: %q: %v", c.d.Name(), c.body, s.Err)
		if c.err != "" {
			assert.ErrorContains(t, s.Err, c.err)
		}
	}
}
