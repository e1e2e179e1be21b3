package fault

import "iter"

// A Kind is what goes wrong with a request.
type Kind string

// The kinds of fault; [Names] says what each does.
const (
	HTTP400     Kind = "http-400"
	HTTP401     Kind = "http-401"
	HTTP404     Kind = "http-404"
	HTTP413     Kind = "http-413"
	HTTP422     Kind = "http-422"
	HTTP429     Kind = "http-429"
	HTTP500     Kind = "http-500"
	HTTP503     Kind = "http-503"
	HTML502     Kind = "html-502"
	HTML200     Kind = "html-200"
	WrongType   Kind = "wrong-type"
	JSON        Kind = "json"
	Gzip        Kind = "gzip"
	SlowHeader  Kind = "slow-header"
	Empty       Kind = "empty"
	ErrorEvent  Kind = "error-event"
	NamedError  Kind = "named-error"
	ErrorString Kind = "error-string"
	Malformed   Kind = "malformed"
	LongLine    Kind = "long-line"
	Truncate    Kind = "truncate"
	FIN         Kind = "fin"
	Reset       Kind = "reset"
	Stall       Kind = "stall"
	Endless     Kind = "endless"
	NoDone      Kind = "no-done"
	Format      Kind = "format"
	Wrong       Kind = "wrong"
	Short       Kind = "short"
	Swap        Kind = "swap"
)

// traits are the properties of a kind.
type traits struct {
	kind       Kind
	atToken    bool // occurs at the token with index At
	cuts       bool // nothing of the output follows
	streamOnly bool // has no effect on a request that is not streamed
	doc        string
}

// The text after a semicolon is about requests that are not streamed. They get no
// token before the end of the output, so At only decides when the fault occurs.
var table = []traits{
	{HTTP400, false, false, false, "status 400, at once and without a slot, as when the prompt is longer than the context"},
	{HTTP401, false, false, false, "status 401, at once"},
	{HTTP404, false, false, false, "status 404, at once, as for a model that the server does not have"},
	{HTTP413, false, false, false, "status 413, at once"},
	{HTTP422, false, false, false, "status 422, at once, as when the body fails validation"},
	{HTTP429, false, false, false, "status 429 with Retry-After: 1, at once"},
	{HTTP500, false, false, false, "status 500, at once"},
	{HTTP503, false, false, false, "status 503, at once, as when the queue is full"},
	{HTML502, false, false, false, "a proxy's HTML page with status 502, at once"},
	{HTML200, false, false, false, "a proxy's HTML page with status 200, at once"},
	{WrongType, false, false, false, "a complete answer with content type text/html"},
	{JSON, false, false, true, "stream is ignored: one JSON object when the last token is due"},
	{Gzip, false, false, false, "a complete answer with Content-Encoding: gzip, whatever the request accepts"},
	{SlowHeader, false, false, false, "the header at a byte every 2 ms from admission on, then everything that is due; closes the connection"},
	{Empty, false, true, false, "status 200 and no body, when the first token is due"},
	{ErrorEvent, true, true, false, "the dialect's error object as an event, then the end marker; the error object with status 200"},
	{NamedError, true, true, false, "the dialect's error object under event: error, without an end marker; the error object with status 200"},
	{ErrorString, true, true, false, `{"error":"..."} as an event, without an end marker; the same with status 200`},
	{Malformed, true, false, false, "an event that is not JSON before token At's event, then the rest as usual; half of the object"},
	{LongLine, true, false, false, "an event with a line of Size bytes before token At's event, then the rest as usual; an object with a string of about that size"},
	{Truncate, true, true, false, "the body ends cleanly, without finish reason, usage or end marker; half of the object"},
	{FIN, true, true, false, "the connection is closed (TCP FIN) before the end of the body; the same after half of the object"},
	{Reset, true, true, false, "the connection is reset (TCP RST)"},
	{Stall, true, true, false, "nothing more, and the slot is kept, until the client or the server closes the connection"},
	{Endless, false, false, true, "tokens without end past max_tokens, and the slot is kept, until the client or the server closes the connection"},
	{NoDone, false, false, true, "a complete stream without its [DONE], as with the shape done-never"},
	{Wrong, false, false, false, "a wrong answer, as if right: the last number of an answer that the oracle knows is another, which seed and ordinal decide; any other output is other words"},
	{Short, false, false, false, "the answer ends after a quarter of its tokens, as if complete"},
	{Swap, false, false, false, "the answers of two requests that the fault hits are exchanged, as when rows of a batch are mixed up: both are in flight without output, and the oracle knows answers of the same number of tokens"},
	{Format, false, false, false, "the JSON of a tool call or a schema ends one token early, as if complete; no effect if the request asks for neither"},
}

// traits returns the properties of the kind, or nil if the kind is not known.
func (k Kind) traits() *traits {
	for i := range table {
		if table[i].kind == k {
			return &table[i]
		}
	}
	return nil
}

// Names yields each kind of fault and what it does.
func Names() iter.Seq2[string, string] {
	return func(yield func(kind, doc string) bool) {
		for _, t := range table {
			if !yield(string(t.kind), t.doc) {
				return
			}
		}
	}
}

// kinds returns the names of all kinds.
func kinds() []string {
	var all []string
	for kind := range Names() {
		all = append(all, kind)
	}
	return all
}
