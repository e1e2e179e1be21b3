package send

import (
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestSetInstants checks which clock a sample's instants are on.
func TestSetInstants(t *testing.T) {
	c := conn.NewClock(conn.WallClock)
	at := func(user, stamp time.Duration) conn.Arrival {
		return conn.Arrival{User: user, Stamp: c.Epoch().Add(stamp).UnixNano()}
	}
	none := func(user time.Duration) conn.Arrival { return conn.Arrival{User: user} }
	for _, tt := range []struct {
		name   string
		first  conn.Arrival
		deltas []conn.Arrival
		end    conn.Arrival
		want   sample.Sample
	}{
		{"all stamped", at(12, 10), []conn.Arrival{at(25, 20), at(31, 30), at(48, 40)}, at(60, 50), sample.Sample{
			Clock: sample.KernelClock, FirstByte: 10, FirstByteLag: 2, Deltas: 3, First: 20, Last: 40,
			Gaps: []time.Duration{10, 10}, Lags: []time.Duration{5, 1, 8}, End: 50, EndLag: 10,
		}},
		{"one delta", at(12, 10), []conn.Arrival{at(25, 20)}, at(60, 50), sample.Sample{
			Clock: sample.KernelClock, FirstByte: 10, FirstByteLag: 2, Deltas: 1, First: 20, Last: 20,
			Lags: []time.Duration{5}, End: 50, EndLag: 10,
		}},
		{"no delta", at(12, 10), nil, at(60, 50), sample.Sample{Clock: sample.KernelClock, FirstByte: 10, FirstByteLag: 2, End: 50, EndLag: 10}},
		{"an end without a stamp", at(12, 10), []conn.Arrival{at(25, 20)}, none(99), sample.Sample{
			Clock: sample.KernelClock, FirstByte: 10, FirstByteLag: 2, Deltas: 1, First: 20, Last: 20, Lags: []time.Duration{5}, End: 60,
		}},
		{"a delta without one", at(12, 10), []conn.Arrival{at(25, 20), none(31), at(48, 40)}, at(60, 50), sample.Sample{
			Clock: sample.UserClock, FirstByte: 12, Deltas: 3, First: 25, Last: 48, Gaps: []time.Duration{6, 17}, End: 60,
		}},
		{"a head without one", none(12), []conn.Arrival{at(25, 20), at(31, 30)}, at(60, 50), sample.Sample{
			Clock: sample.UserClock, FirstByte: 12, Deltas: 2, First: 25, Last: 31, Gaps: []time.Duration{6}, End: 60,
		}},
		{"a stamp after its read", at(12, 10), []conn.Arrival{at(25, 26+sample.ClockError)}, at(60, 50), sample.Sample{
			Clock: sample.UserClock, FirstByte: 12, Deltas: 1, First: 25, Last: 25, End: 60,
		}},
		{"a stamp before the send", at(12, -sample.ClockError), []conn.Arrival{at(25, 20)}, at(60, 50), sample.Sample{
			Clock: sample.UserClock, FirstByte: 12, Deltas: 1, First: 25, Last: 25, End: 60,
		}},
		{"no answer", conn.Arrival{}, nil, conn.Arrival{}, sample.Sample{Clock: sample.UserClock, End: 60}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Start = 2
			s := sample.Sample{Start: 2, End: 60}
			var deltas conn.Arrivals
			for _, d := range tt.deltas {
				deltas.Add(d)
			}
			setInstants(&s, c, tt.first, &deltas, nil, tt.end)
			assert.DeepEqual(t, s, tt.want)
			s.ToUserClock()
			for i, d := range tt.deltas {
				if i == 0 {
					assert.Equal(t, s.First, d.User)
				} else {
					assert.Equal(t, s.Gaps[i-1], d.User-tt.deltas[i-1].User)
				}
				assert.Equal(t, s.Last, tt.deltas[len(tt.deltas)-1].User)
			}
			assert.Equal(t, s.FirstByte, tt.first.User)
			assert.Equal(t, s.End, time.Duration(60))
		})
	}
}
