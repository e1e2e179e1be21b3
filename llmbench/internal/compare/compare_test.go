package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// around returns n values around a mean. They differ by up to 1 %.
func around(mean float64, n int) (all []float64) {
	for i := range n {
		all = append(all, mean*(1+0.01*float64(i)/float64(n)))
	}
	return all
}

// server returns a system with a speed and a TTFT at each of the loads, of n runs each.
func server(name string, n int, loads, speeds, ttfts []float64) System {
	s := System{Name: name}
	for i, load := range loads {
		p := Point{Load: load, Unit: "tok/s", Speed: around(speeds[i], n)}
		if ttfts != nil {
			p.TTFT = around(ttfts[i], n)
		}
		s.Points = append(s.Points, p)
	}
	return s
}

// kept says that a system keeps the SLO up to a load.
func kept(s System, upTo float64) System {
	for i := range s.Points {
		s.Points[i].Known = true
		if s.Points[i].Load <= upTo {
			s.Points[i].Kept = 1
		}
	}
	return s
}

// TestOf checks the paragraph about two systems: who is faster where, the first token, the SLO, and how
// sure that is. No paragraph may claim more than the runs can show.
func TestOf(t *testing.T) {
	four := []float64{1, 4, 16, 64}
	awq, fp16 := []float64{162, 560, 1120, 950}, []float64{100, 400, 1000, 1000}
	late, early := []float64{56, 56, 112, 560}, []float64{50, 50, 100, 500}
	for _, c := range []struct {
		name, key string
		a, b      System
		want      string
	}{
		{"lines that cross", "concurrency", kept(server("AWQ", 3, four, awq, late), 16), kept(server("fp16", 3, four, fp16, early), 16),
			"AWQ is faster than fp16 up to 16 users: 1.62 times for one, 1.40 at 4, 1.12 at 16. At 64 users fp16 is 5 % ahead. The first token of AWQ comes 12 % later. Both meet the SLO at 16 users and miss it at 64: measure 32 next. Preliminary after 3 runs of each: 6 are needed."},
		{"enough runs", "concurrency", server("AWQ", 6, four, awq, late), server("fp16", 6, four, fp16, early),
			"AWQ is faster than fp16 up to 16 users: 1.62 times for one, 1.40 at 4, 1.12 at 16. At 64 users fp16 is 5 % ahead. The first token of AWQ comes 12 % later. More than chance at each load, if each run is a fresh start of the server."},
		{"one run", "concurrency", server("AWQ", 1, four, awq, nil), server("fp16", 1, four, fp16, nil),
			"AWQ is faster than fp16 up to 16 users: 1.62 times for one, 1.40 at 4, 1.12 at 16. At 64 users fp16 is 5 % ahead. Preliminary after 1 run of each: 6 are needed."},
		{"one run at many loads", "concurrency", server("a", 1, []float64{1, 2, 3, 4, 5, 6, 7}, []float64{2, 4, 6, 8, 10, 12, 14}, nil), server("b", 1, []float64{1, 2, 3, 4, 5, 6, 7}, []float64{1, 2, 3, 4, 5, 6, 7}, nil),
			"a is faster than b at 1 to 7 users: 2.00 times. Preliminary after 1 run of each: 6 are needed."},
		{"an open loop", "rate", server("a", 8, []float64{0.5, 2}, []float64{1e9, 3e9}, nil), server("b", 8, []float64{0.5, 2}, []float64{2e9, 4e9}, nil),
			"a answers sooner than b at 0.5 to 2 req/s: in 0.50 times the latency at 0.5, 0.75 at 2. More than chance at each load, if each run is a fresh start of the server."},
		{"one load", "streams", server("a", 4, []float64{8}, []float64{106}, nil), server("b", 4, []float64{8}, []float64{100}, nil),
			"a is 6 % faster than b at 8 streams. Ahead in 16 of 16 pairs of runs, p = 0.029 if each run is a fresh start of the server."},
		{"equal", "", server("b", 2, []float64{0}, []float64{100}, nil), server("a", 2, []float64{0}, []float64{100}, nil),
			"a and b are about equally fast: the ratio is 1.000. Preliminary after 2 runs of each: 6 are needed."},
		{"islands", "concurrency", server("a", 1, four, []float64{120, 100, 120, 100}, []float64{10, 20, 10, 30}), server("b", 1, four, []float64{100, 100, 100, 100}, []float64{10, 10, 10, 20}),
			"a is faster than b at 1 and 16 users: 1.20 times. At 4 and 64 users both are about equal. The first token of a takes 1.50 to 2.00 times as long at 4 and 64 users. Preliminary after 1 run of each: 6 are needed."},
	} {
		got := Of(c.key, []System{c.b, c.a}, 0.95)
		assert.Assert(t, got != nil, c.name)
		assert.Equal(t, got.Says[0], c.want, c.name)
	}
	other := server("b", 1, four, fp16, nil)
	other.Work = "longer answers"
	assert.Assert(t, Of("concurrency", []System{server("a", 1, four, awq, nil), other}, 0.95) == nil)
	assert.Assert(t, Of("concurrency", nil, 0.95) == nil)
}

