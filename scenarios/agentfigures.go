package scenarios

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A sessionShape is what the figures of sessions need of them. It is the same in all passes. Session i of a pass has the shape i mod n of n.
type sessionShape struct {
	sessions []llmbench.Request
	depths   [][]int
	subs     [][]bool
	implied  float64
	distinct int // number of sessions of a pass of which each is another one: those after them are recycled
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

// A playedTurn is what is known of a turn. The zero value is a turn before the session's first one, or one after an interrupt, which is not sent.
type playedTurn struct {
	known, sent, ok bool
	cut             bool // not sent, because the time of the pass was over
	counts          bool // see [sample.Sample.Counts]
	start, end      time.Duration
	ttft            time.Duration // 0 if there is none
	prompt, output  int           // tokens
}

// A played is a session of a pass.
type played struct{ pass, request int }

// depthUnits are the units of the TTFT by the depth from which they count, up to the next one.
var depthUnits = []struct {
	from int
	unit string
}{{1, "p50-ttft-depth1-ns"}, {2, "p50-ttft-depth2-ns"}, {9, "p50-ttft-depth9-ns"}, {33, "p50-ttft-depth33-ns"}}

// A window is the time of a pass that is measured.
type window struct{ from, to time.Duration }

// of returns how much of a time is within the window.
func (w window) of(from, to time.Duration) time.Duration {
	return max(0, min(to, w.to)-max(from, w.from))
}

// figures returns the figures of sessions. The samples are all of each pass.
func (t sessionShape) figures(samples iter.Seq[*sample.Sample]) map[string]float64 {
	all := map[played][]playedTurn{}
	windows := map[int]window{} // from the first t0 to the last end, or what is measured of it
	for s := range samples {
		id := played{s.Pass, s.Request}
		if all[id] == nil {
			all[id] = make([]playedTurn, 1+len(t.sessions[s.Request%len(t.sessions)].Then))
		}
		turn := playedTurn{
			known: true, sent: s.Outcome == sample.OK || s.End > s.Start, ok: s.Outcome == sample.OK, counts: s.Counts(),
			start: s.Due, end: s.End, prompt: s.PromptTokens, output: s.OutputTokens,
		}
		turn.cut = !turn.sent && s.Outcome == sample.Left && s.Until > 0 && s.Due >= s.Until
		if d, has := s.TTFT(); has && turn.ok {
			turn.ttft = d
		}
		until := cmp.Or(s.Until, s.End)
		w := window{max(s.Due, s.From), min(s.End, until)}
		if other, has := windows[s.Pass]; has {
			w = window{min(other.from, w.from), max(other.to, w.to)}
		}
		windows[s.Pass] = w
		all[id][s.Turn] = turn
	}
	f := sessionFigures{byDepth: make([][]time.Duration, len(depthUnits))}
	recycled := 0
	for _, id := range slices.SortedFunc(maps.Keys(all), func(a, b played) int { return cmp.Or(a.pass-b.pass, a.request-b.request) }) {
		if t.distinct > 0 && id.request >= t.distinct {
			recycled++
		}
		i := id.request % len(t.sessions)
		f.add(all[id], &t.sessions[i], t.depths[i], t.subs[i], windows[id.pass])
	}
	for _, w := range windows {
		f.elapsed += max(0, w.to-w.from)
	}
	figures := f.all()
	figures["implied-hit-%"] = 100 * t.implied
	if recycled > 0 {
		figures["recycled-sessions"] = float64(recycled)
	}
	return figures
}

// An agentFigures sums up the turns of the agents, or of sub-agents.
type agentFigures struct {
	ttft             []time.Duration
	requests, tokens int
}

// sessionFigures sums up sessions.
type sessionFigures struct {
	sessions              int             // that began within the time that is measured, with their first turn
	took                  []time.Duration // of sessions of which every turn succeeded
	cut                   []time.Duration // of sessions that the end of the time, or an interrupt, has cut, until then
	late                  []time.Duration // how much later than after its pause each turn was sent
	byDepth               [][]time.Duration
	agents                [2]agentFigures // of agents, and of sub-agents
	turns, tokens, output int             // of the sessions of took
	lost                  int             // turns that were not sent because one had failed
	busy, requests        time.Duration   // sums of the times of sessions and of requests
	elapsed               time.Duration
	growth                leastSquares
}

// add adds a session, of which the given window is measured.
func (f *sessionFigures) add(turns []playedTurn, of *llmbench.Request, depths []int, subs []bool, w window) {
	begin, end, cut, done := time.Duration(-1), time.Duration(0), false, true
	tokens, output := 0, 0
	for i, t := range turns {
		done, cut = done && t.ok, cut || t.cut || !t.known && begin >= 0
		if t.known {
			end = max(end, t.end) // of a turn that was cut, the end of the time
		}
		if t.known && !t.sent && !t.cut && t.counts {
			f.lost++
		}
		if !t.sent {
			continue
		}
		if begin < 0 || t.start < begin {
			begin = t.start
		}
		tokens, output = tokens+t.prompt+t.output, output+t.output
		f.requests += w.of(t.start, t.end)
		if i > 0 && t.counts {
			if due, has := dueOf(turns, of.Then[i-1]); has {
				f.late = append(f.late, t.start-due)
			}
		}
		if t.counts && t.ok {
			f.addTurn(t, depths[i], subs[i])
		}
	}
	if begin >= 0 {
		f.busy += w.of(begin, end)
	}
	if !turns[0].known || !turns[0].counts { // it began before, or in its midst
		return
	}
	f.sessions++
	switch {
	case done:
		f.took, f.turns, f.tokens, f.output = append(f.took, end-begin), f.turns+len(turns), f.tokens+tokens, f.output+output
	case cut && !slices.ContainsFunc(turns, func(t playedTurn) bool { return t.known && !t.ok && !t.cut }):
		f.cut = append(f.cut, end-begin)
	}
}

// addTurn adds a turn that succeeded.
func (f *sessionFigures) addTurn(t playedTurn, depth int, sub bool) {
	a := &f.agents[0]
	if sub {
		a = &f.agents[1]
	}
	a.requests, a.tokens = a.requests+1, a.tokens+t.prompt+t.output
	if t.ttft == 0 {
		return
	}
	a.ttft = append(a.ttft, t.ttft)
	k := len(depthUnits) - 1
	for depth < depthUnits[k].from {
		k--
	}
	f.byDepth[k] = append(f.byDepth[k], t.ttft)
	if t.prompt > 0 {
		f.growth.add(float64(t.prompt)/10_000, t.ttft.Seconds()*1000)
	}
}

// dueOf returns the instant at which a turn of a session should be sent, if the turns that it waits for were.
func dueOf(turns []playedTurn, t llmbench.Turn) (due time.Duration, has bool) {
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

// all returns the figures.
func (f *sessionFigures) all() map[string]float64 {
	failed := f.sessions - len(f.took) - len(f.cut)
	figures := map[string]float64{"session-fail-%": 100 * float64(failed) / float64(max(f.sessions, 1)), "lost-turns": float64(f.lost)}
	if done := float64(len(f.took)); done > 0 {
		figures["turns/session"], figures["tok/session"], figures[sample.SessionOutput] = float64(f.turns)/done, float64(f.tokens)/done, float64(f.output)/done
	}
	if len(f.cut) > 0 {
		figures["cut-sessions"] = float64(len(f.cut))
	}
	if f.elapsed > 0 {
		figures["mean-sessions"] = f.busy.Seconds() / f.elapsed.Seconds()
		figures["mean-requests"] = f.requests.Seconds() / f.elapsed.Seconds()
	}
	for _, one := range []struct {
		prefix string
		failed int
	}{{"", 0}, {"adj-", failed}} {
		if one.prefix != "" && failed == 0 {
			continue
		}
		for _, p := range []sample.Statistic{sample.P50, sample.P99} {
			if d, has := sessionTime(f.took, f.cut, one.failed, p); has {
				figures[one.prefix+string(p)+"-session-ns"] = d
			}
		}
	}
	for i, u := range depthUnits {
		addMedian(figures, u.unit, f.byDepth[i])
	}
	if subs := f.agents[1]; subs.requests > 0 {
		addMedian(figures, "p50-ttft-main-ns", f.agents[0].ttft)
		addMedian(figures, "p50-ttft-sub-ns", subs.ttft)
		figures["sub-req-%"] = 100 * float64(subs.requests) / float64(subs.requests+f.agents[0].requests)
		figures["sub-tok-%"] = 100 * float64(subs.tokens) / float64(max(1, subs.tokens+f.agents[0].tokens))
	}
	if slope, has := f.growth.slope(); has {
		figures["ttft-ms/10ktok"] = slope
	}
	slices.Sort(f.late)
	for unit, q := range map[string]float64{"p50-turn-late-ms": 0.5, "p99-turn-late-ms": 0.99} {
		if len(f.late) > 0 && (q < 0.9 || sample.P99.Enough(len(f.late))) {
			figures[unit] = sample.Quantile(f.late, q) / 1e6
		}
	}
	return figures
}

// sessionTime returns a quantile of the times of sessions: of those that took a time, of those that were cut after a time, and of failed
// ones, which count as longer than any other. Without cut ones it is a usual quantile. Otherwise it is the time by which, according to the estimator
// of Kaplan and Meier, this share of the sessions has ended (Journal of the American Statistical Association 53, 1958): a session that
// was cut counts until then, so that the others do not count as typical because they were short. It returns false if there are too few sessions,
// or if the quantile is longer than is known.
func sessionTime(took, cut []time.Duration, failed int, p sample.Statistic) (float64, bool) {
	q := float64(p.Percent()) / 100
	left := len(took) + len(cut) + failed
	if !p.Enough(left) || len(took) == 0 {
		return 0, false
	}
	slices.Sort(took)
	slices.Sort(cut)
	if len(cut) == 0 {
		if failed > 0 && q*float64(left-1) > float64(len(took)-1) {
			return 0, false
		}
		const never = time.Duration(1<<63 - 1)
		return sample.Quantile(append(slices.Clip(took), slices.Repeat([]time.Duration{never}, failed)...), q), true
	}
	unended := 1.0
	for _, d := range took {
		for len(cut) > 0 && cut[0] < d {
			cut, left = cut[1:], left-1
		}
		unended *= 1 - 1/float64(left)
		if left--; 1-unended >= q-1e-12 {
			return float64(d), true
		}
	}
	return 0, false
}

// leastSquares is a line of least squares.
type leastSquares struct{ n, x, y, xx, xy float64 }

func (g *leastSquares) add(x, y float64) {
	g.n, g.x, g.y, g.xx, g.xy = g.n+1, g.x+x, g.y+y, g.xx+x*x, g.xy+x*y
}

// slope returns the slope of the line, if there are at least ten points that are not all above the same place.
func (g *leastSquares) slope() (float64, bool) {
	spread := g.xx - g.x*g.x/max(1, g.n)
	if g.n < 10 || spread <= 1e-9*g.xx {
		return 0, false
	}
	return (g.xy - g.x*g.y/g.n) / spread, true
}
