// Package wire has the formats in which inference servers read requests and write
// answers. Each format follows the documentation and the observed output of its server. The
// package shares no code with llmbench's client, which reads these formats: a bug in common
// code would make the same mistake on both sides.
package wire

// A Dialect is the format of one family of servers on one of its paths.
type Dialect struct {
	// ContentType is the content type of a stream.
	ContentType string
	// DocumentEnd is empty if the documents of a stream are events. Otherwise it is the
	// end of each JSON document, or one of the ends that package frame names.
	DocumentEnd string
	// HasDone says that a stream ends with [DONE].
	HasDone bool
	// Unmarked says that only the end of the body marks the end of a stream.
	Unmarked bool
	// AWSService is the name of the AWS service in the scope of a request's signature. It is empty
	// if requests are not signed.
	AWSService string
	// Decode reads a request and decides how long its output is.
	Decode func(Input) (Request, *Error)
	// Encode returns the encoder of an answer.
	Encode func(Answer) Encoder
	// ErrorBody returns the body of an error, a JSON object.
	ErrorBody func(*Error) string
	// StreamErrorBody returns the data of an error within a stream. nil means that
	// ErrorBody returns that too.
	StreamErrorBody func(*Error) string
}

// An Encoder renders the documents of one answer into the answer's Framer. The caller
// decides when the documents are sent.
type Encoder interface {
	// Opening renders what comes before the first token.
	Opening()
	// Tokens renders the tokens with indices from to to-1, which are not the last.
	Tokens(from, to int)
	// Last renders the last tokens and everything that follows except [DONE].
	Last(from, to int)
	// Whole renders an answer that is not streamed.
	Whole()
}

// A Failer is an Encoder that renders an error within a stream differently from
// other documents.
type Failer interface {
	// Failed renders e as an event of a stream. If named is true, the event has
	// the name "error".
	Failed(e *Error, named bool)
}
