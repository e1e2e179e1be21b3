package ssetest

import (
	"errors"
	"io"
	"strconv"
	"strings"
)

var eofCases = []testCase{
	{name: "empty-body", why: "no bytes, no events"},
	{name: "after-event", why: "a body may end after a blank line", stream: "data: a\n\n", want: messages("a")},
	{name: "after-event-cr", why: "a final CR completes the blank line", stream: "data: a\r\n\r", want: messages("a")},
	{name: "no-blank-line", why: "without its blank line an event is pending", stream: "data: a\n\ndata: b\n", want: messages("a"), tail: pending(Event{Data: "b"})},
	{name: "no-blank-line-crlf", why: "without its blank line an event is pending", stream: "data: a\r\n\r\ndata: b\r\n", want: messages("a"), tail: pending(Event{Data: "b"})},
	{name: "no-blank-line-cr", why: "a CR ends the line, not the event", stream: "data: a\r\rdata: b\r", want: messages("a"), tail: pending(Event{Data: "b"})},
	{name: "in-value", why: "a cut value makes no event", stream: "data: a\n\ndata: b", want: messages("a"), tail: pending(Event{Data: "b"})},
	{name: "in-only-value", why: "a cut value makes no event", stream: "data: a", tail: pending(Event{Data: "a"})},
	{name: "after-colon", why: "an empty value without line end makes no event", stream: "data: a\n\ndata:", want: messages("a"), tail: pending(Event{Data: ""})},
	{name: "after-name", why: "a name without line end makes no event", stream: "data: a\n\ndata", want: messages("a"), tail: pending(Event{Data: ""})},
	{name: "in-name", why: "a cut name is ignored", stream: "data: a\n\ndat", want: messages("a")},
	{name: "in-name-of-second-line", why: "a cut name after a data line leaves the event pending", stream: "data: a\ndat", tail: pending(Event{Data: "a"})},
	{name: "in-second-line", why: "a cut second line leaves the event pending", stream: "data: a\ndata: b", tail: pending(Event{Data: "a\nb"})},
	{name: "in-comment", why: "a cut comment is ignored", stream: "data: a\n\n: bye", want: messages("a")},
	{name: "in-comment-of-event", why: "a cut comment leaves its event pending", stream: "data: a\n: bye", tail: pending(Event{Data: "a"})},
	{name: "in-id", why: "an ID without its blank line is not committed", stream: "id: 1\ndata: a\n\nid: 2", want: []Event{withID("1", "a")}},
	{name: "after-id", why: "an ID without its blank line is not committed", stream: "id: 1\ndata: a\n\nid: 2\n", want: []Event{withID("1", "a")}},
	{name: "in-type", why: "a type without data makes no event", stream: "data: a\n\nevent: x", want: messages("a")},
	{name: "all-fields-pending", why: "a pending event has its type and ID", stream: "data: a\n\nid: 1\nevent: x\ndata: b\n", want: messages("a"), tail: pending(Event{Type: "x", ID: "1", Data: "b"})},
	{name: "done-without-blank-line", why: "servers often send no line end after the last line", stream: "data: {\"a\":1}\n\ndata: [DONE]", want: messages("{\"a\":1}"), tail: pending(Event{Data: "[DONE]"})},
	{name: "space-after-event", why: "a cut unknown field is ignored", stream: "data: a\n\n ", want: messages("a")},
	{name: "in-utf8", why: "a body may end within a character", stream: "data: a\n\ndata: \xe2\x82", want: messages("a"), tail: pending(Event{Data: "\xe2\x82"})},
}

// errReset is the error of bodies that fail.
var errReset = errors.New("ssetest: connection reset")

