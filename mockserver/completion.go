package mockserver

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/frame"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/pace"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// received returns when the kernel received the bytes with which the header of a request ended, or 0 if that is unknown.
func (s *Server) received(r *http.Request) time.Duration {
	c, _ := r.Context().Value(connKey{}).(*sendConn)
	if c == nil || r.ProtoMajor != 1 { // the streams of HTTP/2 share the connection's reads
		return 0
	}
	ago, known := sinceReceived(network(c))
	if !known {
		return 0
	}
	return s.clock.Now() - ago
}

// complete answers a request for a completion: it reads the request, decides whether to
// refuse the request, adds the request to the plan (the schedule) and sends the answer.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, route wire.Route, accepted time.Duration) {
	s.meter.arrived.Add(1)
	inFlight := int(s.meter.open.Add(1))
	defer s.meter.open.Add(-1)
	rec := s.log.open(Entry{
		ID: r.Header.Get("X-Request-Id"), Path: r.URL.Path, Accepted: accepted, Received: s.received(r), Admitted: -1,
	})
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	arrived := s.clock.Now()
	route = route.Resolve(body)
	blocks := vocab.NewBlocks(s.cfg.prefixBlock())
	if rec.Adapter = s.loras.of(body); rec.Adapter != "" {
		blocks.Begin(rec.Adapter)
		route.Model = rec.Adapter
	}
	var req wire.Request
	fail := bodyError(err)
	if fail == nil {
		fail = s.cfg.AWS.unsigned(r, body, route.Dialect, s.clock.Time())
	}
	if fail == nil {
		req, fail = route.Decode(wire.Input{
			Body: body, NaturalEnd: s.cfg.naturalEnd(rec.Ordinal), Words: s.words, PromptTokens: blocks.Sink(), Shape: s.cfg.Shape,
			Oracle: s.cfg.Oracle, Messages: new(strings.Builder),
		})
	}
	var hit fault.Fault
	if fail == nil {
		hit = fault.For(s.cfg.Faults, rec.Ordinal, req.Stream, inFlight)
		rec.Stream, rec.PromptTokens, rec.Fault = req.Stream, req.Prompt, hit.Kind
		fail = refusals[hit.Kind]
	}
	switch {
	case fail != nil:
		s.refuse(w, rec, fail, route.Dialect)
		return
	case pages[hit.Kind] != 0:
		s.sendPage(w, rec, pages[hit.Kind])
		return
	}
	switch hit.Kind {
	case fault.Format:
		req.EndEarly()
	case fault.JSON:
		req.Stream = false
	case fault.Wrong:
		req.MakeWrong(hit.Amount(rec.Ordinal))
	case fault.Short:
		req.CutShort()
	}
	rec.Waiting = s.plan.Waiting()
	place, err := s.plan.Join(pace.Job{
		Ordinal: rec.Ordinal, Arrived: arrived, Prompt: req.Prompt, Prefix: blocks.Names(),
		Output: deadlines(hit, req.Output), Priority: req.Priority, Endless: hit.Holds(),
	})
	if err != nil {
		s.refuse(w, rec, s.joinError(err), route.Dialect)
		return
	}
	ctx, release := s.death.during(r.Context())
	defer release()
	running, ended := s.loras.begin(rec.Adapter)
	defer ended()
	x := &exchange{
		clock: s.clock, alarm: pace.Alarm{Clock: s.clock}, place: place, dialect: route.Dialect, req: req, fault: hit, rec: rec,
		arrived: arrived, out: frame.New(s.cfg.Shape, route.Dialect.DocumentEnd), ctx: ctx, w: w, admitted: running, die: s.death.happen,
	}
	x.conn, _ = r.Context().Value(connKey{}).(*sendConn)
	if r.ProtoMajor == 2 && x.conn != nil {
		if t := x.conn.tap.Load(); t != nil {
			if x.streamID = t.stream(rec.ID); x.streamID != 0 {
				x.tap = t
			}
		}
		x.conn = nil
	}
	x.enc = route.Dialect.Encode(s.answer(x, route.Model))
	if hit.Kind == fault.Swap {
		x.swaps = &s.swaps
		s.swaps.offer(x)
		defer s.swaps.settle(x)
	}
	x.answer()
	s.meter.observe(rec, arrived, x.queued, req.Finish)
	if rec.Aborted && s.death.happened() {
		hangUp(w, true)
	}
}

// bodyError returns the answer to a request whose body could not be read, and nil if err
// is nil.
func bodyError(err error) *wire.Error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return wire.NewError(http.StatusRequestEntityTooLarge, "RequestTooLargeError", "", fmt.Sprintf("body: more than %d bytes", maxBody))
	}
	return wire.BadRequest("", "body: %v", err)
}

// deadlines returns how many of an output's n tokens need a deadline. It returns at least
// 1: an answer without tokens is due at the deadline that its first token would have.
func deadlines(hit fault.Fault, n int) int {
	if hit.Cuts() {
		return hit.Token(n) + 1
	}
	return max(n, 1)
}

// answer returns the data that an encoder needs for the answer of an exchange.
func (s *Server) answer(x *exchange, model string) wire.Answer {
	a := wire.Answer{
		Framer: x.out, Request: x.req, Words: s.words, Ordinal: x.rec.Ordinal, Created: s.clock.Epoch.Add(x.rec.Accepted), Model: s.model,
		Now: s.clock.Time, Due: x.place.Timetable(), Cached: x.place.Cached, Drafts: x.place.Drafts, Endless: x.fault.Kind == fault.Endless, Queued: &x.queued,
	}
	if model != "" {
		a.Model = jsontext.Quote(model)
	}
	return a
}
