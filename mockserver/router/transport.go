package router

import (
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// A transport sends requests on kept connections. Servers close a kept connection after an answer or after some idle
// seconds, and a request may be sent just then. net/http does not send a POST again, so the client would get status
// 502 for a request that no server has seen. A transport sends it again, once and on a new connection, as reverse
// proxies do, if the connection was used before and ended before any byte of an answer. A completion that is computed
// twice does no harm.
type transport struct{ kept, fresh *http.Transport }

func newTransport() transport {
	return transport{
		kept:  &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true},
		fresh: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	}
}

// RoundTrip implements [http.RoundTripper]. The request must have GetBody if it has a body.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	reused := false
	var answered atomic.Bool // set by the goroutine that reads, which may go on after an error
	trace := &httptrace.ClientTrace{
		GotConn:              func(info httptrace.GotConnInfo) { reused = info.Reused },
		GotFirstResponseByte: func() { answered.Store(true) },
	}
	resp, err := t.kept.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err == nil || !reused || answered.Load() || r.Context().Err() != nil {
		return resp, err
	}
	again := r.WithContext(r.Context())
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.fresh.RoundTrip(again)
}
