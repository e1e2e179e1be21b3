package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestSplit runs the Rust library's examples of each behavior (SplitDelimiterBehavior in
// tokenizers/src/tokenizer/normalizer.rs), and splits of ByteLevel.
func TestSplit(t *testing.T) {
	split := func(behavior, invert string) string {
		return `{"type": "Split", "pattern": {"String": "-"}, "behavior": "` + behavior + `", "invert": ` + invert + `}`
	}
	tests := []struct {
		step, text string
		want       []string
	}{
		{split("Removed", "false"), "a-b--c", []string{"a", "b", "c"}},
		{split("Isolated", "false"), "a-b--c", []string{"a", "-", "b", "-", "-", "c"}},
		{split("MergedWithPrevious", "false"), "a-b--c", []string{"a-", "b-", "-", "c"}},
		{split("MergedWithNext", "false"), "a-b--c", []string{"a", "-b", "-", "-c"}},
		{split("Contiguous", "false"), "a-b--c", []string{"a", "-", "b", "--", "c"}},
		{split("Removed", "true"), "a-b--c", []string{"-", "-", "-"}},
		{split("Isolated", "false"), "--", []string{"-", "-"}},
		{`{"type": "Split", "pattern": {"String": "."}, "behavior": "Isolated"}`, "a.b", []string{"a", ".", "b"}},
		{`{"type": "Digits", "individual_digits": true}`, "a12b3", []string{"a", "1", "2", "b", "3"}},
		{`{"type": "Digits", "individual_digits": false}`, "a12b3", []string{"a", "12", "b", "3"}},
		{`{"type": "ByteLevel", "add_prefix_space": false}`, "Well there       dear, isn't it\n?",
			[]string{"Well", "Ġthere", "ĠĠĠĠĠĠ", "Ġdear", ",", "Ġisn", "'t", "Ġit", "Ċ", "?"}},
		{`{"type": "ByteLevel", "use_regex": false}`, "a é", []string{"ĠaĠÃ©"}},
		{`{"type": "Sequence", "pretokenizers": [{"type": "Digits"}, {"type": "ByteLevel", "add_prefix_space": true}]}`,
			"a1", []string{"Ġa", "Ġ1"}},
	}
	for _, tt := range tests {
		tok, err := ReadHuggingFace(strings.NewReader(`{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "pre_tokenizer": ` + tt.step + `}`))
		if err != nil {
			t.Fatalf("%s: %v", tt.step, err)
		}
		var got []string
		for i, p := range tok.pieces(tt.text, true) {
			got = append(got, p.text)
			if p.first != (i == 0) && tt.step != split("Removed", "true") {
				t.Errorf("%s: pieces(%q)[%d].first = %v", tt.step, tt.text, i, p.first)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: pieces(%q) = %q, want %q", tt.step, tt.text, got, tt.want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add(byteLevelPattern, uint8(0), false, trainingText)
	f.Add(qwen2Pattern, uint8(1), true, "a  b\n\n c")
	f.Add(`(a|a)*$`, uint8(2), false, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab")
	f.Add(`x*`, uint8(3), false, "axxb")
	f.Add(`(?=b)|é`, uint8(4), true, "abé")
	behaviors := []behavior{isolated, mergedWithPrevious, mergedWithNext, contiguous}
	f.Fuzz(func(t *testing.T, pattern string, behavior uint8, invert bool, text string) {
		if !utf8.ValidString(text) || len(text) > 1<<7 || len(pattern) > 1<<8 { // the time may be polynomial in len(text)
			return
		}
		re, err := newPattern(pattern)
		if err != nil {
			return
		}
		p := patternSplit{re, behaviors[int(behavior)%len(behaviors)], invert}
		spans := p.split(nil, span{text, true})
		var joined string
		for _, s := range spans {
			if s.text == "" || s.first != (joined == "") {
				t.Errorf("pattern %q splits %q into %+v", pattern, text, spans)
			}
			joined += s.text
		}
		if joined != text {
			t.Errorf("pattern %q splits %q into %+v, want spans that add up to the text", pattern, text, spans)
		}
	})
}
