package scenarios

import (
	"bytes"
	_ "embed"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
// instants of the file if it has them and the options have no concurrency.
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
	s = s.withConfig(sessionConfig(s.options.Sessions, sessions))
	b.Run("workload="+name+"/stream=true", func(b *testing.B) {
		s.once(b, llmbench.Request{Prompt: "Say yes.", MaxTokens: 4, Then: []llmbench.Turn{{Prompt: "Again.", MaxTokens: 4}}})
		if text := toldOf(s.options.Sessions, sessions, first); text != "" {
			harness.Note(b, text)
		}
		if n := len(first.At); n > 0 && len(s.options.Concurrencies) == 0 {
			b.Run("speed=1", func(b *testing.B) { s.runSessions(b, llmbench.Load{Arrivals: arrivals.Replay{At: first.At}}, n) })
			return
		}
		s.perUsers(b, pick(s, []int{1, 4}, []int{1, 4}, []int{4}), func(b *testing.B, users int) {
			s.runSessions(b, llmbench.Load{Concurrency: users}, max(users, len(first.Requests)))
		})
	})
}

// prepareAgent checks that the file of sessions can be read, before a server is started.
func prepareAgent(o Options, _ config) (Options, error) {
	s := server{options: o}
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
// those of another one in the server's cache.
func (s server) drawSessions(n int, seed uint64) (benchdata.RecordedSessions, error) {
	sessions, err := s.sessions(seed, s.target.Salt(seed))
	if err != nil {
		return benchdata.RecordedSessions{}, err
	}
	return s.loadSessions(sessions, n)
}

// sessionConfig returns configuration lines for what results must have in common.
func sessionConfig(spec string, sessions benchdata.Sessions) map[string]string {
	config := map[string]string{"replies": string(benchdata.MadeUp)}
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
		parts = append(parts, "members that llmbench does not know are ignored: "+all.Unknown)
	}
	if len(parts) == 0 {
		return ""
	}
	path, _, _ := strings.Cut(spec, "?")
	return fmt.Sprintf("sessions %s, in the format %s: %s", path, all.Format, strings.Join(parts, "; "))
}

// runSessions measures n sessions under l. The warm-up has the first turns of the first sessions.
func (s server) runSessions(b *testing.B, l llmbench.Load, n int) {
	b.Helper()
	var shape sessionShape
	l.MeasuresCache = true
	l = s.fresh(b, l, n, 0, func(n int, seed uint64) ([]llmbench.Request, error) {
		all, err := s.drawSessions(n, seed)
		shape = sessionShape{all.Requests, all.Depths, all.ImpliedHits}.withoutTexts()
		return all.Requests, err
	})
	warm, err := s.drawSessions(max(2, l.Concurrency), s.options.Seed+1<<40)
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range warm.Requests {
		r.Then, r.Reply = nil, ""
		l.Warmup = append(l.Warmup, r)
	}
	if s.quick() {
		shorten(l.Warmup)
	}
	l.Figures = func(samples iter.Seq[*sample.Sample]) map[string]float64 { return shape.figures(samples) }
	s.run(b, l)
}

// A sessionShape is what the figures of sessions need of them. It is the same in all passes, and in all parts of a pass.
type sessionShape struct {
	sessions []llmbench.Request
	depths   [][]int
	implied  float64
}

// withoutTexts returns the shape without the texts of conversations, so that they need not stay in memory.
func (t sessionShape) withoutTexts() sessionShape {
	t.sessions = slices.Clone(t.sessions)
	for i := range t.sessions {
		r := &t.sessions[i]
		r.Messages, r.Reply, r.Then = nil, "", slices.Clone(r.Then)
		for k := range r.Then {
			r.Then[k].Messages, r.Then[k].Reply = nil, ""
		}
	}
	return t
}

// A playedTurn is what is known of a turn that was sent.
type playedTurn struct {
	known, sent, ok bool
	start, end      time.Duration
	ttft            time.Duration // 0 if there is none
	tokens          int           // of the prompt and of the answer
}

// A played is a session of a pass.
type played struct{ pass, request int }

// depthUnits are the units of the TTFT by the depth from which they count, up to the next one.
var depthUnits = []struct {
	from int
	unit string
}{{1, "p50-ttft-depth1-ns"}, {2, "p50-ttft-depth2-ns"}, {9, "p50-ttft-depth9-ns"}, {33, "p50-ttft-depth33-ns"}}

