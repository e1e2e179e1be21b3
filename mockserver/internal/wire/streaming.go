package wire

// A streaming says what decides whether an answer is streamed.
type streaming int

const (
	asAsked streaming = iota // the request decides
	always
	notAtAll
)

// A Route says how the requests to a path are answered.
type Route struct {
	Dialect *Dialect // nil if the body of each request decides: see Resolve
	Model   string   // the model in the path, empty if the path has none
	stream  streaming
}

// Decode reads a request. The route must have a dialect.
func (r Route) Decode(in Input) (Request, *Error) {
	req, fail := r.Dialect.Decode(in)
	switch r.stream {
	case always:
		req.Stream = true
	case notAtAll:
		req.Stream = false
	}
	return req, fail
}
