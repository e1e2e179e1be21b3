package mockserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// mostBody is the largest request body that is read, in bytes.
const mostBody = 64 << 20

// A Server is an http.Handler that answers as an LLM inference server with the
// speed of its [Config]. Its methods may be called at the same time. It starts
// no goroutines, so there is nothing to stop but the http.Server it runs in; a
// stream ends when that closes.
type Server struct {
	cfg   Config
	model string // its name in JSON
	words *lexicon
	clock clock
	plan  plan
	log   sendLog
	meter *meter
}

// New makes a server. It returns an error if the configuration is not valid; see
// [Config.Validate].
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	if cfg.Model == "" {
		cfg.Model = "mock"
	}
	if cfg.Speed == 0 {
		cfg.Speed = 1
	}
	cfg.Faults = append([]fault.Fault(nil), cfg.Faults...)
	s := &Server{cfg: cfg, model: quoted(cfg.Model), words: lexiconOf(cfg.Shape), clock: clock{epoch: time.Now()}}
	if cfg.Engine != nil {
		s.plan = newDriver(s.clock, *cfg.Engine, cfg.Speed)
	} else {
		s.plan = newScheduler(s.clock, cfg.pace(), cfg.Slots)
	}
	s.meter = newMeter(cfg.Model, s.plan)
	return s, nil
}

// Epoch returns the instant that the log's instants count from, with its
// monotonic reading: for a client in the same process, t.Sub(s.Epoch()) is t on
// the log's clock.
func (s *Server) Epoch() time.Time { return s.clock.epoch }

// EpochUnixNano returns the wall clock's instant of [Server.Epoch], in nanoseconds
// since 1970, by what that clock shows now: for a client in another process on the
// same machine, which maps its own clock likewise. It is good to a microsecond,
// being the closest of several readings between two of the monotonic clock.
func (s *Server) EpochUnixNano() int64 {
	const tries = 32
	closest, epoch := time.Duration(math.MaxInt64), int64(0)
	before := s.clock.now()
	for range tries {
		wall, after := time.Now().UnixNano(), s.clock.now()
		if apart := after - before; apart < closest {
			closest, epoch = apart, wall-int64(before+apart/2)
		}
		before = after
	}
	return epoch
}

// ServeHTTP answers one request; the package comment lists the endpoints.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	accepted := s.clock.now()
	allow := ""
	path, m := r.URL.Path, r.Method
	to, completion := routeFor(path, s.cfg.Flavor)
	switch {
	case completion:
		if m == http.MethodPost {
			s.complete(w, r, to, accepted)
			return
		}
		allow = "POST"
	case path == "/" || path == "/api/version" || path == "/api/tags" || path == "/api/ps":
		if m == http.MethodGet || m == http.MethodHead {
			s.ollamaPath(w, path)
			return
		}
		allow = "GET, HEAD"
	case path == "/api/show":
		if m == http.MethodPost {
			s.ollamaShow(w, r)
			return
		}
		allow = "POST"
	case path == "/v1/models":
		if m == http.MethodGet {
			s.models(w)
			return
		}
		allow = "GET"
	case path == "/health" || path == "/v2/health/ready" || path == "/v2/health/live":
		if m == http.MethodGet || m == http.MethodHead {
			return
		}
		allow = "GET, HEAD"
	case path == "/metrics":
		if m == http.MethodGet {
			s.meter.handler.ServeHTTP(w, r)
			return
		}
		allow = "GET"
	case path == "/tokenize":
		if m == http.MethodPost {
			s.tokenize(w, r)
			return
		}
		allow = "POST"
	case path == "/reset_prefix_cache":
		if m == http.MethodPost {
			s.plan.resetPrefixCache()
			return
		}
		allow = "POST"
	case path == "/mock/log":
		switch m {
		case http.MethodGet:
			s.writeLog(w)
			return
		case http.MethodDelete:
			s.Reset()
			return
		}
		allow = "GET, DELETE"
	default:
		newError(http.StatusNotFound, "NotFoundError", "", fmt.Sprintf("path %s: not found", path)).write(w)
		return
	}
	w.Header().Set("Allow", allow)
	newError(http.StatusMethodNotAllowed, "MethodNotAllowedError", "", fmt.Sprintf("method %s: want %s", r.Method, allow)).write(w)
}

// complete answers a request for a completion.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, to route, accepted time.Duration) {
	s.meter.open.Add(1)
	defer s.meter.open.Add(-1)
	rec := s.log.open(Entry{
		ID: r.Header.Get("X-Request-Id"), Path: r.URL.Path, Accepted: accepted, Admitted: -1,
	})
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	arrived := s.clock.now()
	if to.dialect == nil {
		to = generateRoute(flavorOf(body))
	}
	var req request
	var fail *apiError
	blocks := namer{size: s.cfg.prefixBlock()}
	in := input{body, s.cfg.natural(rec.Ordinal), s.words, blocks.tally(), s.cfg.Shape}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		fail = newError(http.StatusRequestEntityTooLarge, "RequestTooLargeError", "", fmt.Sprintf("body: more than %d bytes", mostBody))
	} else if err != nil {
		fail = badRequest("", "body: %v", err)
	} else {
		req, fail = to.dialect.decode(in)
	}
	switch to.stream {
	case always:
		req.stream = true
	case notAtAll:
		req.stream = false
	}
	var hit fault.Fault
	if fail == nil {
		hit = fault.For(s.cfg.Faults, rec.Ordinal, req.stream)
		rec.Stream, rec.PromptTokens, rec.Fault = req.stream, req.prompt, hit.Kind
	}
	if s.refuse(w, to.dialect, rec, fail, hit) {
		return
	}
	if hit.Kind == fault.Format && req.script != nil && len(req.script.json) > 1 {
		req.output--
	}
	if hit.Kind == fault.JSON {
		req.stream = false
	}
	deadlines := max(req.output, 1)
	if hit.Cuts() {
		deadlines = hit.Token(req.output) + 1
	}
	model := s.model
	if to.model != "" {
		model = quoted(to.model)
	}
	turn, err := s.plan.join(job{rec.Ordinal, arrived, req.prompt, blocks.names, deadlines, hit.Holds()})
	if err != nil {
		s.refuse(w, to.dialect, rec, s.refusal(err), fault.Fault{})
		return
	}
	x := exchange{
		clock: s.clock, dialect: to.dialect, req: req, fault: hit, rec: rec, ctx: r.Context(), w: w,
		turn: turn, alarm: alarm{clock: s.clock}, arrived: arrived, out: newFramer(s.cfg.Shape, to.dialect.lines),
	}
	x.wire, _ = r.Context().Value(wireKey{}).(*wire)
	x.enc = to.dialect.encode(answer{
		framer: x.out, req: req, words: s.words, ordinal: rec.Ordinal, created: s.clock.epoch.Add(accepted), model: model,
		clock: s.clock, due: turn.timetable(), cached: turn.cached, endless: hit.Kind == fault.Endless, queued: &x.queued,
	})
	x.answer()
	s.meter.observe(&x)
}

func (s *Server) models(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, fmt.Appendf(nil,
		`{"object":"list","data":[{"id":%s,"object":"model","created":%d,"owned_by":"mockserver"}]}`,
		s.model, s.clock.epoch.Unix()))
}

func (s *Server) writeLog(w http.ResponseWriter) {
	body, err := json.Marshal(s.Log())
	if err != nil {
		panic(err) // numbers and strings: cannot happen
	}
	w.Header().Set("Mock-Epoch-Unix-Ns", strconv.FormatInt(s.EpochUnixNano(), 10))
	writeJSON(w, http.StatusOK, body)
}