// figures returns the figures of sessions.
func (t sessionShape) figures(samples iter.Seq[*sample.Sample]) map[string]float64 {
	all := map[played][]playedTurn{}
	passes := map[int][2]time.Duration{} // the first t0 and the last end
	for s := range samples {
		id := played{s.Pass, s.Request}
		if all[id] == nil {
			all[id] = make([]playedTurn, 1+len(t.sessions[s.Request%len(t.sessions)].Then))
		}
		turn := playedTurn{known: true, sent: s.Outcome == sample.OK || s.End > s.Start, ok: s.Outcome == sample.OK, start: s.Due, end: s.End, tokens: s.PromptTokens + s.OutputTokens}
		if d, has := s.TTFT(); has && turn.ok {
			turn.ttft = d
		}
		if span, has := passes[s.Pass]; has {
			passes[s.Pass] = [2]time.Duration{min(span[0], s.Due), max(span[1], s.End)}
		} else {
			passes[s.Pass] = [2]time.Duration{s.Due, s.End}
		}
		all[id][s.Turn] = turn
	}
	var f sessionFigures
	f.byDepth = make([][]time.Duration, len(depthUnits))
	for _, id := range slices.SortedFunc(maps.Keys(all), func(a, b played) int { return (a.pass-b.pass)<<32 + a.request - b.request }) {
		f.add(all[id], &t.sessions[id.request%len(t.sessions)], t.depths[id.request%len(t.sessions)])
	}
	for _, span := range passes {
		f.elapsed += span[1] - span[0]
	}
	figures := f.all(len(all))
	figures["implied-hit-%"] = 100 * t.implied
	return figures
}

// sessionFigures sums up sessions.
type sessionFigures struct {
	took           []time.Duration // sessions of which every turn succeeded
	late           []time.Duration // how much later than after its pause each turn was sent
	byDepth        [][]time.Duration
	turns, tokens  int           // of these sessions
	lost           int           // turns that were not sent
	busy, requests time.Duration // sums of the times of sessions and of requests
	elapsed        time.Duration
}

// add adds a session.
func (f *sessionFigures) add(turns []playedTurn, of *llmbench.Request, depths []int) {
	done, begin, end, tokens := true, turns[0].start, time.Duration(0), 0
	for i, t := range turns {
		done = done && t.ok
		if t.known && !t.sent {
			f.lost++
		}
		if !t.sent {
			continue
		}
		begin, end, tokens = min(begin, t.start), max(end, t.end), tokens+t.tokens
		f.requests += t.end - t.start
		if t.ttft > 0 {
			k := len(depthUnits) - 1
			for depths[i] < depthUnits[k].from {
				k--
			}
			f.byDepth[k] = append(f.byDepth[k], t.ttft)
		}
		if i > 0 {
			if due, has := dueOf(turns, of.Then[i-1], i); has {
				f.late = append(f.late, t.start-due)
			}
		}
	}
	f.busy += max(0, end-begin) // no time if none was sent
	if done {
		f.took, f.turns, f.tokens = append(f.took, end-begin), f.turns+len(turns), f.tokens+tokens
	}
}

// dueOf returns the instant at which turn i of a session should be sent, if the turns that it waits for were.
func dueOf(turns []playedTurn, t llmbench.Turn, i int) (due time.Duration, has bool) {
	if len(t.After) == 0 {
		return 0, false
	}
	for _, before := range t.After {
		if !turns[before].sent {
			return 0, false
		}
		due = max(due, turns[before].end)
	}
	if t.Every > 0 {
		return max(due, turns[t.After[0]].start+t.Every), true
	}
	return due + t.Think, true
}

// all returns the figures of n sessions.
func (f *sessionFigures) all(n int) map[string]float64 {
	figures := map[string]float64{"session-fail-%": 100 * float64(n-len(f.took)) / float64(max(n, 1)), "lost-turns": float64(f.lost)}
	if done := float64(len(f.took)); done > 0 {
		figures["turns/session"], figures["tok/session"] = float64(f.turns)/done, float64(f.tokens)/done
	}
	if f.elapsed > 0 {
		figures["mean-sessions"] = f.busy.Seconds() / f.elapsed.Seconds()
		figures["mean-requests"] = f.requests.Seconds() / f.elapsed.Seconds()
	}
	addMedian(figures, "p50-session-ns", f.took)
	slices.Sort(f.took)
	if sample.P99.Enough(len(f.took)) {
		figures["p99-session-ns"] = sample.Quantile(f.took, 0.99)
	}
	for i, u := range depthUnits {
		addMedian(figures, u.unit, f.byDepth[i])
	}
	slices.Sort(f.late)
	for unit, q := range map[string]float64{"p50-turn-late-ms": 0.5, "p99-turn-late-ms": 0.99} {
		if len(f.late) > 0 && (q < 0.9 || sample.P99.Enough(len(f.late))) {
			figures[unit] = sample.Quantile(f.late, q) / 1e6
		}
	}
	return figures
}
