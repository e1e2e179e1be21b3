package records

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const followHead = `{"version":2,"benchmark":"BenchmarkA","dialect":"openai-chat","stream":true,"concurrency":2,"start":"2026-01-02T03:04:05Z","host":{"go":"go1.26"},"ends":true}` + "\n"

// A follower writes files, and collects what a Follower reads from them.
type follower struct {
	t    *testing.T
	path string
	f    *Follower
	ends []int64 // ends of the requests, in ns
}

func newFollower(t *testing.T) *follower {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	return &follower{t: t, path: path, f: Follow(path)}
}

func (f *follower) append(text string) {
	f.t.Helper()
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	assert.NilError(f.t, err)
	_, err = file.WriteString(text)
	assert.NilError(f.t, errors.Join(err, file.Close()))
}

func (f *follower) next(most int64) (int64, error) {
	return f.f.Next(most, func(q *Request) { f.ends = append(f.ends, int64(q.End)) })
}

func ended(at string) string {
	return `{"id":"a","due_ns":0,"start_ns":0,"end_ns":` + at + `,"outcome":"http","status":500,"in_flight":2}` + "\n"
}

// TestFollow reads a file that appears, grows within lines, ends, is truncated, and is replaced.
func TestFollow(t *testing.T) {
	f := newFollower(t)
	_, err := f.next(1 << 20)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	f.append(followHead[:20])
	left, err := f.next(1 << 20)
	assert.NilError(t, err)
	assert.Equal(t, left, int64(20))
	assert.Assert(t, f.f.Head() == nil)
	f.append(followHead[20:] + ended("10") + ended("20")[:30])
	left, err = f.next(1 << 20)
	assert.NilError(t, err)
	assert.Equal(t, left, int64(30))
	assert.Equal(t, f.f.Head().Benchmark, "BenchmarkA")
	assert.DeepEqual(t, f.ends, []int64{10})
	f.append(ended("20")[30:] + `{"end":{"outcome":"ok"}}` + "\n")
	left, err = f.next(1 << 20)
	assert.NilError(t, err)
	assert.Equal(t, left, int64(0))
	assert.DeepEqual(t, f.ends, []int64{10, 20})
	assert.Equal(t, f.f.End().Outcome, EndedOK)
	f.append(ended("30"))
	_, err = f.next(1 << 20)
	assert.ErrorIs(t, err, errAfter)
	assert.Assert(t, strings.HasPrefix(err.Error(), f.path+":5: "), err)

	assert.NilError(t, os.Truncate(f.path, 10)) // cut in place
	_, err = f.next(1 << 20)
	assert.ErrorIs(t, err, ErrReplaced)
	assert.NilError(t, os.Rename(f.path, f.path+".old")) // and replaced
	f.append(followHead + ended("40"))
	_, err = f.next(1 << 20)
	if errors.Is(err, ErrReplaced) { // by the same or another file
		_, err = f.next(1 << 20)
	}
	assert.NilError(t, err)
	assert.DeepEqual(t, f.ends, []int64{10, 20, 40})
}

// TestFollowInParts reads a file a few bytes at a time, with blocks shorter than its lines.
func TestFollowInParts(t *testing.T) {
	size, line := blockSize, maxLine
	blockSize, maxLine = 64, 1024
	defer func() { blockSize, maxLine = size, line }()
	f := newFollower(t)
	f.append(followHead)
	var want []int64
	for i := range 50 {
		f.append(ended(string(rune('1' + i%9))))
		want = append(want, int64(1+i%9))
	}
	for reads := 0; ; reads++ {
		left, err := f.next(10)
		assert.NilError(t, err)
		if left == 0 {
			break
		}
		assert.Assert(t, reads < 100)
	}
	assert.DeepEqual(t, f.ends, want)
	f.append(strings.Repeat("x", 5000))
	_, err := f.next(1 << 20)
	assert.ErrorContains(t, err, "a line of more than 1024 bytes")
}

// TestFollowInFlight checks the number of requests in flight.
func TestFollowInFlight(t *testing.T) {
	f := newFollower(t)
	f.append(followHead + ended("10") + strings.Replace(ended("20"), `,"in_flight":2`, "", 1))
	var got []int32
	_, err := f.f.Next(1<<20, func(q *Request) { got = append(got, q.InFlight) })
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []int32{2, 0})
}

// FuzzFollow checks that a Follower reads the same as Read, no matter how much of the file exists at each
// call.
func FuzzFollow(f *testing.F) {
	f.Add(followHead+ended("10")+ended("20")+`{"end":{"outcome":"ok"}}`+"\n", 200, 30)
	f.Add(followHead+ended("10")+"{}\n", 10, 300)
	f.Add(followHead+ended("10")+strings.Replace(ended("20"), "{", `{"pass":2,`, 1), 1, 1)
	f.Fuzz(func(t *testing.T, text string, cut, most int) {
		path := filepath.Join(t.TempDir(), "a.jsonl")
		follower := Follow(path)
		var got []int64
		var failed error
		cut = min(max(0, cut), len(text))
		for _, part := range []string{text[:cut], text} {
			assert.NilError(t, os.WriteFile(path, []byte(part), 0o600))
			for range 1 + len(text)/64 {
				left, err := follower.Next(int64(max(64, most)), func(q *Request) { got = append(got, int64(q.End)) })
				if failed = err; err != nil || left == 0 {
					break
				}
			}
		}
		run, err := Read(strings.NewReader(text), path)
		if err != nil || run.Cut || !strings.HasSuffix(text, "\n") {
			return // a Follower waits for the end of the last line
		}
		assert.NilError(t, failed)
		var want []int64
		for q := range run.All() {
			want = append(want, int64(q.End))
		}
		assert.Assert(t, slices.Equal(got, want), "%v, want %v", got, want)
		assert.Equal(t, follower.End() != nil, run.End != nil)
	})
}
