package compare

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestShort checks the short sentence about two systems, how sure it is, and what is said to be missing.
func TestShort(t *testing.T) {
	four := []float64{1, 4, 16, 64}
	base := []float64{100, 400, 1000, 1000}
	times := func(by ...float64) (all []float64) {
		for i, v := range by {
			all = append(all, v*base[i])
		}
		return all
	}
	doubted := server("a", 6, four, times(2, 2, 2, 2), nil)
	for i := range doubted.Points {
		doubted.Points[i].Doubt = true
	}
	last := server("a", 6, four, times(1.5, 1.5, 1.5, 0.5), nil)
	last.Points[3].Doubt = true
	late := server("a", 6, four, times(1, 1.5, 1.5, 0.5), nil)
	late.Points[3].Doubt = true
	withheld := server("a", 6, four, times(1.5, 1.5, 1.5, 0.5), nil)
	withheld.Points[3].Speed = nil
	noisy := server("a", 6, four, times(0.97, 1, 1.4, 1.5), nil)
	noisy.Points[0].Speed = []float64{80, 90, 97, 97, 110, 120}
	for _, c := range []struct {
		name, key  string
		a          System
		n          int // the runs of b
		want       string
		sure       Sure
		why, where string
		next       string
	}{
		{"at every load", "concurrency", server("vLLM", 6, four, times(1.16, 1.2, 1.21, 1.18), nil), 6, "vLLM is 16 to 21 % faster than b at every load", Shown, "at each load, after 6 runs of each", "", ""},
		{"twice as fast", "concurrency", server("vLLM", 6, four, times(1.9, 2, 2.3, 2), nil), 6, "vLLM is 1.9 to 2.3 times as fast as b at every load", Shown, "at each load, after 6 runs of each", "", ""},
		{"the other one", "concurrency", server("a", 6, four, times(0.5, 0.5, 0.5, 0.5), nil), 6, "b is 2.0 times as fast as a at every load", Shown, "at each load, after 6 runs of each", "", ""},
		{"lines that cross", "concurrency", server("awq", 6, four, times(1.6, 1.4, 0.8, 0.7), nil), 6, "awq is 40–60 % faster up to 4 users; b is 25–43 % faster from 16 users on", Shown, "at each load, after 6 runs of each", "awq up to 4 users, b from 16 users on", ""},
		{"one run", "concurrency", server("awq", 1, four, times(1.5, 1.5, 1.5, 1.5), nil), 1, "Preliminary: awq is 50 % faster than b at every load", Preliminary, "after 1 run of each: 6 are needed", "", "make 6 fresh runs of each"},
		{"islands", "concurrency", server("a", 6, four, times(1.2, 1, 1.2, 1), nil), 6, "a is 20 % faster than b at 1 and 16 users; elsewhere both are about equal", Shown, "at 1 and 16 users, after 6 runs of each", "", ""},
		{"equal", "concurrency", server("a", 2, four, base, nil), 2, "Preliminary: a and b are about equally fast at every load", Preliminary, "after 2 runs of each: 6 are needed", "about equal", "make 6 fresh runs of each"},
		{"an open loop", "rate", server("a", 6, four, times(0.5, 0.5, 0.75, 0.75), nil), 6, "a is 25 to 50 % quicker to answer than b at every load", Shown, "at each load, after 6 runs of each", "", ""},
		{"the last load in doubt", "concurrency", last, 6, "a is 50 % faster than b at 1 to 16 users", Shown, "at each load, after 6 runs of each", "", ""},
		{"the last load in doubt, and about equal before", "concurrency", late, 6, "a is 50 % faster than b at 4 to 16 users; elsewhere both are about equal", Shown, "at 4 to 16 users, after 6 runs of each", "", ""},
		{"the last load withheld", "concurrency", withheld, 6, "a is 50 % faster than b at 1 to 16 users", Shown, "at each load, after 6 runs of each", "", ""},
		{"the last load not measured", "concurrency", server("a", 6, four[:3], base[:3], nil), 6, "a and b are about equally fast at 1 to 16 users", Same, "ahead in 54 of 108 pairs of runs, p = 1", "about equal", ""},
		{"in doubt", "concurrency", doubted, 6, "In doubt: a is 2.0 times as fast as b at every load", Doubtful, "see the warnings", "", ""},
		{"lines that cross, one within the noise", "concurrency", noisy, 6, "a is 40 to 50 % faster than b from 16 users on; elsewhere both are about equal", Shown, "from 16 users on, after 6 runs of each", "", ""},
	} {
		got := Of(c.key, []System{c.a, server("b", c.n, four, base, nil)}, 0.95).Short
		winner := ""
		if c.where == "" {
			winner = "a"
			if c.a.Name != "a" {
				winner = c.a.Name
			}
			if c.name == "the other one" {
				winner = "b"
			}
		}
		assert.DeepEqual(t, got, Short{Sentence: c.want, Winner: winner, Where: c.where, Sure: c.sure, Why: c.why, Next: c.next})
	}
}

