package records

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"time"
)

// gaps holds times of a request in nanoseconds. It uses four bytes for each time if all are below 4.29 s.
type gaps struct {
	short []uint32
	long  []int64 // used instead of short if a time is too long
}

func (g *gaps) len() int { return len(g.short) + len(g.long) }

func (g *gaps) all() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for _, v := range g.short {
			if !yield(time.Duration(v)) {
				return
			}
		}
		for _, v := range g.long {
			if !yield(time.Duration(v)) {
				return
			}
		}
	}
}

// sum returns the sum of the times. If the sum is above longest, it returns some number above longest.
func (g *gaps) sum() (sum int64) {
	for d := range g.all() {
		if sum += int64(d); sum > int64(longest) {
			return sum
		}
	}
	return sum
}

// most returns the largest time if it is at least 4.29 s, and 0 otherwise.
func (g *gaps) most() time.Duration {
	if len(g.long) == 0 {
		return 0
	}
	return time.Duration(slices.Max(g.long))
}

var errGaps = errors.New("gaps_ns or read_lags_ns: want an array of whole nanoseconds, none negative")

// read sets g to a JSON array of integers. It does not use a JSON package, because files consist mostly of
// such arrays.
func (g *gaps) read(text []byte) error {
	if len(text) < 2 || text[0] != '[' {
		return errGaps
	}
	n := 1
	for _, c := range text {
		if c == ',' {
			n++
		}
	}
	short := make([]uint32, 0, n)
	for i := 1; i < len(text); {
		c := text[i]
		switch {
		case c == ',' || c == ' ' || c == '\t' || c == ']' || c == '\r' || c == '\n': // the text is valid JSON
			i++
			continue
		case c < '0' || c > '9':
			return errGaps
		}
		from := i
		var v uint64
		for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
			v = v*10 + uint64(text[i]-'0')
		}
		if i-from > 18 {
			if _, err := strconv.ParseInt(string(text[from:i]), 10, 64); err != nil {
				return fmt.Errorf("gaps_ns or read_lags_ns: %w", err)
			}
		}
		if i < len(text) && text[i] != ',' && text[i] != ']' && text[i] > ' ' {
			return errGaps
		}
		switch {
		case g.long != nil:
			g.long = append(g.long, int64(v))
		case v > math.MaxUint32:
			g.long = make([]int64, 0, n)
			for _, s := range short {
				g.long = append(g.long, int64(s))
			}
			g.long = append(g.long, int64(v))
			short = nil
		default:
			short = append(short, uint32(v))
		}
	}
	g.short = short
	return nil
}
