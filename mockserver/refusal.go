package mockserver

import (
	"net/http"
	"strconv"
)

// errInjected is what a fault of the server says.
var errInjected = &apiError{
	status: http.StatusInternalServerError, kind: "InternalServerError", message: "mockserver: injected fault",
}

// refusals are the errors of the faults that refuse a request.
var refusals = map[FaultKind]*apiError{
	FaultHTTP400: {400, "BadRequestError", "input_tokens", "This model's maximum context length is 4096 tokens. However, you requested " +
		"512 output tokens and your prompt contains 4000 input tokens, for a total of 4512 tokens. Please reduce the length of " +
		"the input prompt or the number of requested output tokens."},
	FaultHTTP401: {401, "AuthenticationError", "", "Unauthorized"},
	FaultHTTP404: {404, "NotFoundError", "model", "The model `mock` does not exist."},
	FaultHTTP413: {413, "RequestTooLargeError", "", "Request body too large."},
	FaultHTTP422: {422, "UnprocessableEntityError", "", "Field required"},
	FaultHTTP429: {429, "RateLimitError", "", "Rate limit reached, please try again in 1s."},
	FaultHTTP500: errInjected,
	FaultHTTP503: {503, "ServiceUnavailableError", "", "Maximum number of queued requests (8) reached."},
}

// pages are those of a proxy that has lost its server, by fault.
var pages = map[FaultKind]int{FaultHTML502: http.StatusBadGateway, FaultHTML200: http.StatusOK}

const page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n" +
	"<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"

// refuse answers a request that gets no slot, with the error of its body or of
// its fault, if there is one, and reports whether there was.
func (s *Server) refuse(w http.ResponseWriter, d *dialect, rec *record, fail *apiError, fault Fault) bool {
	if fail == nil {
		fail = refusals[fault.Kind]
	}
	status, contentType, body := pages[fault.Kind], "text/html", page
	if fail != nil {
		status, contentType, body = fail.status, "application/json", d.errorBody(fail)
	}
	if status == 0 {
		return false
	}
	header := w.Header()
	if fault.Kind == FaultHTTP429 {
		header.Set("Retry-After", "1")
	}
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	rec.Status = status
	rec.finish(s.clock.now())
	w.WriteHeader(status)
	w.Write([]byte(body))
	return true
}
