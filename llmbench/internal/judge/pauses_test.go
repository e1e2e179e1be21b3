package judge

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const ms = time.Millisecond

// A simulation is a closed loop of users whose server takes prefill for a prompt of 100 characters and each for a token.
// Answers have the given number of tokens.
type simulation struct {
	users, requests, tokens int
	prefill, each           time.Duration
	clock                   sample.Clock
	// blocks says that no stream goes on during a prefill.
	blocks bool
	long   int // index of a request whose prompt is 50 times as long; 0 means none
}

// A stop is a time in which the server does nothing.
type stop struct{ at, length time.Duration }

// run returns the samples of the loop on a server that is stopped at times.
func (c simulation) run(stops ...stop) []sample.Sample {
	const tick = ms
	type user struct {
		s    *sample.Sample
		left time.Duration // until the next token
		last time.Duration
	}
	var all []sample.Sample
	users := make([]user, c.users)
	sent := 0
	for now := time.Duration(0); len(all) < c.requests; now += tick {
		if slices.ContainsFunc(stops, func(s stop) bool { return now >= s.at && now < s.at+s.length }) {
			continue
		}
		filling := -1 // the user whose prefill stops the others
		for i := range users {
			u := &users[i]
			if u.s == nil && sent < c.requests {
				u.s = &sample.Sample{Request: sent, Due: now, Start: now, PromptChars: 100, Streamed: true, Outcome: sample.OK, Clock: c.clock}
				u.left = c.prefill
				if sent > 0 && sent == c.long {
					u.s.PromptChars *= 50
					u.left *= 50
				}
				sent++
			}
			if c.blocks && filling < 0 && u.s != nil && u.s.Deltas == 0 {
				filling = i
			}
		}
		for i := range users {
			u := &users[i]
			if u.s == nil || filling >= 0 && filling != i {
				continue
			}
			if u.left -= tick; u.left > 0 {
				continue
			}
			if u.s.Deltas++; u.s.Deltas == 1 {
				u.s.First = now
			} else {
				u.s.Gaps = append(u.s.Gaps, now-u.last)
			}
			u.s.Last, u.s.End, u.last, u.left = now, now, now, c.each
			if u.s.Deltas == c.tokens {
				all = append(all, *u.s)
				u.s = nil
			}
		}
	}
	return all
}

