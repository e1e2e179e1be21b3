package scenarios

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"iter"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// madeUpAgents are six sessions of agents in Weka's format (see benchdata/README.md), which take a second each on the simulated server. A
// program made them: they grow from 350 to 2,000 tokens, have sub-agents that the agent waits for and others in the background, and one
// goes back to the beginning.
//
//go:embed agents.json
var madeUpAgents []byte

// agent replays recorded sessions of agents, of LLMBENCH_SESSIONS or made-up ones: as many at once as there are users, or at the
// instants of the file if it has them and the options have no concurrency and no duration.
func agent(b *testing.B, s server) {
	sessions, err := s.sessions(0, 0)
	if err != nil {
		b.Fatal(err)
	}
	first, err := s.loadSessions(sessions, s.options.Requests)
	if err != nil {
		b.Fatal(err)
	}
	name := "agents"
	if s.options.Sessions != "" {
		name = "sessions-" + first.Format
	}
	s = s.withConfig(s.sessionConfig(sessions))
	b.Run("workload="+name+"/stream=true", func(b *testing.B) {
		s.once(b, llmbench.Request{Prompt: "Say yes.", MaxTokens: 4, Then: []llmbench.Turn{{Prompt: "Again.", MaxTokens: 4}}})
		if text := toldOf(s.options.Sessions, sessions, first); text != "" {
			harness.Note(b, text)
		}
		if n := len(first.At); n > 0 && len(s.options.Concurrencies) == 0 && !s.options.isTimed() {
			b.Run("speed=1", func(b *testing.B) { s.runSessions(b, llmbench.Load{Arrivals: arrivals.Replay{At: first.At}}, n) })
			return
		}
		s.perUsers(b, pick(s, []int{1, 4}, []int{1, 4}, []int{4}), func(b *testing.B, users int) {
			s.runSessions(b, llmbench.Load{Concurrency: users}, len(first.Requests))
		})
	})
}

// prepareAgent checks that the file of sessions can be read, before a server is started.
func prepareAgent(o Options, _ config) (Options, error) {
	s := server{options: o}
	if o.Duration > 0 && o.Warmup == 0 && o.WarmupFor == 0 && len(o.Users) == 0 {
		o.WarmupFor = o.Duration / 10
	}
	sessions, err := s.sessions(0, 0)
	if err != nil {
		return o, fmt.Errorf("LLMBENCH_SESSIONS: %w", err)
	}
	if _, err := s.loadSessions(sessions, 1); err != nil {
		return o, fmt.Errorf("LLMBENCH_SESSIONS: %w", err)
	}
	return o, nil
}

// sessions returns the sessions in the options, or the made-up ones, which have no path.
func (s server) sessions(seed, salt uint64) (benchdata.Sessions, error) {
	o := benchdata.Options{Seed: seed, Salt: salt, Tokenizer: s.tokens}
	if s.options.Sessions == "" {
		return benchdata.Sessions{Seed: o.Seed, Salt: o.Salt, Tokenizer: o.Tokenizer}, nil
	}
	return benchdata.OpenSessions(s.options.Sessions, o)
}

// loadSessions returns n sessions, or all if n is 0.
func (s server) loadSessions(sessions benchdata.Sessions, n int) (benchdata.RecordedSessions, error) {
	if sessions.Path == "" {
		return sessions.Read(bytes.NewReader(madeUpAgents), n)
	}
	return sessions.Load(n)
}

// drawSessions returns n sessions that depend on seed. Texts from a file do, too, by their salt, so that no pass and no load finds
// texts of another one in the server's cache.
func (s server) drawSessions(n int, seed uint64) (benchdata.RecordedSessions, error) {
	sessions, err := s.sessions(seed, s.target.Salt(seed))
	if err != nil {
		return benchdata.RecordedSessions{}, err
	}
	return s.loadSessions(sessions, n)
}

// sessionConfig returns configuration lines for what results must have in common.
func (s server) sessionConfig(sessions benchdata.Sessions) map[string]string {
	spec := s.options.Sessions
	config := map[string]string{"replies": string(benchdata.MadeUp)}
	if s.options.isTimed() && sessions.Replies != benchdata.Own {
		config["start"] = cmp.Or(sessions.Start, benchdata.DefaultStart)
	}
	if sessions.Replies != "" {
		config["replies"] = string(sessions.Replies)
	}
	if path, query, _ := strings.Cut(spec, "?"); path != "" {
		config["dataset"] = strings.Trim(filepath.Base(path)+"?"+query, "?")
	}
	return config
}

