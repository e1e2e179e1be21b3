package store

import (
	"errors"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// onlyForChecks has the fields of an answer that a kept sample does not have.
var onlyForChecks = map[string]bool{"Vectors": true, "Scores": true}

// fill sets each field below v to a value other than its zero value.
func fill(t *testing.T, rng *rand.Rand, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(0, rng.Int64())))
	case v.Type() == reflect.TypeFor[error]():
		v.Set(reflect.ValueOf(errors.New("broken " + string(rune('a'+rng.IntN(26))))))
	case v.CanInt():
		v.SetInt(1 + rng.Int64()>>rng.IntN(63))
	case v.Kind() == reflect.String:
		v.SetString(strings.Repeat("é\x00\xff", 1+rng.IntN(9)) + string(rune('a'+rng.IntN(26))))
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, rng, v.Elem())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+rng.IntN(60), 60))
		for i := range v.Len() {
			fill(t, rng, v.Index(i))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if !onlyForChecks[v.Type().Field(i).Name] {
				fill(t, rng, v.Field(i))
			}
		}
	default:
		t.Fatalf("a field of type %v: the codec does not know such fields", v.Type())
	}
}

// filled returns n samples, some with and some without each field.
func filled(t *testing.T, n int) []sample.Sample {
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([]sample.Sample, n)
	for i := range all {
		v := reflect.ValueOf(&all[i]).Elem()
		if fill(t, rng, v); i%2 == 1 {
			for k := range v.NumField() {
				if rng.IntN(2) == 0 {
					v.Field(k).SetZero()
				}
			}
		}
	}
	return all
}

// sameError compares errors by their texts.
var sameError = cmp.Comparer(func(a, b error) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error())
})

// values returns the samples that seq yields.
func values(seq iter.Seq[*sample.Sample]) (all []sample.Sample) {
	for s := range seq {
		all = append(all, *s)
	}
	return all
}

// TestStore checks that samples are read as they were added, in memory or in a file, and that no file
// remains.
func TestStore(t *testing.T) {
	want := filled(t, 150)
	for _, bound := range []int{0, 10 << 10, 40 << 10, Bound} {
		dir := t.TempDir()
		s := New(bound, dir)
		assert.Equal(t, len(values(s.Between(0, s.End()))), 0)
		var middle Mark
		for i := range want {
			if i == 70 {
				middle = s.End()
			}
			assert.NilError(t, s.Add(&want[i]))
		}
		assert.Equal(t, s.file != nil, bound < Bound)
		if s.file != nil {
			held := 0
			for _, b := range s.blocks {
				held += len(b.data)
			}
			assert.Assert(t, held <= max(bound, leastBlock), "%d bytes in memory, %d allowed", held, bound)
		}
		for range 2 {
			assert.DeepEqual(t, values(s.Between(0, s.End())), want, sameError)
		}
		assert.DeepEqual(t, values(s.Between(0, middle)), want[:70], sameError)
		assert.DeepEqual(t, values(s.Between(middle, s.End())), want[70:], sameError)
		for one := range s.Between(middle, s.End()) {
			assert.DeepEqual(t, *one, want[70], sameError)
			break
		}
		assert.NilError(t, s.Err())
		assert.NilError(t, s.Close())
		assert.NilError(t, s.Close())
		if inFile := s.filed > 0; inFile {
			assert.Equal(t, len(values(s.Between(0, s.End()))), 0)
			assert.Error(t, s.Err(), "samples that were kept in a file: file already closed")
		} else {
			assert.Equal(t, len(values(s.Between(0, s.End()))), len(want))
			assert.NilError(t, s.Err())
		}
		left, err := os.ReadDir(dir)
		assert.NilError(t, err)
		assert.Equal(t, len(left), 0)
	}
}

// TestMemory checks that samples beyond the bound take no memory.
func TestMemory(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	one := sample.Sample{ID: "llmbench-12345678-123", Deltas: 128, Gaps: make([]time.Duration, 127), Lags: make([]time.Duration, 128), Outcome: sample.OK}
	for i := range one.Gaps {
		one.Gaps[i], one.Lags[i] = 5*time.Millisecond, 20*time.Microsecond
	}
	const bound, n = 1 << 20, 8000
	before := heap()
	s := New(bound, t.TempDir())
	for range n {
		assert.NilError(t, s.Add(&one))
	}
	grown := int64(heap()) - int64(before)
	assert.Assert(t, s.size > 5*bound, "%d bytes", s.size)
	assert.Assert(t, grown < 3*bound, "%d samples of %d bytes in all: the heap grew by %d", n, s.size, grown)
	got := 0
	for range s.Between(0, s.End()) {
		got++
	}
	assert.Equal(t, got, n)
	assert.NilError(t, s.Close())
}

// TestNoFile checks the errors if a file cannot be created, written or read.
func TestNoFile(t *testing.T) {
	one := filled(t, 1)[0]
	add := func(s *Store) (err error) {
		for range 100 {
			err = errors.Join(err, s.Add(&one))
		}
		return err
	}
	missing := New(0, filepath.Join(t.TempDir(), "missing"))
	assert.ErrorContains(t, add(missing), "samples beyond 0 bytes: open ")

	closed := New(0, t.TempDir())
	assert.NilError(t, add(closed))
	assert.NilError(t, closed.file.Close())
	assert.ErrorContains(t, add(closed), "samples beyond 0 bytes: write ")
	assert.Equal(t, len(values(closed.Between(0, closed.End()))), 0)
	assert.ErrorContains(t, closed.Err(), "samples that were kept in a file: read ")

	changed := New(0, t.TempDir())
	assert.NilError(t, add(changed))
	_, err := changed.file.WriteAt(make([]byte, 1<<10), 0)
	assert.NilError(t, err)
	values(changed.Between(0, changed.End()))
	assert.ErrorContains(t, changed.Err(), "the file is not as it was written")
	assert.NilError(t, changed.Close())
}

// FuzzDecode checks that any bytes are either an error, or a sample whose encoded form decodes to the same
// sample.
func FuzzDecode(f *testing.F) {
	var c codec
	f.Add([]byte{})
	f.Add(append([]byte{}, c.encode(&sample.Sample{ID: "a", Gaps: []time.Duration{1, 1 << 40}, Err: errors.New("b"), Answer: &sample.Answer{Text: "c"}})...))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := codec{reading: true, words: map[string]string{}}
		var s, again sample.Sample
		if read.decode(data, &s) != nil {
			return
		}
		var write codec
		assert.NilError(t, read.decode(write.encode(&s), &again))
		assert.DeepEqual(t, again, s, sameError)
	})
}
