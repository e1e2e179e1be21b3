package peers

const (
	crNoEnd  = "A bare CR is not a line end."
	bomKept  = "A leading byte order mark is kept, so the first field is unknown and its event lost."
	dataless = "A block without data is handed over as an event."
)

// causes say, by parser and class, why cases fail. A failing class without a
// cause, and a cause without a failing case, fail TestTable.
var causes = map[string]map[string]string{
	"openai-go": {
		"bom":      bomKept,
		"lines":    crNoEnd + " A stream that uses nothing else gives no event and no error.",
		"comments": crNoEnd,
		"nul":      crNoEnd,
		"utf8":     crNoEnd,
		"eof":      crNoEnd,
		"llm":      crNoEnd + " A leading byte order mark is kept.",
		"limits":   crNoEnd,
		"memory":   "The limit of 32 MiB is one of lines: an event of endlessly many lines takes any memory.",
		late:       "The LF of a CRLF is waited for, which costs time only when a read ends between the two.",
	},
	"go-openai": {
		"bom":      bomKept + " Each data line is an event of its own.",
		"lines":    "Each data line is an event of its own; blank lines mean nothing. " + crNoEnd,
		"fields":   "Each data line is an event of its own. Values, and names, are trimmed of all white space. data without a colon is ignored.",
		"comments": "Each data line is an event of its own. " + crNoEnd,
		"event":    "Each data line is an event of its own. data without a colon is ignored.",
		"dispatch": "Each data line is an event of its own. Values are trimmed. data without a colon is ignored.",
		"nul":      "Each data line is an event of its own. " + crNoEnd,
		"utf8":     "Each data line is an event of its own. " + crNoEnd,
		"eof":      "A data line is handed over without waiting for the blank line.",
		"errors":   "A data line is handed over without waiting for the blank line.",
		"llm":      "[DONE] ends the stream and is not handed over, by design; data that begins with {\"error\": is made an error, by design. " + bomKept + " " + crNoEnd,
		"limits":   "Each data line is an event of its own. Values are trimmed. " + crNoEnd + " More than 300 lines that are not data in a row are an error (EmptyMessagesLimit).",
		late:       "The LF of a line is waited for.",
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
		"retry":    "The value goes through ParseInt, which takes signs; of what it cannot read it makes 0. " + dataless,
		"dispatch": dataless,
		"errors":   "A body that failed with io.ErrUnexpectedEOF between two events ended cleanly, by design.",
		"llm":      dataless + " A leading byte order mark is kept.",
	},
	"r3labs": {
		"bom":      bomKept,
		"lines":    "LF CR is not two line ends. An event of empty data is dropped.",
		"fields":   "An event of empty data is dropped.",
		"event":    dataless + " event without a colon does not reset the type.",
		"id":       "An empty ID does not reset the last event ID; one with U+0000 is taken. " + dataless,
		"retry":    "The value is handed over as text, whatever it is: a bad one hides the one before. " + dataless,
		"dispatch": "An event of empty data is dropped. " + dataless + " An empty ID does not reset.",
		"eof":      "An event of empty data is dropped. " + dataless,
		"errors":   "What is under way when the body fails is handed over as an event.",
		"llm":      bomKept + " " + dataless,
		late:       "The LF of a CRLF is waited for, which costs time only when a read ends between the two.",
	},
}
