package llmbench

import (
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestClockMapsTheWallClock checks the mapping on a clock that is exact, and that
// a wall clock which was set is noticed.
func TestClockMapsTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var set time.Duration
		c := newClock(func() int64 { return wallClock() + int64(set) })
		began := wallClock()
		assert.Equal(t, c.epoch().UnixNano(), began)
		time.Sleep(3 * time.Second)
		assert.Equal(t, c.now(), 3*time.Second)
		assert.Equal(t, c.at(wallClock()), 3*time.Second)
		for _, tt := range []struct{ set, want time.Duration }{
			{0, 0}, {sample.ClockError / 2, 0}, {-sample.ClockError / 2, 0},
			{time.Second, time.Second}, {-time.Hour, -time.Hour}, {sample.ClockError, sample.ClockError},
		} {
			set = tt.set
			assert.Equal(t, c.set(), tt.want, "set by %v", tt.set)
		}
	})
}

// TestSettle checks on which clock a sample's instants are.
func TestSettle(t *testing.T) {
	c := clock{zero: 1e18}
	at := func(user, stamp time.Duration) read { return read{user, 1e18 + int64(stamp)} }
	none := func(user time.Duration) read { return read{user: user} }
	for _, tt := range []struct {
		name   string
		first  read
		deltas []read
		end    read
		want   sample.Sample
	}{
		{"all stamped", at(12, 10), []read{at(25, 20), at(31, 30), at(48, 40)}, at(60, 50), sample.Sample{
			Clock: sample.KernelClock, FirstByte: 10, FirstByteLag: 2, Deltas: 3, First: 20, Last: 40,
			Gaps: []time.Duration{10, 10}, Lags: []time.Duration{5, 1, 8}, End: 50, EndLag: 10,
		}},
		{"one delta", at(12, 10), []read{at(25, 20)}, at(60, 50), sample.Sample{
			Clock: sample.KernelClock, FirstByte: 10, FirstByteLag: 2, Deltas: 1, First: 20, Last: 20,
			Lags: []time.Duration{5}, End: 50, EndLag: 10,
		}},
		{"no delta", at(12, 10), nil, at(60, 50), sample.Sample{Clock: sample.KernelClock, FirstByte: 10, FirstByteLag: 2, End: 50, EndLag: 10}},
		{"an end without a stamp", at(12, 10), []read{at(25, 20)}, none(99), sample.Sample{
			Clock: sample.KernelClock, FirstByte: 10, FirstByteLag: 2, Deltas: 1, First: 20, Last: 20, Lags: []time.Duration{5}, End: 60,
		}},
		{"a delta without one", at(12, 10), []read{at(25, 20), none(31), at(48, 40)}, at(60, 50), sample.Sample{
			Clock: sample.UserClock, FirstByte: 12, Deltas: 3, First: 25, Last: 48, Gaps: []time.Duration{6, 17}, End: 60,
		}},
		{"a head without one", none(12), []read{at(25, 20), at(31, 30)}, at(60, 50), sample.Sample{
			Clock: sample.UserClock, FirstByte: 12, Deltas: 2, First: 25, Last: 31, Gaps: []time.Duration{6}, End: 60,
		}},
		{"a stamp after its read", at(12, 10), []read{at(25, 26+sample.ClockError)}, at(60, 50), sample.Sample{
			Clock: sample.UserClock, FirstByte: 12, Deltas: 1, First: 25, Last: 25, End: 60,
		}},
		{"a stamp before the send", at(12, -sample.ClockError), []read{at(25, 20)}, at(60, 50), sample.Sample{
			Clock: sample.UserClock, FirstByte: 12, Deltas: 1, First: 25, Last: 25, End: 60,
		}},
		{"no answer", read{}, nil, read{}, sample.Sample{Clock: sample.UserClock, End: 60}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Start = 2
			s := sample.Sample{Start: 2, End: 60}
			settle(&s, c, tt.first, tt.deltas, tt.end)
			assert.DeepEqual(t, s, tt.want)
			s.ToUserClock()
			for i, d := range tt.deltas {
				if i == 0 {
					assert.Equal(t, s.First, d.user)
				} else {
					assert.Equal(t, s.Gaps[i-1], d.user-tt.deltas[i-1].user)
				}
				assert.Equal(t, s.Last, tt.deltas[len(tt.deltas)-1].user)
			}
			assert.Equal(t, s.FirstByte, tt.first.user)
			assert.Equal(t, s.End, time.Duration(60))
		})
	}
}
