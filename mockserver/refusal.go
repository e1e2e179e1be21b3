package mockserver

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// errInjected is what a fault of the server says.
var errInjected = &apiError{
	status: http.StatusInternalServerError, kind: "InternalServerError", message: "mockserver: injected fault",
}

// refusals are the errors of the faults that refuse a request.
var refusals = map[fault.Kind]*apiError{
	fault.HTTP400: tooLong(5000, 512, 4096),
	fault.HTTP401: newError(401, "AuthenticationError", "", "Unauthorized"),
	fault.HTTP404: newError(404, "NotFoundError", "model", "The model `mock` does not exist."),
	fault.HTTP413: newError(413, "RequestTooLargeError", "", "Request body too large."),
	fault.HTTP422: newError(422, "UnprocessableEntityError", "", "Field required"),
	fault.HTTP429: queueFull(429, 0),
	fault.HTTP500: errInjected,
	fault.HTTP503: queueFull(503, 8),
}

// pages are those of a proxy that has lost its server, by fault.
var pages = map[fault.Kind]int{fault.HTML502: http.StatusBadGateway, fault.HTML200: http.StatusOK}

const page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n" +
	"<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"

// refusal is the answer to a request that the plan has not taken.
func (s *Server) refusal(err error) *apiError {
	if long, ok := errors.AsType[*engine.TooLongError](err); ok {
		return tooLong(long.Prompt, long.Output, long.Most)
	}
	if errors.Is(err, engine.ErrQueueFull) {
		return queueFull(cmp.Or(s.cfg.FullStatus, http.StatusServiceUnavailable), s.cfg.Engine.MaxQueue)
	}
	return badRequest("", "%v", err)
}

// refuse answers a request that gets no slot, with the error of its body or of
// its fault, if there is one, and reports whether there was.
func (s *Server) refuse(w http.ResponseWriter, d *dialect, rec *record, fail *apiError, hit fault.Fault) bool {
	if fail == nil {
		fail = refusals[hit.Kind]
	}
	status, contentType, body := pages[hit.Kind], "text/html", page
	if fail != nil {
		status, contentType, body = fail.status, "application/json", d.errorBody(fail)
	}
	if status == 0 {
		return false
	}
	header := w.Header()
	if status == http.StatusTooManyRequests {
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
