package peers

import "slices"

const (
	crNoEnd  = "A bare CR is not a line end."
	bomKept  = "A leading byte order mark is kept, so the first field is unknown and its event lost."
	dataless = "A block without data is returned as an event."
	noData   = "An event with empty data is dropped."
	lfWaited = "The parser waits for the LF of a CRLF. This delays an event only if a read ends between CR and LF."
)

// A cause is a reason why cases of the classes fail.
type cause struct {
	text    string
	classes []string
}

// causes has the reasons why cases fail, by parser. TestTable fails for a class with failed cases but
// without a cause, and for a cause without a failed case.
var causes = map[string][]cause{
	"openai-go": {
		{crNoEnd + " A stream with only CR makes neither events nor an error.", []string{"lines", "comments", "nul", "utf8", "eof", "llm", "limits"}},
		{bomKept, []string{"bom", "llm"}},
		{"The limit of 32 MiB applies to lines. An event with endlessly many lines takes unlimited memory.", []string{"memory"}},
		{lfWaited, []string{late}},
	},
	"go-openai": {
		{"Each data line is an event of its own; blank lines have no meaning.", []string{"bom", "lines", "fields", "comments", "event", "dispatch", "nul", "utf8", "limits"}},
		{crNoEnd, []string{"lines", "comments", "nul", "utf8", "llm", "limits"}},
		{"A data line is returned without waiting for the blank line.", []string{"eof", "errors"}},
		{"White space around names and values is removed.", []string{"fields", "dispatch", "limits"}},
		{"A data field without a colon is ignored.", []string{"fields", "event", "dispatch"}},
		{bomKept, []string{"bom", "llm"}},
		{"By design, [DONE] ends the stream and is not returned, and data that begins with {\"error\": becomes an error.", []string{"llm"}},
		{"More than 300 successive lines that are not data are an error (EmptyMessagesLimit).", []string{"limits"}},
		{"The parser waits for the LF of a line.", []string{late}},
	},
	"go-sse": {
		{dataless, []string{"event", "id", "dispatch", "llm"}},
		{"A byte order mark after leading blank lines is dropped too.", []string{"bom"}},
	},
	"launchdarkly": {
		{dataless, []string{"bom", "lines", "fields", "event", "id", "retry", "dispatch", "llm"}},
		{bomKept, []string{"bom", "llm"}},
		{"A reconnection time is parsed with ParseInt, which accepts signs. An invalid value becomes 0.", []string{"retry"}},
		{"By design, a body that fails with io.ErrUnexpectedEOF between two events counts as ended.", []string{"errors"}},
	},
	"r3labs": {
		{dataless, []string{"event", "id", "retry", "dispatch", "eof", "llm"}},
		{noData, []string{"lines", "fields", "dispatch", "eof"}},
		{bomKept, []string{"bom", "llm"}},
		{"LF CR is not two line ends.", []string{"lines"}},
		{"An event field without a colon does not reset the type.", []string{"event"}},
		{"An empty ID does not reset the last event ID.", []string{"id", "dispatch"}},
		{"An ID with U+0000 is accepted.", []string{"id"}},
		{"A reconnection time is returned as text, so an invalid value replaces the valid one before.", []string{"retry"}},
		{"The incomplete event of a body that fails is returned.", []string{"errors"}},
		{lfWaited, []string{late}},
	},
}

// explained reports whether a parser has a cause for failed cases of a class.
func explained(parser, class string) bool {
	return slices.ContainsFunc(causes[parser], func(c cause) bool { return slices.Contains(c.classes, class) })
}
