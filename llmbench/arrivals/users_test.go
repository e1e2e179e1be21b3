package arrivals

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gotest.tools/v3/assert"
)

// TestStays checks when users are there: evenly within a ramp, and by turns where several come at once.
func TestStays(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, c := range []struct {
		users string
		want  [][]Stay
	}{
		{"3:2s", [][]Stay{{{0, 2 * s}}, {{ms, 2 * s}}, {{2 * ms, 2 * s}}}},
		{"1..5:4s", [][]Stay{{{0, 4 * s}}, {{1 * s, 4 * s}}, {{2 * s, 4 * s}}, {{3 * s, 4 * s}}, nil}}, // the last one comes at the end
		{"1..3:4s,3:1s", [][]Stay{{{0, 5 * s}}, {{2 * s, 5 * s}}, {{4 * s, 5 * s}}}},
		{"0..2:4s,2..0:4s,1:1s", [][]Stay{{{2 * s, 6 * s}, {8 * s, 9 * s}}, nil}},
		{"3:1s,3..1:4s", [][]Stay{{{0, 5 * s}}, {{ms, 3 * s}}, {{2 * ms, 1 * s}}}},
		{"2:1s,0:2s,2:1s", [][]Stay{{{0, 1 * s}, {3 * s, 4 * s}}, {{ms, 1 * s}, {3*s + ms, 4 * s}}}},
		{"1:1s,3:1s,1:1s", [][]Stay{{{0, 3 * s}}, {{1 * s, 2 * s}}, {{1*s + ms, 2 * s}}}},
		{"2:1s,2:1s", [][]Stay{{{0, 2 * s}}, {{ms, 2 * s}}}},
		{"1..4:2s:exp,4:1s", [][]Stay{{{0, 3 * s}}, {{1 * s, 3 * s}}, {{1584962501, 3 * s}}, {{2 * s, 3 * s}}}},
		{"3:1ms,3:1ms,3:1s", [][]Stay{{{0, s + 2*ms}}, {{ms, s + 2*ms}}, {{2 * ms, s + 2*ms}}}}, // the stages are shorter than it takes them to come
		{"3:1ms,1:1s", [][]Stay{{{0, s + ms}}, nil, nil}},                                       // each would come when it leaves
	} {
		u, err := ParseUsers(c.users)
		assert.NilError(t, err)
		assert.Equal(t, u.String(), c.users)
		assert.Equal(t, u.Most(), len(c.want))
		for k, want := range c.want {
			assert.DeepEqual(t, u.Stays(k, ms), want, cmpopts.EquateEmpty())
		}
		assert.Equal(t, len(u.Stays(len(c.want), ms)), 0)
	}
}

func TestParseUsersErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                      `stage "": want NUMBER:TIME or FROM..TO:TIME`,
		"3":                     `stage "3": want NUMBER:TIME or FROM..TO:TIME`,
		"1.5:1s":                "stage 1: 1.5:1s: want whole numbers of users from 0 to 1000000",
		"1..2.5:1s":             "stage 1: 1..2.5:1s: want whole numbers of users from 0 to 1000000",
		"-1:1s":                 "stage 1: -1:1s: want",
		"NaN:1s":                "stage 1: NaN:1s: want",
		"1:1s,2e6:1s":           "stage 2: 2e+06:1s: want",
		"1:0s":                  "stage 1: for 0s: want above 0",
		"0..4:1s:exp":           "stage 1: exponential ramp from rate 0 to 4: want both above 0",
		"1:1s,0:1s":             "stages: the last one has no user: want at least one",
		"1:2562000h,1:2562000h": "s in total: want at most",
	} {
		_, err := ParseUsers(text)
		assert.ErrorContains(t, err, want, text)
	}
	assert.ErrorContains(t, Users{}.Check(), "stages: none: want at least one")
}

// FuzzUsers checks that the users who are there at an instant of a stage are as many as the stage says, and that no user's
// stays overlap.
func FuzzUsers(f *testing.F) {
	for _, text := range []string{"1..64:30s,64:1m,64..1:30s", "0..3:1s,0:2s,3..2:7ns", "5..1:1h:exp,2:1s"} {
		f.Add(text, uint16(7))
	}
	f.Fuzz(func(t *testing.T, text string, at uint16) {
		u, err := ParseUsers(text)
		if err != nil || u.Most() > 300 || len(u) > 10 {
			return
		}
		again, err := ParseUsers(u.String())
		assert.NilError(t, err)
		assert.DeepEqual(t, again, u)
		begin := time.Duration(0)
		for _, g := range u {
			instant := begin + time.Duration(float64(g.For)*float64(at)/(1<<16))
			share := float64(instant-begin) / float64(g.For)
			number := g.Rate + share*(g.end()-g.Rate)
			if g.Ramp == Exponential {
				number = g.Rate * math.Pow(g.To/g.Rate, share)
			}
			begin += g.For
			there := 0
			for k := range u.Most() {
				last := time.Duration(-1)
				for _, s := range u.Stays(k, 0) {
					assert.Assert(t, last < s.From && s.From < s.To && s.To <= u.Duration(), "user %d of %v: %v", k, u, u.Stays(k, 0))
					if last = s.To; instant >= s.From && instant < s.To {
						there++
					}
				}
			}
			slack := 1e-6 + 2*math.Abs(g.end()-g.Rate)*float64(max(g.Rate, g.To))/float64(g.For) // of rounding to a nanosecond
			assert.Assert(t, slack > 0.5 || float64(there) >= math.Floor(number-slack)-1e-9 && float64(there) <= math.Floor(number+slack), "%d users of %v at %v: want %v", there, u, instant, number)
		}
	})
}
