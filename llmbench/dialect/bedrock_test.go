package dialect

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"
	"time"
)

// awsMessage returns a message of Amazon's event stream. A header that has a name and a value alternate in
// headers.
func awsMessage(payload string, headers ...string) string {
	var h []byte
	for i := 0; i < len(headers); i += 2 {
		name, value := headers[i], headers[i+1]
		h = append(append(h, byte(len(name))), name...)
		h = append(binary.BigEndian.AppendUint16(append(h, 7), uint16(len(value))), value...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(h)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(h)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, h...), payload...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
}

// awsEvent returns the message of an event.
func awsEvent(name, payload string) string {
	return awsMessage(payload, ":event-type", name, ":content-type", "application/json", ":message-type", "event")
}

// awsException returns the message of an exception.
func awsException(name, payload string) string {
	return awsMessage(payload, ":exception-type", name, ":content-type", "application/json", ":message-type", "exception")
}

func converseDelta(delta string) string {
	return awsEvent("contentBlockDelta", `{"contentBlockIndex":0,"delta":{`+delta+`},"p":"abc"}`)
}

var converseEnd = awsEvent("contentBlockStop", `{"contentBlockIndex":0,"p":"a"}`) + awsEvent("messageStop", `{"p":"ab","stopReason":"end_turn"}`) +
	awsEvent("metadata", `{"metrics":{"latencyMs":250},"p":"a","usage":{"inputTokens":5,"outputTokens":4,"totalTokens":14,"cacheReadInputTokens":3,"cacheWriteInputTokens":2}}`)

func TestBedrockConverse(t *testing.T) {
	const cut = "bedrock-converse: stream is truncated: no stop reason"
	begin := awsEvent("messageStart", `{"p":"abcd","role":"assistant"}`)
	done := read{Finish: "end_turn", Usage: Usage{PromptTokens: 10, OutputTokens: 4, CachedTokens: 3}, Timings: Timings{Total: 250 * time.Millisecond}, Done: true}
	with := func(change func(*read)) read {
		r := done
		change(&r)
		return r
	}
	a := converseDelta(`"text":"a"`)
	flipped := []byte(a)
	flipped[len(flipped)-6] ^= 1
	testFrames(t, BedrockConverse{}, []streamTest{
		{"text", begin + a + converseDelta(`"text":"\n"`) + converseEnd, with(func(r *read) { r.Text, r.Chunks = "a\n", 2 })},
		{"reasoning", begin + converseDelta(`"reasoningContent":{"text":"hm"}`) + converseDelta(`"reasoningContent":{"signature":"c2ln"}`) + converseDelta(`"reasoningContent":{"redactedContent":"c2ln"}`) + a + converseEnd,
			with(func(r *read) { r.Reasoning, r.Text, r.Chunks = "hm", "a", 2 })},
		{"a call", begin + awsEvent("contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"name":"f","toolUseId":"t"}}}`) + converseDelta(`"toolUse":{"input":""}`) + converseDelta(`"toolUse":{"input":"{\"x\":1}"}`) + converseEnd,
			with(func(r *read) { r.ToolCall, r.ToolName, r.Chunks = `{"x":1}`, "f", 1 })},
		{"an exception", begin + a + awsException("throttlingException", `{"message":"Too many requests"}`), read{Text: "a", Chunks: 1, Fault: "throttlingException: Too many requests", Err: cut}},
		{"an exception without text", awsException("internalServerException", ""), read{Fault: "internalServerException", Err: cut}},
		{"an error", awsMessage("", ":message-type", "error", ":error-code", "InternalFailure", ":error-message", "no"), read{Fault: "InternalFailure: no", Err: cut}},
		{"cut between messages", begin + a, read{Text: "a", Chunks: 1, Err: cut}},
		{"cut within a message", begin + a + a[:9], read{Text: "a", Chunks: 1, Err: "unexpected EOF"}},
		{"an unknown stop reason", a + awsEvent("messageStop", `{"stopReason":"bored"}`), read{Text: "a", Chunks: 1, Finish: "bored", UnknownFinish: true}},
		{"text after the stop reason", awsEvent("messageStop", `{"stopReason":"end_turn"}`) + a, read{Text: "a", Chunks: 1, Finish: "end_turn", Err: "bedrock-converse: stream is truncated: text came after the stop reason, and no stop reason after the text"}},
		{"an unknown member", converseDelta(`"novel":{"text":"x"}`) + a + converseEnd, with(func(r *read) { r.Text, r.Chunks, r.Unread = "a", 1, "delta.novel" })},
		{"an unknown event", awsEvent("novelEvent", `{"p":"abc","novel":"x"}`) + a + converseEnd, with(func(r *read) {
			r.Text, r.Chunks, r.Unread, r.Strange = "a", 1, "novel", `{"p":"abc","novel":"x"}`
		})},
		{"an error that is an event", a + awsEvent("chunk", `{"detail":"no"}`), read{Text: "a", Chunks: 1, Fault: "no", Err: cut}},
		{"no metadata", begin + a + awsEvent("messageStop", `{"stopReason":"max_tokens"}`), read{Text: "a", Chunks: 1, Finish: "max_tokens"}},
		{"a wrong checksum", begin + string(flipped) + converseEnd, read{Err: "stream is corrupt: a message states the checksum a76fc486, but has be74f5c7"}},
		{"not messages", strings.Repeat("data: {}", 9), read{Err: "stream is corrupt: a message's prelude states the checksum 64617461, but has 6d07d4ca"}},
		{"malformed", begin + converseDelta(`"text":`) + converseEnd, with(func(r *read) {
			r.Err = `bedrock-converse: malformed event: jsontext: invalid character '}' at start of value within "/delta/text" after offset 39: "{\"contentBlockIndex\":0,\"delta\":{\"text\":},\"p\":\"abc\"}"`
		})},
	})
	testBodies(t, BedrockConverse{}, []bodyTest{
		{"whole", `{"metrics":{"latencyMs":250},"output":{"message":{"content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"c2ln"}}},{"text":"a"},{"toolUse":{"input":{"x":1},"name":"f","toolUseId":"t"}}],"role":"assistant"}},"stopReason":"tool_use","usage":{"inputTokens":5,"outputTokens":4,"totalTokens":9}}`,
			read{Reasoning: "hm", Text: "a", ToolCall: `{"x":1}`, ToolName: "f", Chunks: 1, Finish: "tool_use", Usage: Usage{PromptTokens: 5, OutputTokens: 4}, Timings: Timings{Total: 250 * time.Millisecond}}},
	})
}

// awsChunk returns the message that carries an event of Anthropic's API, whose members follow its type.
func awsChunk(name, members string) string {
	return awsEvent("chunk", `{"bytes":"`+base64.StdEncoding.EncodeToString([]byte(`{"type":"`+name+`"`+members+`}`))+`","p":"abc"}`)
}

func TestBedrockInvoke(t *testing.T) {
	const cut = "bedrock-invoke: stream is truncated: neither a finish reason nor message_stop"
	begin := awsChunk("message_start", `,"message":{"content":[],"stop_reason":null,"usage":{"input_tokens":5,"output_tokens":1}}`)
	a := awsChunk("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"a"}`)
	begun := Usage{PromptTokens: 5, OutputTokens: 1}
	end := awsChunk("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}`) +
		awsChunk("message_stop", `,"amazon-bedrock-invocationMetrics":{"inputTokenCount":5,"outputTokenCount":4,"invocationLatency":250,"firstByteLatency":20}`)
	testFrames(t, BedrockInvoke{}, []streamTest{
		{"text", begin + a + a + a + end, read{Text: "aaa", Chunks: 3, Finish: "end_turn", Usage: Usage{PromptTokens: 5, OutputTokens: 4}, Timings: Timings{Total: 250 * time.Millisecond}, Done: true}},
		{"an exception", begin + awsException("modelStreamErrorException", `{"message":"no","originalStatusCode":400}`), read{Usage: begun, Fault: "modelStreamErrorException: no", Err: cut}},
		{"cut", begin + a, read{Text: "a", Chunks: 1, Usage: begun, Err: cut}},
		{"a message without an event", begin + awsEvent("chunk", `{"novel":"x"}`) + a + end, read{Text: "a", Chunks: 1, Finish: "end_turn", Usage: Usage{PromptTokens: 5, OutputTokens: 4}, Timings: Timings{Total: 250 * time.Millisecond}, Done: true, Unread: "novel", Strange: `{"novel":"x"}`}},
		{"an unknown stop reason", begin + a + awsChunk("message_delta", `,"delta":{"stop_reason":"bored"}`), read{Text: "a", Chunks: 1, Usage: begun, Finish: "bored", UnknownFinish: true}},
		{"not base64", awsEvent("chunk", `{"bytes":"?"}`), read{Err: `bedrock-invoke: malformed message: illegal base64 data at input byte 0: "{\"bytes\":\"?\"}"`}},
		{"not JSON", awsEvent("chunk", `{"bytes"`), read{Err: `bedrock-invoke: malformed message: jsontext: unexpected EOF within "/bytes" after offset 8: "{\"bytes\""`}},
	})
	testBodies(t, BedrockInvoke{}, []bodyTest{
		{"whole", `{"content":[{"type":"text","text":"a"}],"stop_reason":"max_tokens","usage":{"input_tokens":5,"output_tokens":4}}`, read{Text: "a", Chunks: 1, Finish: "max_tokens", Usage: Usage{PromptTokens: 5, OutputTokens: 4}}},
	})
}
