package mockserver

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// Between the two parts of a split write there is a pause. The log has the time of the second part.
func TestSplitPause(t *testing.T) {
	for _, tt := range []struct {
		shape  string
		tokens []time.Duration
		first  string // the end of the first read that contains a part of the first token
	}{
		{"split-json", ms(25, 35, 45), ""},
		{"split-utf8", ms(25, 35, 45), " the\xc3"},
		{"split-utf8,split-pause=15ms", ms(35, 50, 65), " the\xc3"}, // the pause is longer than the time between tokens, so the next token is late
		{"split-json,events-per-write=2", ms(35, 35, 45), ""},
		{"split-json,split-pause=1ms,role-first", ms(21, 31, 41), ""},
	} {
		t.Run(tt.shape, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := inMemory(t, Config{TTFT: 20 * time.Millisecond, PerToken: 10 * time.Millisecond, Shape: shaped(t, tt.shape)})
				resp, err := r.post(t.Context(), chatPath, `{"messages":[{"content":"a"}],"max_tokens":3,"stream":true}`)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				var reads []time.Duration
				var all, atFirst string
				for b := make([]byte, 1<<16); ; {
					n, err := resp.Body.Read(b)
					if n > 0 {
						reads = append(reads, time.Since(r.Epoch()))
						all += string(b[:n])
					}
					if atFirst == "" && strings.Contains(all, " the\xc3") {
						atFirst = all
					}
					if err != nil {
						break
					}
				}
				e := r.only()
				if !slices.Equal(e.Tokens, tt.tokens) {
					t.Errorf("Log()[0].Tokens = %v, want %v", e.Tokens, tt.tokens)
				}
				pause := shaped(t, tt.shape).Pause()
				for _, at := range tt.tokens {
					if !slices.Contains(reads, at) || !slices.Contains(reads, at-pause) {
						t.Errorf("the client read at %v, want %v and %v before that", reads, at, pause)
					}
				}
				if !strings.HasSuffix(atFirst, tt.first) {
					t.Errorf("the client read %q first, want it to end with %q", atFirst, tt.first)
				}
			})
		})
	}
}

// Events that share a write are sent when the last of them is due.
func TestEventsPerWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inMemory(t, Config{TTFT: 20 * time.Millisecond, PerToken: 10 * time.Millisecond, Shape: shape.Shape{EventsPerWrite: 2, TokensPerChunk: 2}})
		got := r.arrivals(textPath, `{"prompt":"a","max_tokens":7,"stream":true}`)
		if want := ms(50, 50, 50, 50, 80, 80, 80); !slices.Equal(r.only().Tokens, want) {
			t.Errorf("Log()[0].Tokens = %v, want %v", r.only().Tokens, want)
		}
		var seen []time.Duration
		for _, a := range got {
			seen = append(seen, a.at)
		}
		if want := ms(50, 50, 80, 80, 80); !slices.Equal(seen, want) {
			t.Errorf("the client saw events at %v, want %v", seen, want)
		}
	})
}
