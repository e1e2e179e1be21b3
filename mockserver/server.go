package mockserver

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/pace"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/vocab"
	"github.com/seed-2b9cec6d/llmbench/mockserver/oracle"
)

// A Server is an http.Handler that answers like an LLM inference server, at the
// speed that its [Config] sets. Its methods may be called concurrently. A Server
// starts no goroutines. To stop it, stop the http.Server that uses it. A stream ends when the
// http.Server closes the connection.
type Server struct {
	cfg   Config
	model string // the model's name as a JSON string
	words *vocab.Lexicon
	clock pace.Clock
	plan  pace.Plan
	log   sendLog
	meter *meter
	swaps swaps
	death *death
	loras *adapters // nil without LoRA adapters
}

// New returns a new server. The error comes from [Config.Validate].
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("mockserver: %w", err)
	}
	cfg.Model, cfg.Speed = cmp.Or(cfg.Model, "mock"), cmp.Or(cfg.Speed, 1)
	if cfg.Oracle == nil {
		cfg.Oracle = oracle.Known
	}
	cfg.Faults, cfg.LoRA = slices.Clone(cfg.Faults), slices.Clone(cfg.LoRA)
	s := &Server{
		cfg: cfg, model: jsontext.Quote(cfg.Model), words: vocab.LexiconFor(cfg.Shape.TextMode()),
		clock: pace.Clock{Epoch: time.Now()}, death: newDeath(cfg.Faults),
	}
	if cfg.Engine != nil {
		s.plan = pace.NewEngine(s.clock, *cfg.Engine, cfg.Speed)
	} else {
		s.plan = pace.NewFixed(s.clock, cfg.rate(), cfg.Slots)
	}
	if len(cfg.LoRA) > 0 {
		s.loras = newAdapters(cfg.LoRA, cfg.MaxLoRA)
	}
	s.meter = newMeter(&s.cfg, s.plan, s.loras)
	return s, nil
}

// Epoch returns the instant at which the log's times begin, with a monotonic clock
// reading. In the same process, t.Sub(s.Epoch()) converts a time.Time t to a time of the
// log.
func (s *Server) Epoch() time.Time { return s.clock.Epoch }

// EpochUnixNano returns [Server.Epoch] on the wall clock, in nanoseconds since 1970. A
// client in another process on the same machine adds it to a time of the log to get
// wall-clock time. The result is accurate to about a microsecond. It follows adjustments of
// the wall clock since the start, so it may differ from Epoch().UnixNano().
func (s *Server) EpochUnixNano() int64 {
	// time.Now reads the wall clock, then the monotonic clock. A pause between the
	// two readings makes the difference too small, so the largest difference is the best.
	epoch := int64(math.MinInt64)
	for range 32 {
		now := time.Now()
		epoch = max(epoch, now.UnixNano()-int64(now.Sub(s.clock.Epoch)))
	}
	return epoch
}

// Log returns a copy of the entries of all requests that have ended since the last Reset,
// sorted by ordinal. When a client has read an answer to its end, the entry is in the log.
// If the client hung up, the entry may appear a moment later. Until Reset, the log grows by
// about 8 bytes per token.
func (s *Server) Log() []Entry { return s.log.entries() }

// ResetPrefixCache removes from the prefix cache the blocks that no request is using.
func (s *Server) ResetPrefixCache() { s.plan.ResetPrefixCache() }

// Reset removes the entries of all requests that have ended. Requests in flight
// appear in the log when they end. The numbering of requests continues.
func (s *Server) Reset() { s.log.reset() }