// TestPauses checks which silences are told: unusual ones of all streams at once.
func TestPauses(t *testing.T) {
	fast := simulation{users: 4, requests: 40, tokens: 50, prefill: 50 * ms, each: 20 * ms, clock: sample.KernelClock}
	with := func(change func(*simulation)) simulation {
		c := fast
		change(&c)
		return c
	}
	one := with(func(c *simulation) { c.users = 1 })
	slow := with(func(c *simulation) { c.each = 900 * ms })
	prefills := with(func(c *simulation) { c.blocks, c.prefill = true, 700*ms })
	long := with(func(c *simulation) { c.blocks, c.long = true, 20 })
	single := fast.run()
	single[20].Gaps[10] += 5 * time.Second // one stream stands still
	single[20].Last += 5 * time.Second
	between := append(fast.run(), // a stream with a gap, and one that waits for its first delta meanwhile
		sample.Sample{Start: 12 * time.Second, PromptChars: 100, Deltas: 3, First: 12050 * ms, Last: 17130 * ms, End: 17130 * ms, Gaps: []time.Duration{20 * ms, 5060 * ms}, Clock: sample.KernelClock},
		sample.Sample{Start: 12060 * ms, PromptChars: 100, Deltas: 2, First: 17140 * ms, Last: 17150 * ms, End: 17150 * ms, Gaps: []time.Duration{10 * ms}, Clock: sample.KernelClock})
	two := []sample.Sample{single[0], single[20]}
	for _, c := range []struct {
		name    string
		samples []sample.Sample
		late    time.Duration
		want    string // how the note begins; "" means that there is none
	}{
		{"nothing", fast.run(), 0, ""},
		{"5 s", fast.run(stop{2300 * ms, 5 * time.Second}), 0, "all streams stood still for 5.0 s at 2.3 s of pass 0: the server"},
		{"2 s", fast.run(stop{7 * time.Second, 2 * time.Second}), 0, "all streams stood still for 2.0 s at 7.0 s of pass 0"},
		{"0.7 s", fast.run(stop{7 * time.Second, 700 * ms}), 0, "all streams stood still for 0.7 s at 7.0 s"},
		{"0.3 s", fast.run(stop{7 * time.Second, 300 * ms}), 0, ""},
		{"twice", fast.run(stop{2 * time.Second, 3 * time.Second}, stop{8 * time.Second, time.Second}), 0, "all streams stood still for 3.0 s at 2.0 s of pass 0, all streams stood still for 1.0 s at 8.0 s of pass 0: "},
		{"five times", fast.run(stop{1 * time.Second, time.Second}, stop{3 * time.Second, time.Second}, stop{5 * time.Second, time.Second}, stop{7 * time.Second, time.Second}, stop{9 * time.Second, time.Second}), 0, "all streams stood still for 1.0 s at 1.0 s of pass 0, all streams stood still for 1.0 s at 3.0 s of pass 0, all streams stood still for 1.0 s at 5.0 s of pass 0, and 2 more times: "},
		{"one user", one.run(stop{10500 * ms, 5 * time.Second}), 0, "the only stream stood still for 5.0 s at 10.5 s of pass 0"},
		{"a stream in its answer, and others before their first token", between, 0, "all streams stood still for 5.1 s at 12.1 s of pass 0"},
		{"one user, nothing", one.run(), 0, ""},
		{"one stream of several", single, 0, ""},
		{"one stream of several, which were before", two, 0, "the only stream"},
		{"a slow server", slow.run(), 0, ""},
		{"a slow server that is stopped", slow.run(stop{30 * time.Second, 20 * time.Second}), 0, "all streams stood still for 20"},
		{"prefills stop the others", prefills.run(), 0, ""},
		{"prefills stop the others, and the server is stopped", prefills.run(stop{10 * time.Second, 9 * time.Second}), 0, "all streams stood still for 9"},
		{"one long prefill", long.run(), 0, ""},
		{"one long prefill, and the server is stopped", long.run(stop{3 * time.Second, 4 * time.Second}), 0, "all streams stood still for 4.0 s at 3.0 s of pass 0: "},
		{"two deltas in an answer", simulation{4, 40, 2, 50 * ms, 900 * ms, sample.KernelClock, false, 0}.run(), 0, ""},
		{"a single answer", fast.run(stop{600 * ms, 5 * time.Second})[:1], 0, "the only stream stood still for 5.0 s at 0.6 s"},
		{"two slow gaps", []sample.Sample{{Deltas: 3, First: 0, Last: 2 * time.Second, Gaps: []time.Duration{time.Second, time.Second}, Clock: sample.KernelClock}}, 0, ""},
		{"no samples", nil, 0, ""},
		{"the client read late", with(func(c *simulation) { c.clock = sample.UserClock }).run(stop{2 * time.Second, 3 * time.Second}), 3 * time.Second, ""},
		{"the client's clock", with(func(c *simulation) { c.clock = sample.UserClock }).run(stop{2 * time.Second, 3 * time.Second}), 30 * ms, "all streams stood still for 3.0 s at 2.0 s"},
		{"the kernel's clock", fast.run(stop{2 * time.Second, 3 * time.Second}), 3 * time.Second, "all streams stood still for 3.0 s at 2.0 s"},
	} {
		notes := Facts{Bursts: sample.FindBursts(sample.All(c.samples...), c.late)}.PauseNotes(sample.All(c.samples...), c.late)
		text := ""
		for _, n := range notes {
			text += n.Text
		}
		assert.Equal(t, text != "", c.want != "", "%s: %q", c.name, text)
		assert.Assert(t, strings.HasPrefix(text, c.want), "%s: %q", c.name, text)
	}
}

// TestPausesOfBursts checks that a buffer that is flushed now and then is no server that stopped.
func TestPausesOfBursts(t *testing.T) {
	s := sample.Sample{Outcome: sample.OK, Streamed: true, Clock: sample.KernelClock, Deltas: 40, First: time.Second, Last: 2 * time.Second, End: 2 * time.Second,
		Gaps: make([]time.Duration, 39), Lags: make([]time.Duration, 40)}
	s.Gaps[19] = time.Second
	assert.Equal(t, len(findPauses(sample.All(s), 0)), 1)
	assert.Equal(t, len(Facts{Bursts: sample.FindBursts(sample.All(s), 0)}.PauseNotes(sample.All(s), 0)), 0)
}
