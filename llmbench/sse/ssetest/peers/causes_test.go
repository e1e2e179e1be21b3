package peers

const (
	crNoEnd  = "A bare CR is not a line end."
	bomKept  = "A leading byte order mark is kept, so the first field is unknown and its event lost."
	dataless = "A block without data is returned as an event."
)

// causes has the reasons why cases fail, by parser and class. TestTable fails for a class with failed cases
// but without a cause, and for a cause without a failed case.
var causes = map[string]map[string]string{
	"openai-go": {
		"bom":      bomKept,
		"lines":    crNoEnd + " A stream with only CR makes neither events nor an error.",
		"comments": crNoEnd,
		"nul":      crNoEnd,
		"utf8":     crNoEnd,
		"eof":      crNoEnd,
		"llm":      crNoEnd + " A leading byte order mark is kept.",
		"limits":   crNoEnd,
		"memory":   "The limit of 32 MiB applies to lines. An event with endlessly many lines takes unlimited memory.",
		late:       "The parser waits for the LF of a CRLF. This delays an event only if a read ends between CR and LF.",
	},
	"go-openai": {
		"bom":      bomKept + " Each data line is an event of its own.",
		"lines":    "Each data line is an event of its own; blank lines have no meaning. " + crNoEnd,
		"fields":   "Each data line is an event of its own. White space around names and values is removed. A data field without a colon is ignored.",
		"comments": "Each data line is an event of its own. " + crNoEnd,
		"event":    "Each data line is an event of its own. A data field without a colon is ignored.",
		"dispatch": "Each data line is an event of its own. White space around values is removed. A data field without a colon is ignored.",
		"nul":      "Each data line is an event of its own. " + crNoEnd,
		"utf8":     "Each data line is an event of its own. " + crNoEnd,
		"eof":      "A data line is returned without waiting for the blank line.",
		"errors":   "A data line is returned without waiting for the blank line.",
		"llm":      "By design, [DONE] ends the stream and is not returned, and data that begins with {\"error\": becomes an error. " + bomKept + " " + crNoEnd,
		"limits":   "Each data line is an event of its own. White space around values is removed. " + crNoEnd + " More than 300 successive lines that are not data are an error (EmptyMessagesLimit).",
		late:       "The parser waits for the LF of a line.",
	},
	"go-sse": {
		"bom":      "A byte order mark after leading blank lines is dropped too.",
		"event":    dataless,
		"id":       dataless,
		"dispatch": dataless,
		"eof":      dataless,
		"llm":      dataless,
	},
	"launchdarkly": {
		"bom":      bomKept + " " + dataless,
		"lines":    dataless,
		"fields":   dataless,
		"event":    dataless,
		"id":       dataless,
		"retry":    "The value is parsed with ParseInt, which accepts signs. An invalid value becomes 0. " + dataless,
		"dispatch": dataless,
		"errors":   "By design, a body that fails with io.ErrUnexpectedEOF between two events counts as ended.",
		"llm":      dataless + " A leading byte order mark is kept.",
	},
	"r3labs": {
		"bom":      bomKept,
		"lines":    "LF CR is not two line ends. An event with empty data is dropped.",
		"fields":   "An event with empty data is dropped.",
		"event":    dataless + " An event field without a colon does not reset the type.",
		"id":       "An empty ID does not reset the last event ID. An ID with U+0000 is accepted. " + dataless,
		"retry":    "Any value is returned as text, so an invalid value replaces the valid one before. " + dataless,
		"dispatch": "An event with empty data is dropped. " + dataless + " An empty ID does not reset the last event ID.",
		"eof":      "An event with empty data is dropped. " + dataless,
		"errors":   "The incomplete event of a body that fails is returned.",
		"llm":      bomKept + " " + dataless,
		late:       "The parser waits for the LF of a CRLF. This delays an event only if a read ends between CR and LF.",
	},
}
