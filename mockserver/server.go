package mockserver

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/pace"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
	"github.com/seed-2b9cec6d/llmbench/mockserver/oracle"
)

// A Server is an http.Handler that answers as an LLM inference server with the
// speed of its [Config]. Its methods may be called concurrently. It starts no
// goroutines, so only the http.Server that it runs in has to be stopped; a stream
// ends when that server closes the connection.
type Server struct {
	cfg   Config
	model string // the model's name as a JSON string
	words *vocab.Lexicon
	clock pace.Clock
	plan  pace.Plan
	log   sendLog
	meter *meter
	swaps swaps
}

// New makes a server. The error comes from [Config.Validate].
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
	if cfg.Oracle == nil {
		cfg.Oracle = oracle.Known
	}
	cfg.Faults = slices.Clone(cfg.Faults)
	s := &Server{
		cfg: cfg, model: jsontext.Quote(cfg.Model), words: vocab.LexiconFor(cfg.Shape.TextMode()),
		clock: pace.Clock{Epoch: time.Now()},
	}
	if cfg.Engine != nil {
		s.plan = pace.NewEngine(s.clock, *cfg.Engine, cfg.Speed)
	} else {
		s.plan = pace.NewFixed(s.clock, cfg.rate(), cfg.Slots)
	}
	draft := 0
	if cfg.Engine != nil {
		draft = cfg.Engine.Draft
	}
	s.meter = newMeter(cfg.Model, s.plan, draft)
	return s, nil
}

// Epoch returns the instant from which the log counts, with its monotonic clock
// reading. In the same process, t.Sub(s.Epoch()) converts a time.Time to an
// instant of the log.
func (s *Server) Epoch() time.Time { return s.clock.Epoch }

// EpochUnixNano returns [Server.Epoch] as the wall clock now counts it, in
// nanoseconds since 1970. A client in another process on the same machine
// compares its own instants with the log through the wall clock. The result is
// accurate to about a microsecond. It differs from Epoch().UnixNano() if the wall
// clock has been adjusted since.
func (s *Server) EpochUnixNano() int64 {
	// time.Now reads the wall clock, then the monotonic clock. A pause between the
	// two readings makes the difference too small, so the largest is the best.
	epoch := int64(math.MinInt64)
	for range 32 {
		now := time.Now()
		epoch = max(epoch, now.UnixNano()-int64(now.Sub(s.clock.Epoch)))
	}
	return epoch
}

// Log returns a copy of the entries of all requests that have ended since the
// last Reset, sorted by ordinal. An entry is in the log before the client can see
// the end of its answer; if the client hung up, the entry may appear a moment
// later. The log grows by about 8 bytes per token until Reset.
func (s *Server) Log() []Entry { return s.log.entries() }

// Reset removes the entries of all requests that have ended. Requests in flight
// appear in the log when they end. The ordinals do not start again.
func (s *Server) Reset() { s.log.reset() }
