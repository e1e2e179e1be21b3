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
	HTTP529     Kind = "http-529"
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
	Die         Kind = "die"
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
	cuts       bool // no token follows
	streamOnly bool // has no effect on a request that is not streamed
	doc        string
}

// A request that is not streamed gets no token before the end of the output. For such a request,
// At only decides when the fault occurs.
var table = []traits{
	{HTTP400, false, false, false, "status 400, at once and without a slot, as when the prompt is longer than the context"},
	{HTTP401, false, false, false, "status 401, at once"},
	{HTTP404, false, false, false, "status 404, at once, as for a model that the server does not have"},
	{HTTP413, false, false, false, "status 413, at once"},
	{HTTP422, false, false, false, "status 422, at once, as when the body fails validation"},
	{HTTP429, false, false, false, "status 429 with Retry-After: 1, at once"},
	{HTTP500, false, false, false, "status 500, at once"},
	{HTTP503, false, false, false, "status 503, at once, as when the queue is full"},
	{HTTP529, false, false, false, "status 529, at once, as Anthropic's API sends it when it is overloaded"},
	{HTML502, false, false, false, "a proxy's HTML page with status 502, at once"},
	{HTML200, false, false, false, "a proxy's HTML page with status 200, at once"},
	{WrongType, false, false, false, "a complete answer with content type text/html"},
	{JSON, false, false, true, "stream is ignored: one JSON object when the last token is due"},
	{Gzip, false, false, false, "a complete answer with Content-Encoding: gzip, whatever the request accepts"},
	{SlowHeader, false, false, false, "the header is sent slowly, one byte every 2 ms from admission, then everything that is due; the connection is closed afterwards"},
	{Empty, false, true, false, "status 200 and no body, when the first token is due"},
	{ErrorEvent, true, true, false, "the dialect's error object as an event, then the end marker; if not streamed, the error object with status 200"},
	{NamedError, true, true, false, "the dialect's error object under event: error, without an end marker; if not streamed, the error object with status 200"},
	{ErrorString, true, true, false, `{"error":"..."} as an event, without an end marker; if not streamed, the same with status 200`},
	{Malformed, true, false, false, "an event that is not JSON, inserted before token At's event, then the rest as usual; if not streamed, half of the object"},
	{LongLine, true, false, false, "an event with a line of Size bytes, inserted before token At's event, then the rest as usual; if not streamed, an object with a string of about that size"},
	{Truncate, true, true, false, "the body ends cleanly, without finish reason, usage or end marker; if not streamed, half of the object"},
	{FIN, true, true, false, "the connection is closed (TCP FIN) before the end of the body; if not streamed, after half of the object"},
	{Reset, true, true, false, "the connection is reset (TCP RST)"},
	{Die, true, true, false, "the server dies: every connection with a request in flight is reset, and every later request is read and reset; only /mock/log still answers"},
	{Stall, true, true, false, "no more data; the request keeps its slot until the client or the server closes the connection"},
	{Endless, false, false, true, "tokens without end, beyond max_tokens; the request keeps its slot until the client or the server closes the connection"},
	{NoDone, false, false, true, "a complete stream without its [DONE], as with the shape done-never"},
	{Wrong, false, false, false, "a wrong answer that looks complete: if the oracle knows the answer, the last number in it is replaced by another, which depends on seed and ordinal; the fixed sequence of words begins at another word; vectors and scores are of other inputs"},
	{Short, false, false, false, "the answer ends after a quarter of its tokens, with the finish reason of a complete answer; of vectors or scores, the last one is missing"},
	{Swap, false, false, false, "two requests that the fault hits get each other's answers, as if rows of a batch were mixed up; this needs two requests in flight without output yet, and answers that the oracle knows and that have the same number of tokens"},
	{Format, false, false, false, "the JSON of a tool call or a schema ends one token early, with the finish reason of a complete answer; no effect if the request asks for neither"},
}

// traits returns the properties of the kind, or nil if the kind is unknown.
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