// TestLost checks that no system is called faster without a word about the requests that it did not answer.
func TestLost(t *testing.T) {
	four := []float64{1, 4, 16, 64}
	lost := func(name string, speed float64, shares ...float64) System {
		s := server(name, 1, four, []float64{speed, speed, speed, speed}, nil)
		for i := range s.Points {
			s.Points[i].Lost = shares[i]
		}
		return s
	}
	const faster, few = "a is faster than b at 1 to 64 users: 2.00 times. ", "Preliminary after 1 run of each: 6 are needed."
	for _, c := range []struct {
		name string
		a, b System
		want string
	}{
		{"none", lost("a", 20, 0, 0, 0, 0), lost("b", 10, 0, 0, 0, 0), ""},
		{"too few to matter", lost("a", 20, 0, 0, 0, 0.009), lost("b", 10, 0, 0, 0, 0), ""},
		{"at one load", lost("a", 20, 0, 0, 0, 0.4), lost("b", 10, 0, 0, 0, 0), "a did not answer 40 % of the requests at 64 users. "},
		{"at some loads", lost("a", 20, 0, 0, 0.125, 0.4), lost("b", 10, 0, 0, 0, 0), "a did not answer up to 40 % of the requests from 16 users on. "},
		{"equal shares", lost("a", 20, 0.1, 0.1, 0.1, 0.1), lost("b", 10, 0, 0, 0, 0), "a did not answer 10 % of the requests at 1 to 64 users. "},
		{"both", lost("a", 20, 0, 0, 0, 0.4), lost("b", 10, 0.02, 0, 0, 0.05), "a did not answer 40 % of the requests at 64 users, and b up to 5 % at 1 and 64 users. "},
		{"the slower one", lost("a", 20, 0, 0, 0, 0), lost("b", 10, 0, 0, 0, 1), "b did not answer 100 % of the requests at 64 users. "},
	} {
		assert.Equal(t, Of("concurrency", []System{c.a, c.b}, 0.95).Says[0], faster+c.want+few, c.name)
	}
	one := func(name string, speed, share float64) System {
		s := server(name, 1, []float64{0}, []float64{speed}, nil)
		s.Points[0].Lost = share
		return s
	}
	assert.Equal(t, Of("", []System{one("a", 20, 0.4), one("b", 10, 0)}, 0.95).Says[0], "a is 2.00 times as fast as b. a did not answer 40 % of the requests. Preliminary after 1 run of each: 6 are needed.")
}

// TestDoubtful checks that loads with a value in doubt are left out, and that the paragraph says so.
func TestDoubtful(t *testing.T) {
	two := []float64{1, 8}
	a, b := server("a", 1, two, []float64{20, 999}, nil), server("b", 1, two, []float64{10, 10}, nil)
	a.Points[1].Doubt = true
	says := Of("concurrency", []System{a, b}, 0.95).Says[0]
	assert.Assert(t, strings.HasPrefix(says, "a is 2.00 times as fast as b at 1 user. ") && strings.HasSuffix(says, " 1 of 2 loads is not judged because figures are in doubt."), says)
	b.Points[0].Doubt = true
	says = Of("concurrency", []System{a, b}, 0.95).Says[0]
	assert.Assert(t, strings.HasSuffix(says, " The figures are in doubt: see the warnings."), says)
}

// TestMany checks that each of several systems is compared with the best one.
func TestMany(t *testing.T) {
	var all []System
	for i := range 8 {
		all = append(all, kept(server(fmt.Sprint("s", i), 1, []float64{1, 2}, []float64{float64(10 + i), float64(20 + i)}, nil), float64(i)))
	}
	c := Of("concurrency", all, 0.95)
	assert.DeepEqual(t, c.Order, []int{7, 6, 5, 4, 3, 2})
	assert.Equal(t, len(c.Says), 6)
	assert.Equal(t, c.Says[5], "2 further systems were not faster.")
}

