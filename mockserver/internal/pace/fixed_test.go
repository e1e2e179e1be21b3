package pace

import (
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// If the process is suspended, or its goroutines run late, each event that was due in the meantime
// still gets its deadline as its time.
func TestLateSchedulerCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Clock{Epoch: time.Now().Add(-time.Hour)} // everything is an hour late
		s := newFixed(c, Rate{PerToken: 2 * time.Second, TTFT: time.Second, Speed: 1}, 2)
		var places []*fixedPlace
		for i := range 5 {
			places = append(places, s.join(Job{Ordinal: uint64(i), Arrived: time.Duration(i) * time.Millisecond, Output: 3}))
		}
		want := []time.Duration{0, time.Millisecond, 5 * time.Second, 5*time.Second + time.Millisecond, 10 * time.Second}
		for i, place := range places {
			got, err := place.WaitAdmission(t.Context())
			if err != nil || got != want[i] {
				t.Errorf("request %d: admitted at %v, %v, want %v", i, got, err, want[i])
			}
			if err := place.WaitToken(t.Context(), 2); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		}
		if got := c.Now(); got != time.Hour {
			t.Errorf("tokens that were due were waited for until %v, want 1h", got)
		}
	})
}

// Slots become free in the order of their ends, even if one call finds several ends.
func TestSlotsAreHandedOnByDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Clock{Epoch: time.Now()}
		s := newFixed(c, Rate{PerPromptToken: time.Second, Speed: 1}, 3)
		var places []*fixedPlace
		for _, seconds := range []int{30, 10, 20, 1, 1, 1} {
			places = append(places, s.join(Job{Prompt: seconds, Output: 1}))
		}
		time.Sleep(5 * time.Second)
		places[2].Leave() // at 5 s, before its end
		time.Sleep(time.Minute)
		var got []time.Duration
		for _, place := range places {
			at, _ := place.WaitAdmission(t.Context())
			got = append(got, at)
		}
		want := []time.Duration{0, 0, 0, 5 * time.Second, 6 * time.Second, 7 * time.Second}
		if !slices.Equal(got, want) {
			t.Errorf("admitted at %v, want %v", got, want)
		}
		for _, place := range places {
			place.Leave() // after the end: no effect
		}
		if at, _ := s.join(Job{Arrived: c.Now(), Output: 1}).WaitAdmission(t.Context()); at != c.Now() {
			t.Errorf("with all slots free: admitted at %v, want at once, %v", at, c.Now())
		}
	})
}

func TestIdleSlotsAreUsedAgain(t *testing.T) {
	s := newFixed(Clock{Epoch: time.Now()}, Rate{Speed: 1}, 0)
	for range 1000 {
		s.join(Job{Arrived: s.clock.Now(), Output: 1}).Leave()
	}
	if got := len(s.busy); got != 1 {
		t.Errorf("1000 requests one after another left %d slots behind, want 1", got)
	}
}

func TestJitter(t *testing.T) {
	p := Rate{TTFT: time.Second, PerToken: 10 * time.Millisecond, Jitter: 0.5, Seed: 7, Speed: 1}
	const n = 10_000
	due := p.due(1, 0, n)
	if again := p.due(1, 0, n); !slices.Equal(due, again) {
		t.Error("due(1) differs from call to call with one seed")
	}
	if other := p.due(2, 0, n); slices.Equal(due[:3], other[:3]) {
		t.Error("due(1) = due(2), want a stream of its own for each ordinal")
	}
	p.Seed = 8
	if other := p.due(1, 0, n); slices.Equal(due[:3], other[:3]) {
		t.Error("due(1) is the same with seeds 7 and 8")
	}
	if due[0] < time.Second/2 || due[0] > 3*time.Second/2 {
		t.Errorf("due[0] = %v, want 0.5s to 1.5s", due[0])
	}
	least, most := time.Hour, time.Duration(0)
	for k := 1; k < n; k++ {
		least, most = min(least, due[k]-due[k-1]), max(most, due[k]-due[k-1])
	}
	// The gaps are uniform from 5 to 15 ms. With so many draws, the smallest and the largest
	// come close to both limits, and the mean is within five standard errors of the middle.
	if least < 5*time.Millisecond || least > 5*time.Millisecond+50*time.Microsecond {
		t.Errorf("least gap = %v, want 5ms to 5.05ms", least)
	}
	if most > 15*time.Millisecond || most < 15*time.Millisecond-50*time.Microsecond {
		t.Errorf("greatest gap = %v, want 14.95ms to 15ms", most)
	}
	mean := float64(due[n-1]-due[0]) / (n - 1)
	if off := math.Abs(mean-10e6) / (10e6 / math.Sqrt(12) / math.Sqrt(n)); off > 5 {
		t.Errorf("mean gap = %v, %.1f standard errors from 10ms, want at most 5", time.Duration(mean), off)
	}
}

// The random factors of successive requests' first intervals are independent, although their
// generators have neighboring seeds.
func TestJitterIsSpreadOverOrdinals(t *testing.T) {
	const n = 10_000
	p := Rate{TTFT: time.Second, Jitter: 1, Seed: 1, Speed: 1}
	var sum, lag float64
	last := 0.0
	for i := range uint64(n) {
		x := p.due(i, 0, 1)[0].Seconds() - 1 // uniform over -1 to 1: variance 1/3
		sum += x
		lag += x * last
		last = x
	}
	if z := sum / math.Sqrt(n/3.0); math.Abs(z) > 5 {
		t.Errorf("mean of the first factors is %.1f standard errors from 1, want at most 5", z)
	}
	if z := lag / (math.Sqrt(n) / 3); math.Abs(z) > 5 {
		t.Errorf("correlation of neighbours is %.1f standard errors from 0, want at most 5", z)
	}
}

func TestDueIsExactAndBounded(t *testing.T) {
	long := Rate{PerToken: 10 * time.Millisecond, Speed: 3}.due(1, 0, 1_000_000)
	if got, want := long[999_999], 333_333*10*time.Millisecond; got != want {
		t.Errorf("token 999999 is due at %v, want %v", got, want)
	}
	slow := Rate{TTFT: math.MaxInt64, PerPromptToken: math.MaxInt64, PerToken: math.MaxInt64, Speed: 1e-300}.due(1, 1<<25, 3)
	if want := []time.Duration{horizon, horizon, horizon}; !slices.Equal(slow, want) {
		t.Errorf("tokens of the slowest server are due at %v, want %v", slow, want)
	}
}