var errorCases = []testCase{
	{name: "at-once", why: "a body that fails at once is an error", err: errReset},
	{name: "after-event", why: "the event is returned, then the error", stream: "data: a\n\n", want: messages("a"), err: errReset},
	{name: "in-line", why: "the incomplete event is dropped, and the error returned", stream: "data: a\n\ndata: b", want: messages("a"), err: errReset},
	{name: "before-blank-line", why: "the incomplete event is dropped, and the error returned", stream: "data: a\n\ndata: b\n", want: messages("a"), err: errReset},
	{name: "in-comment", why: "an error between events is returned too", stream: "data: a\n\n: b", want: messages("a"), err: errReset},
	{name: "before-any-event", why: "an error after comments is returned", stream: ": a\n\n", err: errReset},
	{name: "unexpected-eof", why: "io.ErrUnexpectedEOF from a body is a failure, not its end", stream: "data: a\n\n", want: messages("a"), err: io.ErrUnexpectedEOF},
	{name: "unexpected-eof-in-event", why: "a cut HTTP body is not the end of a stream", stream: "data: a\n\ndata: b\n", want: messages("a"), err: io.ErrUnexpectedEOF},
	{name: "closed-pipe", why: "a closed connection is a failure, not the body's end", stream: "data: a\n\n", want: messages("a"), err: io.ErrClosedPipe},
}

