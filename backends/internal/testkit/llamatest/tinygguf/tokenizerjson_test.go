package tinygguf

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// TestTokenizerJSON checks that every token of the model occurs once in the file, with its id.
func TestTokenizerJSON(t *testing.T) {
	for _, test := range []struct {
		options    Options
		normalizer string
		splits     string // the type of the pre-tokenizer
		ignore     bool
	}{
		{Options{Vocab: 520}, `null`, "ByteLevel", false},
		{Options{Pre: PreQwen2, Vocab: 520}, `{"type":"NFC"}`, "Sequence", false},
		{Options{Pre: PreLlama3, Pairs: true, Vocab: 2560}, `null`, "Sequence", true},
	} {
		var b bytes.Buffer
		if err := TokenizerJSON(&b, test.options); err != nil {
			t.Fatal(err)
		}
		var f struct {
			Added []struct {
				ID      int
				Content string
			} `json:"added_tokens"`
			Normalizer   json.RawMessage
			PreTokenizer struct{ Type string } `json:"pre_tokenizer"`
			Model        struct {
				Vocab        map[string]int
				Merges       [][2]string
				IgnoreMerges bool `json:"ignore_merges"`
			}
		}
		if err := json.Unmarshal(b.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		_, v, _, err := start(test.options)
		if err != nil {
			t.Fatal(err)
		}
		tokens := make([]string, test.options.Vocab)
		for token, id := range f.Model.Vocab {
			tokens[id] += token
		}
		for _, a := range f.Added {
			tokens[a.ID] += a.Content
		}
		for id, token := range tokens {
			if token != v.tokens[id] {
				t.Errorf("%+v: token %d is %q, want %q", test.options, id, token, v.tokens[id])
			}
		}
		if len(f.Model.Merges) != len(v.merges) {
			t.Errorf("%+v: %d merges, want %d", test.options, len(f.Model.Merges), len(v.merges))
		}
		for i, m := range f.Model.Merges {
			if got := strings.Join(m[:], " "); got != v.merges[i] {
				t.Errorf("%+v: merge %d is %q, want %q", test.options, i, got, v.merges[i])
			}
		}
		if string(f.Normalizer) != test.normalizer || f.PreTokenizer.Type != test.splits || f.Model.IgnoreMerges != test.ignore {
			t.Errorf("%+v: normalizer %s, pre-tokenizer %s, ignore_merges %t; want %s, %s, %t", test.options,
				f.Normalizer, f.PreTokenizer.Type, f.Model.IgnoreMerges, test.normalizer, test.splits, test.ignore)
		}
	}
}

func TestTokenizerJSONError(t *testing.T) {
	var b bytes.Buffer
	if err := TokenizerJSON(&b, Options{Pre: "tekken"}); err == nil || b.Len() > 0 {
		t.Errorf(`TokenizerJSON(w, Options{Pre: "tekken"}) = %v after %d bytes, want an error before the first`, err, b.Len())
	}
	full := errors.New("disk full")
	err := TokenizerJSON(writerFunc(func([]byte) (int, error) { return 0, full }), Options{Vocab: 520})
	if !errors.Is(err, full) {
		t.Errorf("TokenizerJSON to a full disk = %v, want %v", err, full)
	}
}
