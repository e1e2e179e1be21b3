package conn

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
)

// TestSplit checks that the runs of bytes with one timestamp are found, with few calls of stampAt.
func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		lengths   []int
		questions int // maximum number of calls of stampAt
	}{
		{[]int{1}, 2},
		{[]int{1000}, 2},
		{[]int{1, 1}, 2},
		{[]int{5, 1}, 6},
		{[]int{1, 5}, 6},
		{[]int{200, 200, 200, 200, 200}, 2 + 4*3},
		{[]int{203, 198, 205, 201, 199, 204, 202}, 2 + 6*7},
		{[]int{7, 300, 2, 7, 300, 2}, 2 + 5*13},
		{[]int{40000, 1}, 2 + 30},
	} {
		var stamps []int64 // timestamp of each byte
		var want []run
		for i, n := range tt.lengths {
			stamp := int64(100 + i)
			want = append(want, run{n: n, stamp: stamp})
			stamps = append(stamps, slices.Repeat([]int64{stamp}, n)...)
		}
		questions := 0
		got := split(nil, len(stamps), len(stamps)/len(tt.lengths), func(i int) int64 {
			questions++
			return stamps[i-1]
		})
		assert.Assert(t, slices.Equal(got, want), "split(%v) = %v", tt.lengths, got)
		assert.Assert(t, questions <= tt.questions, "split(%v) asks %d times, want at most %d", tt.lengths, questions, tt.questions)
	}
}

// TestSegmentsReadLate checks the timestamps of segments that had all arrived before the client read the
// first of them. A timestamp must be the arrival of its segment, unless the batch says that it has several
// segments. In that case, all of them must have arrived after the batch before.
func TestSegmentsReadLate(t *testing.T) {
	const n = 6
	exact := 0
	for _, size := range []int{1, 20, 100} {
		r, trace, server := begun(t)
		// This simulates a later time in the connection, when the kernel acknowledges several segments at
		// once. If a segment from this machine has not been acknowledged, the kernel joins no segment to
		// it.
		assert.NilError(t, trace.conn.kernel.raw.Control(func(fd uintptr) {
			assert.NilError(t, unix.SetsockoptInt(int(fd), unix.SOL_TCP, unix.TCP_QUICKACK, 0))
		}))
		var before, after [n]int64
		for i := range n {
			before[i] = WallClock()
			write(t, server, strings.Repeat(fmt.Sprint(i), size+i))
			after[i] = WallClock() // over loopback the bytes have arrived when write returns
		}
		for i := 0; i < n; {
			p := make([]byte, 1<<10)
			got, err := r.Read(p)
			assert.NilError(t, err)
			at, last := r.Data.Stamp, int(p[got-1]-'0')
			assert.Assert(t, r.Since <= trace.Clock.FromWall(after[i]), "text %d arrived since %v", i, r.Since)
			assert.Assert(t, at <= after[last], "text %d arrived %d ns after it had been written", last, at-after[last])
			if !r.Merged() {
				exact++
				assert.Assert(t, at >= before[last], "text %d arrived %d ns before it was written", last, before[last]-at)
				assert.Assert(t, last == i, "texts %d to %d have one timestamp", i, last)
			}
			i = last + 1
		}
	}
	t.Logf("%d of 18 segments had a timestamp of their own", exact)
}

// TestEndAfterSegments checks that a connection which has ended is read to its end.
func TestEndAfterSegments(t *testing.T) {
	r, trace, server := begun(t)
	write(t, server, "a", "b", "")
	assert.NilError(t, server.Close()) // the kernel counts the end as a byte
	got, err := io.ReadAll(r)
	assert.NilError(t, err)
	assert.Equal(t, string(got), "ab")
	n, err := trace.conn.Read(make([]byte, 8))
	assert.Assert(t, n == 0 && err == io.EOF, "Read = %d, %v", n, err)
}

// TestJoinedAfterLook checks a segment that is joined to an earlier one between the look and the read. The
// batch must count as several segments, and the bytes of the later segment, which are read next, must
// belong to the same batch. Otherwise the earlier bytes would be taken for the last bytes of their batch,
// which arrived at the instant of the timestamp.
func TestJoinedAfterLook(t *testing.T) {
	r, trace, server := begun(t)
	s := trace.conn.kernel
	arrive := func(text string) {
		write(t, server, text)
		runtest.Until(t, "the chunk has arrived", func() bool {
			n, _ := s.unread()
			return n == len("1\r\n"+text+"\r\n")
		})
	}
	arrive("a")
	assert.NilError(t, s.raw.Control(s.look))
	// This simulates that "a" arrived later, in one segment. On a busy machine, the kernel may have sent the
	// segment again, and count it twice.
	s.queue.runs, s.queue.several, s.queue.looked = []run{{n: len("1\r\na\r\n")}}, false, 1
	_, err := r.Read(make([]byte, 8))
	assert.NilError(t, err)
	assert.Assert(t, r.Merged() && r.Follows())
	number := r.Batch
	arrive("b")
	_, err = r.Read(make([]byte, 8))
	assert.NilError(t, err)
	assert.Equal(t, r.Batch, number)
}

// TestNothingJoined checks that bytes begin a new batch if the client had to wait for them, even after a
// read to which a later segment may have been joined.
func TestNothingJoined(t *testing.T) {
	b := batch{number: 1, open: true, several: true}
	b.read(piece{n: 1, waited: true})
	assert.Equal(t, b, batch{number: 2, waited: true})
}

// TestArrivalsDuringLook checks that no byte gets a timestamp before its arrival if a segment arrives
// during a look: after the clock was read, or between two calls of stampAt. The kernel joins such a segment
// to the last run.
func TestArrivalsDuringLook(t *testing.T) {
	const size = 10
	for _, own := range []int{1, 2, 5} { // segments with timestamps of their own
		for moment := range 40 { // number of calls of stampAt before another segment arrives
			for _, counted := range []bool{false, true} {
				stamps := slices.Repeat([]int64{0}, size*own) // timestamp of each byte
				for i := range stamps {
					stamps[i] = int64(100 + i/size)
				}
				segments := own
				join := func() {
					for i := size * (own - 1); i < len(stamps); i++ {
						stamps[i] = 1000
					}
				}
				if counted {
					segments++
					stamps = append(stamps, slices.Repeat([]int64{1000}, size)...)
				}
				arrived := slices.Clone(stamps)
				k := queue{looked: 900}
				questions := 0
				k.fill(len(stamps), segments, func(i int) int64 {
					if questions == moment {
						join()
					}
					questions++
					return stamps[i-1]
				})
				join()
				at := 0
				for _, r := range k.runs {
					stamp := r.stamp
					if stamp == 0 { // the reader uses the timestamp of the last byte
						stamp = stamps[at+r.n-1]
					}
					for range r.n {
						assert.Assert(t, stamp >= arrived[at], "%d segments, one more after %d questions: byte %d arrived at %d and has %d in %v", own, moment, at, arrived[at], stamp, k.runs)
						assert.Assert(t, stamp == arrived[at] || k.several || r.stamp == 0 && stamp > k.looked, "%d segments, one more after %d questions: %v passes for exact", own, moment, k.runs)
						at++
					}
				}
				assert.Equal(t, at, len(stamps), "%v", k.runs)
			}
		}
	}
}