const (
	chatHead = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	chatText = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" héllo\n\n"},"finish_reason":null}]}`
)

var llmCases = []testCase{ // the most usual form first
	{name: "chat", why: "the form of most servers", stream: "data: " + chatHead + "\n\ndata: " + chatText + "\n\ndata: [DONE]\n\n", want: messages(chatHead, chatText, "[DONE]")},
	{name: "chat-crlf", why: "the form of sse-starlette", stream: "data: " + chatText + "\r\n\r\ndata: [DONE]\r\n\r\n", want: messages(chatText, "[DONE]")},
	{name: "chat-no-space", why: "the form of servers that send no space after the colon", stream: "data:" + chatText + "\n\ndata:[DONE]\n\n", want: messages(chatText, "[DONE]")},
	{name: "typed", why: "the form of APIs with named events", stream: "event: message_start\ndata: {\"type\":\"message_start\"}\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		want: []Event{typed("message_start", "{\"type\":\"message_start\"}"), typed("ping", "{\"type\":\"ping\"}"), typed("message_stop", "{\"type\":\"message_stop\"}")}},
	{name: "processing-comments", why: "routers send comments while a request is queued", stream: ": PROCESSING\n\n: PROCESSING\n\ndata: {\"a\":1}\n\n: PROCESSING\n\ndata: [DONE]\n\n", want: messages("{\"a\":1}", "[DONE]")},
	{name: "separators-in-json", why: "U+2028 in a JSON string is not a line end", stream: "data: {\"content\":\"a\u2028b\u2029c\u0085d\"}\n\n", want: messages("{\"content\":\"a\u2028b\u2029c\u0085d\"}")},
	{name: "error-data", why: "an error object is ordinary data", stream: "data: {\"error\":{\"message\":\"x\"}}\n\ndata: {\"error\":null}\n\ndata: [DONE]\n\n", want: messages("{\"error\":{\"message\":\"x\"}}", "{\"error\":null}", "[DONE]")},
	{name: "done-is-data", why: "[DONE] does not end the stream for a parser", stream: "data: [DONE]\n\ndata: a\n\ndata: [DONE]\n\n", want: messages("[DONE]", "a", "[DONE]")},
	{name: "ping-without-data", why: "a named ping without data is no event", stream: "event: ping\n\ndata: {\"a\":1}\n\nevent: ping\n\n", want: messages("{\"a\":1}")},
	{name: "retry-first", why: "the form of servers that request a reconnection time", stream: "retry: 3000\n\ndata: {\"a\":1}\n\n", want: retrying(3000, "{\"a\":1}")},
	{name: "chat-bom", why: "the form behind a proxy that adds a byte order mark", stream: "\ufeffdata: " + chatText + "\n\ndata: [DONE]\n\n", want: messages(chatText, "[DONE]")},
	{name: "chat-cr", why: "the form of a server that ends lines with CR", stream: "data: " + chatText + "\r\rdata: [DONE]\r\r", want: messages(chatText, "[DONE]")},
	{name: "bare-json", why: "JSON lines are not an event stream", stream: "{\"response\":\"a\",\"done\":false}\n{\"response\":\"b\",\"done\":true}\n"},
	{name: "html", why: "a page is not an event stream", stream: "<!doctype html>\n<html>\n\n<body>502: bad</body>\n\n</html>\n"},
	{name: "glued-json", why: "two documents on a line are one value", stream: "data: {\"a\":1}{\"b\":2}\n\n", want: messages("{\"a\":1}{\"b\":2}")},
}

// limitCases returns cases whose bodies exceed common buffer sizes of parsers.
func limitCases() []testCase {
	long := func(name, why string, n int) testCase {
		// n is the length of the line without its end, in bytes.
		text := rep("x", n-len("data: "))
		return testCase{name: name, why: why, stream: "data: " + text + "\n\ndata: ok\n\n", want: messages(text, "ok")}
	}
	var lines, events strings.Builder
	var lineData, eventData []string
	for i := range 10000 {
		lineData = append(lineData, "line "+strconv.Itoa(i))
		lines.WriteString("data: line " + strconv.Itoa(i) + "\n")
	}
	for i := range 3000 {
		eventData = append(eventData, "event "+strconv.Itoa(i))
		events.WriteString("data: event " + strconv.Itoa(i) + "\r\n\r\n")
	}
	kb90 := rep("d", 900)
	return []testCase{
		long("line-4095", "one byte less than bufio's default buffer", 4095),
		long("line-4096", "as long as bufio's default buffer", 4096),
		long("line-4097", "one byte more than bufio's default buffer", 4097),
		long("line-64K-1", "one byte less than bufio.Scanner's limit", 64<<10-1),
		long("line-64K", "bufio.Scanner's limit", 64<<10),
		long("line-64K+1", "one byte more than bufio.Scanner's limit", 64<<10+1),
		long("line-70K", "the standard has no limit", 70_000),
		long("line-600K", "longer than limits of 512 KiB", 600_000),
		long("line-1M", "longer than limits of 1 MiB", 1_100_000),
		{name: "crlf-70K", why: "a long line may end with CRLF", stream: "data: " + rep("x", 70_000) + "\r\n\r\ndata: ok\r\n\r\n", want: messages(rep("x", 70_000), "ok")},
		{name: "cr-70K", why: "a long line may end with CR", stream: "data: " + rep("x", 70_000) + "\r\rdata: ok\r\r", want: messages(rep("x", 70_000), "ok")},
		{name: "utf8-90K", why: "a long line may have characters of three bytes", stream: "data: " + rep("日", 30_000) + "\n\n", want: messages(rep("日", 30_000))},
		{name: "comment-70K", why: "a comment has no limit either", stream: ":" + rep("x", 70_000) + "\ndata: ok\n\n", want: messages("ok")},
		{name: "unknown-field-70K", why: "an unknown field has no limit either", stream: rep("x", 70_000) + ": y\ndata: ok\n\n", want: messages("ok")},
		{name: "type-70K", why: "a type has no limit either", stream: "event: " + rep("x", 70_000) + "\ndata: ok\n\n", want: []Event{typed(rep("x", 70_000), "ok")}},
		{name: "id-70K", why: "an ID has no limit either", stream: "id: " + rep("x", 70_000) + "\ndata: ok\n\n", want: []Event{withID(rep("x", 70_000), "ok")}},
		{name: "event-90K-of-short-lines", why: "the data of an event has no limit", stream: rep("data: "+kb90+"\n", 100) + "\ndata: ok\n\n", want: messages(rep(kb90+"\n", 99)+kb90, "ok")},
		{name: "event-of-10000-lines", why: "an event may have any number of lines", stream: lines.String() + "\n", want: messages(strings.Join(lineData, "\n"))},
		{name: "3000-events", why: "a body may have any number of events", stream: events.String(), want: messages(eventData...)},
		{name: "2000-empty-lines", why: "many successive blank lines are not an error", stream: rep("\n", 2000) + "data: ok\n\n", want: messages("ok")},
		{name: "5000-comments", why: "many successive comments are not an error", stream: rep(": ping\n\n", 5000) + "data: ok\n\n", want: messages("ok")},
		{name: "value-of-spaces-70K", why: "long values are not trimmed either", stream: "data:" + rep(" ", 70_000) + "\n\n", want: messages(rep(" ", 69_999))},
	}
}