// toldOf says what of a file is not replayed as it was recorded, or "".
func toldOf(spec string, sessions benchdata.Sessions, all benchdata.RecordedSessions) string {
	var parts []string
	if all.Cut > 0 {
		most := benchdata.DefaultCap
		if sessions.Cap > 0 {
			most = sessions.Cap
		}
		parts = append(parts, fmt.Sprintf("%d pauses were longer than %v and are cut; cap=1m sets another limit", all.Cut, most))
	}
	if all.Unknown != "" {
		parts = append(parts, "not read: "+all.Unknown)
	}
	if len(parts) == 0 {
		return ""
	}
	path, _, _ := strings.Cut(spec, "?")
	return fmt.Sprintf("sessions %s, in the format %s: %s", path, all.Format, strings.Join(parts, "; "))
}

// runSessions measures n sessions under l, or more if there are more users. The warm-up has the first turns of the first sessions. A load
// for a time begins in the midst of sessions, and ends in the midst of others; see UNITS.md.
func (s server) runSessions(b *testing.B, l llmbench.Load, n int) {
	b.Helper()
	var shape sessionShape
	l.MeasuresCache = true
	timed := s.options.isTimed() && l.Concurrency > 0
	if timed {
		l.CutSessions, l.WholePass, l.LeastCoverage = true, true, leastCoverage
		l.Units = sample.Named(sample.SteadyRate)
		if s.options.Requests == 0 { // whole copies of the file, one after the other
			n = wholeCopies(n, l.Concurrency)
		}
	}
	n = max(n, l.Concurrency)
	l = s.fresh(b, l, n, 0, func(n int, seed uint64) ([]llmbench.Request, error) {
		all, err := s.drawSessions(n, seed)
		shape = sessionShape{all.Requests, all.Depths, all.Subs, all.ImpliedHits, all.Distinct}.withoutTexts()
		for i := range all.Requests {
			all.Requests[i].Header = s.sessionHeader(seed, i)
		}
		return all.Requests, err
	})
	if timed {
		l.Fresh = s.begun(l.Fresh, l.Concurrency)
	}
	warm, err := s.drawSessions(max(2, l.Concurrency), s.options.Seed+1<<40)
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range warm.Requests {
		r.Then, r.Reply = nil, ""
		l.Warmup = append(l.Warmup, r)
	}
	if s.options.Warmup != 0 {
		l.Warmup = l.Warmup[:min(len(l.Warmup), max(0, s.options.Warmup))]
	}
	if s.quick() {
		shorten(l.Warmup)
	}
	l.Figures = func(samples iter.Seq[*sample.Sample]) map[string]float64 { return shape.figures(samples) }
	s.run(b, l)
}

// wholeCopies returns the smallest multiple of n sessions that is enough for all users.
func wholeCopies(n, users int) int { return n * max(1, (users+n-1)/n) }

// leastCoverage is the least share of the time for which the users of a load for a time must have sessions. AgentX wants observations of
// 98 % of its time (https://github.com/ai-dynamo/aiperf/pull/1255).
const leastCoverage = 0.98

// sessionField is the name of the header's field that tells routers which requests belong together.
const sessionField = "X-Session-ID"

// sessionHeader returns the header of the requests of session i with a seed. A field of this name that the target has stays.
func (s server) sessionHeader(seed uint64, i int) http.Header {
	if s.target.Header.Get(sessionField) != "" {
		return nil
	}
	h := http.Header{}
	h.Set(sessionField, fmt.Sprintf("%016x-%d", seed, i))
	return h
}

// begun returns a function like fresh, of which the first session of each user begins in its midst.
func (s server) begun(fresh func(pass int) ([]llmbench.Request, error), users int) func(pass int) ([]llmbench.Request, error) {
	return func(pass int) ([]llmbench.Request, error) {
		all, err := fresh(pass)
		if err != nil {
			return nil, err
		}
		sessions, err := s.sessions(s.options.Seed, 0)
		for i := range all[:min(users, len(all))] {
			if err == nil {
				all[i], err = sessions.Begin(all[i], i)
			}
		}
		return all, err
	}
}
