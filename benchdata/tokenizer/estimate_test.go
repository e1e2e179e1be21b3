package tokenizer

import (
	"math"
	"strings"
	"testing"
)

func TestCalibrate(t *testing.T) {
	tests := []struct {
		points                      []Point
		perWord, overhead, residual float64
	}{
		{[]Point{{Words: 10, PromptTokens: 25}, {Words: 110, PromptTokens: 155}}, 1.3, 12, 0},
		{[]Point{{Text: "a b  c\n", PromptTokens: 3}, {Text: "d", PromptTokens: 1}}, 1, 0, 0},
		// By hand: mean words 2, tokens 4; slope (1*1+0+1*2)/2 = 1.5; line 2.5, 4, 5.5.
		{[]Point{{Words: 1, PromptTokens: 3}, {Words: 2, PromptTokens: 3}, {Words: 3, PromptTokens: 6}}, 1.5, 1, 1},
	}
	for _, tt := range tests {
		got, err := Calibrate(tt.points)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
		if err != nil || !near(got.PerWord, tt.perWord) || !near(got.Overhead, tt.overhead) || !near(got.Residual, tt.residual) {
			t.Errorf("Calibrate(%+v) = %+v, %v, want %g tokens a word, %g over, residual %g", tt.points, got, err, tt.perWord, tt.overhead, tt.residual)
		}
	}
}

func TestCalibrateErrors(t *testing.T) {
	tests := []struct {
		points []Point
		want   string
	}{
		{nil, "0 points have 0 different word counts: want at least 2"},
		{[]Point{{Words: 5, PromptTokens: 6}}, "1 points have 1 different"},
		{[]Point{{Words: 5, PromptTokens: 6}, {Words: 5, PromptTokens: 7}}, "2 points have 1 different"},
		{[]Point{{Words: 5, PromptTokens: 6}, {Words: 9, PromptTokens: 6}}, "0 tokens a word: want more than 0"},
		{[]Point{{Words: 5, PromptTokens: 9}, {Words: 9, PromptTokens: 5}}, "-1 tokens a word"},
		{[]Point{{Words: 5, PromptTokens: 6}, {PromptTokens: 6}}, "point 1 has 0 words"},
		{[]Point{{Text: "  ", PromptTokens: 6}}, "point 0 has 0 words"},
		{[]Point{{Words: -5, PromptTokens: 6}}, "point 0 has -5 words"},
		{[]Point{{Words: 5}}, "point 0 has 0 PromptTokens"},
		{[]Point{{Text: "a", Words: 1, PromptTokens: 6}}, "point 0 has both Text and Words (1)"},
	}
	for _, tt := range tests {
		if got, err := Calibrate(tt.points); err == nil || !strings.Contains(err.Error(), tt.want) || got != (Estimate{}) {
			t.Errorf("Calibrate(%+v) = %+v, %v, want an error with %q", tt.points, got, err, tt.want)
		}
	}
}

func TestEstimate(t *testing.T) {
	tests := []struct {
		e                          Estimate
		text                       string
		count, template, tolerance int
	}{
		{Estimate{}, "one two three", 3, 0, 0},
		{Estimate{PerWord: 1.3, Overhead: 11.6}, "one two three", 4, 12, 1},
		{Estimate{PerWord: 1.5, Overhead: -2}, "", 0, 0, 1},
		{Estimate{PerWord: 0.5}, "one two three", 2, 0, 0},
		{Estimate{PerWord: 3.2}, "one", 3, 0, 2},
	}
	for _, tt := range tests {
		if got := tt.e.Count(tt.text); got != tt.count {
			t.Errorf("%+v.Count(%q) = %d, want %d", tt.e, tt.text, got, tt.count)
		}
		if got := tt.e.Template(); got != tt.template {
			t.Errorf("%+v.Template() = %d, want %d", tt.e, got, tt.template)
		}
		if got := tt.e.Tolerance(); got != tt.tolerance {
			t.Errorf("%+v.Tolerance() = %d, want %d", tt.e, got, tt.tolerance)
		}
	}
}

func TestWords(t *testing.T) {
	random := []string{"", " ", "a", " a ", "a b", "a\u00a0b\u2003c", "a\xffb c", "\x85é\x85", "\u0085é\u0085x", "a\n\n\tb"}
	for _, text := range append(random, fragments...) {
		if got, want := (Words{}).Count(text), len(strings.Fields(text)); got != want {
			t.Errorf("Words{}.Count(%q) = %d, want %d", text, got, want)
		}
	}
}