// TestLimit checks what is said about the SLO.
func TestLimit(t *testing.T) {
	loads := []float64{1, 4, 16}
	of := func(name string, upTo float64) System { return kept(server(name, 1, loads, loads, nil), upTo) }
	unknown := server("u", 1, loads, loads, nil)
	for _, c := range []struct {
		key  string
		all  []System
		want string
	}{
		{"concurrency", []System{of("", 4)}, "The server meets the SLO at 4 users and misses it at 16: measure 8 next"},
		{"rate", []System{of("", 1)}, "The server meets the SLO at 1 req/s and misses it at 4: measure 2 next"},
		{"concurrency", []System{of("", 0)}, "The server misses the SLO even at 1 user"},
		{"concurrency", []System{of("a", 16), of("b", 16)}, "Both meet the SLO at each load, up to 16 users: measure more"},
		{"concurrency", []System{of("a", 0), of("b", 0), of("c", 0)}, "All miss the SLO even at 1 user"},
		{"concurrency", []System{of("a", 1), of("b", 16), of("c", 4)}, "b meets the SLO at each load, up to 16 users (measure more); c meets it at 4 users and misses it at 16 (measure 8 next); a meets it at 1 user and misses it at 4 (measure 2 next)"},
		{"concurrency", []System{of("a", 4), of("b", 4), of("c", 1)}, "a and b meet the SLO at 4 users and miss it at 16 (measure 8 next); c meets it at 1 user and misses it at 4 (measure 2 next)"},
		{"concurrency", []System{unknown, of("b", 4)}, "b meets the SLO at 4 users and misses it at 16: measure 8 next"},
		{"concurrency", []System{unknown}, ""},
	} {
		assert.Equal(t, Limit(c.key, c.all, 0.95), c.want)
	}
}

// TestRatioOf checks that 95 % intervals hold the true ratio in at least 95 % of comparisons, and that with too few
// runs the interval holds the ratios of all pairs.
func TestRatioOf(t *testing.T) {
	i := RatioOf([]float64{2, 4, 6}, []float64{1, 2, 2})
	assert.Equal(t, i, Interval{Mid: 2, Low: 1, High: 6})
	chance := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{4, 6, 25} {
		held := 0
		const of = 200
		for range of {
			var a, b []float64
			for range n {
				a, b = append(a, 2*math.Exp(0.1*chance.NormFloat64())), append(b, math.Exp(0.1*chance.NormFloat64()))
			}
			i := RatioOf(a, b)
			assert.Assert(t, i.Confident && i.Low <= i.Mid && i.Mid <= i.High)
			if i.Low <= 2 && 2 <= i.High {
				held++
			}
		}
		assert.Assert(t, held >= of*93/100, "%d runs: %d of %d intervals hold the ratio", n, held, of)
	}
}

// TestNeverTooSure compares systems that are equal. At most 5 % of the answers may claim a difference.
func TestNeverTooSure(t *testing.T) {
	chance := rand.New(rand.NewPCG(9, 10))
	claims := 0
	const of = 100
	for range of {
		var all []System
		for _, name := range []string{"a", "b"} {
			s := System{Name: name}
			for _, load := range []float64{1, 4, 16} {
				p := Point{Load: load, Unit: "tok/s"}
				for range 6 {
					p.Speed, p.TTFT = append(p.Speed, math.Exp(0.2*chance.NormFloat64())), append(p.TTFT, math.Exp(0.2*chance.NormFloat64()))
				}
				s.Points = append(s.Points, p)
			}
			all = append(all, s)
		}
		said := Of("concurrency", all, 0.95).Says[0]
		if strings.Contains(said, "ore than chance") || strings.Contains(said, "first token") && !strings.Contains(said, "may be chance") {
			claims++
		}
	}
	assert.Assert(t, claims <= of*5/100, "%d of %d answers claim a difference", claims, of)
}

// TestNextLoad checks that the load to measure next is never one that was measured, also if it is unknown whether that
// load keeps the SLO.
func TestNextLoad(t *testing.T) {
	of := func(unknown ...float64) System {
		s := System{Name: "a"}
		for _, load := range []float64{1, 4, 16, 32, 64, 128, 256} {
			p := Point{Load: load, Known: !slices.Contains(unknown, load)}
			if load <= 16 {
				p.Kept = 1
			}
			s.Points = append(s.Points, p)
		}
		return s
	}
	for _, c := range []struct {
		key     string
		unknown []float64
		want    string
	}{
		{"concurrency", nil, "meets the SLO at 16 users and misses it at 32: measure 23 next"},
		{"concurrency", []float64{32, 64, 128}, "meets the SLO at 16 users and misses it at 256: measure 91 next"},
		{"concurrency", []float64{32}, "meets the SLO at 16 users and misses it at 64: measure 23 next"},
		{"rate", []float64{32}, "meets the SLO at 16 req/s and misses it at 64: measure 23 next"},
		{"concurrency", []float64{32, 64, 128, 256}, "meets the SLO at each load at which it is known, up to 16 users: measure more"},
	} {
		assert.Equal(t, Limit(c.key, []System{of(c.unknown...)}, 0.95), "a "+c.want, "%v", c.unknown)
	}
	// A pair of systems of which each lacks another load.
	a, b := of(32), of(32)
	b.Name, b.Points = "b", slices.Insert(b.Points, 4, Point{Load: 23})
	assert.Equal(t, Limit("concurrency", []System{a, b}, 0.95), "Both meet the SLO at 16 users and miss it at 64: measure 27 next")
	whole := System{Name: "c", Points: []Point{{Load: 2, Known: true, Kept: 1}, {Load: 3}, {Load: 4, Known: true}}}
	assert.Equal(t, Limit("concurrency", []System{whole}, 0.95), "c meets the SLO at 2 users and misses it at 4")
}
