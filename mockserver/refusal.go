package mockserver

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// refusals has the error of each kind of fault that refuses a request.
var refusals = map[fault.Kind]*wire.Error{
	fault.HTTP400: wire.TooLong(5000, 512, 4096),
	fault.HTTP401: wire.NewError(401, "AuthenticationError", "", "Unauthorized"),
	fault.HTTP404: wire.NewError(404, "NotFoundError", "model", "The model `mock` does not exist."),
	fault.HTTP413: wire.NewError(413, "RequestTooLargeError", "", "Request body too large."),
	fault.HTTP422: wire.NewError(422, "UnprocessableEntityError", "", "Field required"),
	fault.HTTP429: wire.QueueFull(429, 0),
	fault.HTTP500: wire.Injected,
	fault.HTTP503: wire.QueueFull(503, 8),
	fault.HTTP529: wire.NewError(wire.StatusOverloaded, "OverloadedError", "", "Overloaded"),
}

// pages has the status of each kind of fault that answers with a proxy's HTML page.
var pages = map[fault.Kind]int{fault.HTML502: http.StatusBadGateway, fault.HTML200: http.StatusOK}

const page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n" +
	"<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"

// joinError returns the answer to a request that the plan refused with err.
func (s *Server) joinError(err error) *wire.Error {
	if long, ok := errors.AsType[*engine.TooLongError](err); ok {
		return wire.TooLong(long.Prompt, long.Output, long.Limit)
	}
	if errors.Is(err, engine.ErrQueueFull) {
		return wire.QueueFull(cmp.Or(s.cfg.FullStatus, http.StatusServiceUnavailable), s.cfg.Engine.MaxQueue)
	}
	return wire.BadRequest("", "%v", err)
}

// refuse answers a request with an error in the format of the dialect. The request gets no
// slot.
func (s *Server) refuse(w http.ResponseWriter, rec *record, e *wire.Error, d *wire.Dialect) {
	after := s.cfg.RetryAfter
	if after == 0 && e.Status == http.StatusTooManyRequests {
		after = time.Second
	}
	if after > 0 && (e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable) {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((after+time.Second-1)/time.Second), 10))
	}
	s.sendAtOnce(w, rec, e.Status, "application/json", d.ErrorBody(e))
}

// sendPage answers a request like a proxy that cannot reach its server.
func (s *Server) sendPage(w http.ResponseWriter, rec *record, status int) {
	s.sendAtOnce(w, rec, status, "text/html", page)
}

// sendAtOnce completes the record and sends a body without waiting for a deadline.
func (s *Server) sendAtOnce(w http.ResponseWriter, rec *record, status int, contentType, body string) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	rec.Status = status
	rec.finish(s.clock.Now())
	w.WriteHeader(status)
	w.Write([]byte(body))
}