// TestShortLeaders checks the sentence about several systems that lead at different loads: it must name the systems that
// are the fastest, and not only the best two by their means.
func TestShortLeaders(t *testing.T) {
	three := []float64{1, 8, 64}
	systems := []System{server("a", 1, three, []float64{100, 400, 500}, nil), server("b", 1, three, []float64{90, 420, 520}, nil), server("c", 1, three, []float64{50, 300, 700}, nil)}
	got := Of("concurrency", systems, 0.95).Short
	assert.Equal(t, got.Sentence, "Preliminary: of 3 systems 3 lead, a at 1 user and c at 64 users")
	assert.Equal(t, got.Where, "on the load, see the table")
	assert.Equal(t, got.Winner, "")
	got = Of("concurrency", []System{systems[0], systems[1], server("d", 1, three, []float64{10, 20, 30}, nil)}, 0.95).Short
	assert.Equal(t, got.Sentence, "Preliminary: of 3 systems the fastest is a at 1 user, and b at 8 to 64 users")

	// A system that leads at both ends does not lead between them. Systems that are about equal do not lead.
	slow := server("d", 1, three, []float64{10, 20, 30}, nil)
	got = Of("concurrency", []System{systems[0], server("b", 1, three, []float64{90, 420, 450}, nil), slow}, 0.95).Short
	assert.Equal(t, got.Sentence, "Preliminary: of 3 systems the fastest is a at 1 and 64 users, and b at 8 users")
	got = Of("concurrency", []System{systems[0], server("b", 1, three, []float64{99.9, 400.1, 500.1}, nil), slow}, 0.95).Short
	assert.Equal(t, got.Sentence, "Preliminary: a and b are about equally fast at every load")
	got = Of("concurrency", []System{systems[0], server("b", 1, three, []float64{100, 400, 500}, nil), server("c", 1, three, []float64{10, 20, 700}, nil)}, 0.95).Short
	assert.Equal(t, got.Sentence, "Preliminary: of 3 systems the fastest is c at 64 users")
	got = Of("rate", []System{server("a", 1, three, []float64{1, 2, 4}, nil), server("b", 1, three, []float64{2, 1, 5}, nil), server("c", 1, three, []float64{9, 9, 9}, nil)}, 0.95).Short
	assert.Equal(t, got.Sentence, "Preliminary: of 3 systems the fastest is a at 1 and 64 req/s, and b at 8 req/s")
	got = Of("concurrency", []System{server("e", 1, three, []float64{200, 800, 1000}, nil), systems[0], systems[2]}, 0.95).Short
	assert.Equal(t, got.Winner, "e")
	assert.Assert(t, strings.HasPrefix(got.Sentence, "Preliminary: e is ") && strings.HasSuffix(got.Sentence, " at every load"), got.Sentence)
}

// TestShortLongNames checks that the sentence about systems with long names still says that it is preliminary.
func TestShortLongNames(t *testing.T) {
	one := []float64{1}
	long := strings.Repeat("word ", 12)
	got := Of("concurrency", []System{server(long+"a", 1, one, []float64{150}, nil), server(long+"b", 1, one, []float64{100}, nil)}, 0.95).Short
	assert.Equal(t, got.Sentence, "Preliminary: "+long+"a is 50 % faster than "+long+"b")
}

// TestShortWords checks that sentences about systems whose names are single words are short.
func TestShortWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var all []System
		loads := []float64{1, 2, 4, 8, 16, 32}[:1+rng.IntN(6)]
		for i := range 2 + rng.IntN(4) {
			var speeds []float64
			for range loads {
				speeds = append(speeds, 100*(1+float64(rng.IntN(4))))
			}
			all = append(all, server(fmt.Sprint("system-", i), 1+rng.IntN(7), loads, speeds, nil))
		}
		key := []string{"concurrency", "rate", "streams"}[rng.IntN(3)]
		got := Of(key, all, 0.95).Short.Sentence
		assert.Assert(t, words(got) <= MaxWords && got != "", "%d words: %s", words(got), got)
	}
}

// TestShortAdds checks the sentence about a gateway.
func TestShortAdds(t *testing.T) {
	direct := server("via=direct", 1, []float64{1}, []float64{100}, nil)
	gateway := server("via=gateway", 1, []float64{1}, []float64{90}, nil)
	gateway.Points[0].Added = []Added{{To: "the first token", Interval: Interval{Mid: 0.38, Low: 0.34, High: 0.46, Confident: true}}, {To: "each gap between tokens", Interval: Interval{Mid: 0.01, Confident: true}}}
	got := Of("concurrency", []System{direct, gateway}, 0.95).Short
	assert.DeepEqual(t, got, Short{Sentence: "The gateway adds 0.38 ms to the first token and 0.01 ms to each gap between tokens, at 1 user", Sure: Shown, Why: "95 % confidence"})
	gateway.Points[0].Added[0].Confident = false
	got = Of("concurrency", []System{direct, gateway}, 0.95).Short
	assert.Equal(t, got.Sure, Preliminary)
	assert.Equal(t, got.Next, "make six rounds (-benchtime=8x)")
}

// TestNext checks which loads are to be measured next.
func TestNext(t *testing.T) {
	four := []float64{1, 4, 16, 64}
	of := func(name string, upTo float64) System { return kept(server(name, 1, four, four, nil), upTo) }
	assert.DeepEqual(t, Next("concurrency", []System{of("a", 64), of("b", 16), of("c", 16), of("d", 0)}, 0.95), []string{"more than 64 users", "32 users"})
	assert.Assert(t, Next("concurrency", []System{server("a", 1, four, four, nil)}, 0.95) == nil)
}
