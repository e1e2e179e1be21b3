package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"golang.org/x/text/unicode/norm"
)

// An hfFile has the parts of a tokenizer.json that this package reads. The format is the
// format of the Rust library tokenizers (https://huggingface.co/docs/tokenizers). The other
// parts (post-processor, decoder, truncation, padding) do not change the number of tokens of
// a text.
type hfFile struct {
	AddedTokens  []addedToken `json:"added_tokens"`
	Normalizer   *hfStep      `json:"normalizer"`
	PreTokenizer *hfStep      `json:"pre_tokenizer"`
	Model        *hfModel     `json:"model"`
}

// An hfModel is a byte-pair encoding.
type hfModel struct {
	Type             string           `json:"type"` // absent in older files
	Vocab            map[string]int32 `json:"vocab"`
	Merges           []hfMerge        `json:"merges"`
	Dropout          float64          `json:"dropout"`
	UnknownToken     *string          `json:"unk_token"`
	FuseUnknown      bool             `json:"fuse_unk"`
	ByteFallback     bool             `json:"byte_fallback"`
	IgnoreMerges     bool             `json:"ignore_merges"`
	ContinuingPrefix string           `json:"continuing_subword_prefix"`
	EndOfWordSuffix  string           `json:"end_of_word_suffix"`
}

// An hfStep is a normalizer or a pre-tokenizer. The comment of each field names the types that
// have the field.
type hfStep struct {
	Type          string   `json:"type"`
	Normalizers   []hfStep `json:"normalizers"`   // Sequence
	PreTokenizers []hfStep `json:"pretokenizers"` // Sequence
	Pattern       struct { // Split, Replace
		Regex  *string `json:"Regex"`
		String *string `json:"String"`
	} `json:"pattern"`
	Behavior         behavior `json:"behavior"`          // Split
	Invert           bool     `json:"invert"`            // Split
	AddPrefixSpace   *bool    `json:"add_prefix_space"`  // ByteLevel, older Metaspace
	UseRegex         *bool    `json:"use_regex"`         // ByteLevel
	IndividualDigits bool     `json:"individual_digits"` // Digits
	Replacement      string   `json:"replacement"`       // Metaspace
	PrependScheme    string   `json:"prepend_scheme"`    // Metaspace
	Split            *bool    `json:"split"`             // Metaspace
	Prepend          string   `json:"prepend"`           // Prepend
	Content          string   `json:"content"`           // Replace
}

// An hfMerge is a pair of strings to merge. Versions of the library before 0.20 write "a b";
// later versions write ["a", "b"].
type hfMerge [2]string

func (m *hfMerge) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		var pair []string
		if err := json.Unmarshal(data, &pair); err != nil {
			return err
		}
		if len(pair) != 2 {
			return fmt.Errorf("merge %s has %d strings, must have 2", data, len(pair))
		}
		*m = hfMerge(pair)
		return nil
	}
	var line string
	if err := json.Unmarshal(data, &line); err != nil {
		return err
	}
	left, right, ok := strings.Cut(line, " ")
	if !ok {
		return fmt.Errorf("merge %s has no space: want two strings with a space between", data)
	}
	*m = hfMerge{left, right}
	return nil
}

// model sets *m to the file's model.
func (f *hfFile) model(m *bpe) error {
	j := f.Model
	switch {
	case j == nil:
		return errors.New("is missing")
	case j.Type != "BPE" && (j.Type != "" || len(j.Merges) == 0):
		return fmt.Errorf("type is %q: want BPE", j.Type)
	case len(j.Vocab) == 0:
		return errors.New("vocab is empty")
	case j.Dropout != 0:
		return fmt.Errorf("dropout is %g: want 0: dropout makes the count random", j.Dropout)
	case j.ContinuingPrefix != "":
		return fmt.Errorf("continuing_subword_prefix is %q: want it empty", j.ContinuingPrefix)
	case j.EndOfWordSuffix != "":
		return fmt.Errorf("end_of_word_suffix is %q: want it empty", j.EndOfWordSuffix)
	case len(j.Merges) > math.MaxInt32:
		return fmt.Errorf("%d merges: want at most %d", len(j.Merges), math.MaxInt32)
	}
	var negative []string
	for token, id := range j.Vocab {
		if id < 0 {
			negative = append(negative, token)
		}
	}
	if len(negative) > 0 {
		token := slices.Min(negative)
		return fmt.Errorf("token %q has id %d: want 0 or more", token, j.Vocab[token])
	}

	merges, err := newMerges(j.Vocab, j.Merges)
	if err != nil {
		return err
	}
	*m = bpe{
		vocab:        j.Vocab,
		merges:       merges,
		unknown:      -1,
		fuseUnknown:  j.FuseUnknown,
		byteFallback: j.ByteFallback,
		ignoreMerges: j.IgnoreMerges,
	}
	if j.UnknownToken != nil {
		id, ok := j.Vocab[*j.UnknownToken]
		if !ok {
			return fmt.Errorf("unk_token is %q: want a token of the vocabulary", *j.UnknownToken)
		}
		m.unknown = id
	}
	for b := range m.bytes {
		m.bytes[b] = -1
		if id, ok := j.Vocab[fmt.Sprintf("<0x%02X>", b)]; ok {
			m.bytes[b] = id
		}
	}
	return nil
}

// newMerges returns the merges, keyed by the pair of tokens. pairs is in order of rank. Both
// strings of a pair, and their concatenation, must be in vocab.
func newMerges(vocab map[string]int32, pairs []hfMerge) (map[[2]int32]merged, error) {
	merges := make(map[[2]int32]merged, len(pairs))
	for rank, p := range pairs {
		a, okA := vocab[p[0]]
		b, okB := vocab[p[1]]
		ab, okAB := vocab[p[0]+p[1]]
		if !okA || !okB || !okAB {
			return nil, fmt.Errorf("merge %d is %q and %q: want both strings and their concatenation in the vocabulary", rank, p[0], p[1])
		}
		merges[[2]int32{a, b}] = merged{int32(rank), ab}
	}
	return merges, nil
}

// normalizers appends to list the normalizers that s describes. A nil s describes none.
func (s *hfStep) normalizers(list []normalizer) ([]normalizer, error) {
	if s == nil {
		return list, nil
	}
	switch s.Type {
	case "Sequence":
		for i := range s.Normalizers {
			var err error
			if list, err = s.Normalizers[i].normalizers(list); err != nil {
				return nil, err
			}
		}
		return list, nil
	case "NFC":
		return append(list, norm.NFC.String), nil
	case "NFD":
		return append(list, norm.NFD.String), nil
	case "NFKC":
		return append(list, norm.NFKC.String), nil
	case "NFKD":
		return append(list, norm.NFKD.String), nil
	case "Prepend":
		return append(list, func(text string) string {
			if text == "" {
				return text
			}
			return s.Prepend + text
		}), nil
	case "Replace":
		if s.Pattern.String == nil || *s.Pattern.String == "" {
			return nil, errors.New("part Replace has no String pattern, must have one")
		}
		return append(list, func(text string) string { return strings.ReplaceAll(text, *s.Pattern.String, s.Content) }), nil
	}
	return nil, fmt.Errorf("type is %q: want NFC, NFD, NFKC, NFKD, Prepend, Replace or Sequence", s.Type)
}

// splitters appends to list the splitters that s describes. A nil s describes none.
func (s *hfStep) splitters(list []splitter) ([]splitter, error) {
	if s == nil {
		return list, nil
	}
	switch s.Type {
	case "Sequence":
		for i := range s.PreTokenizers {
			var err error
			if list, err = s.PreTokenizers[i].splitters(list); err != nil {
				return nil, err
			}
		}
		return list, nil
	case "ByteLevel":
		b := byteLevel{prefixSpace: orTrue(s.AddPrefixSpace)}
		if orTrue(s.UseRegex) {
			words, err := newPattern(byteLevelPattern)
			if err != nil {
				return nil, err
			}
			b.words = patternSplit{words, isolated, false}
		}
		return append(list, b), nil
	case "Split":
		pattern, err := s.pattern()
		if err != nil {
			return nil, err
		}
		return append(list, patternSplit{pattern, s.Behavior, s.Invert}), nil
	case "Digits":
		return append(list, digits{s.IndividualDigits}), nil
	case "Metaspace":
		m, err := s.metaspace()
		return append(list, m), err
	}
	return nil, fmt.Errorf("type is %q: want ByteLevel, Digits, Metaspace, Split or Sequence", s.Type)
}

// pattern returns the pattern of a Split step.
func (s *hfStep) pattern() (pattern, error) {
	switch s.Behavior {
	case isolated, removed, mergedWithPrevious, mergedWithNext, contiguous:
	default:
		return pattern{}, fmt.Errorf("part Split has behavior %q: want Isolated, Removed, MergedWithPrevious, MergedWithNext or Contiguous", s.Behavior)
	}
	switch {
	case s.Pattern.Regex != nil:
		return newPattern(*s.Pattern.Regex)
	case s.Pattern.String != nil:
		return newPattern(regexp2.Escape(*s.Pattern.String))
	}
	return pattern{}, errors.New("part Split has no pattern, must have a Regex or a String")
}

// metaspace returns the splitter of a Metaspace step.
func (s *hfStep) metaspace() (metaspace, error) {
	space, size := utf8.DecodeRuneInString(s.Replacement)
	if size == 0 || size < len(s.Replacement) {
		return metaspace{}, fmt.Errorf("part Metaspace has replacement %q: want one character", s.Replacement)
	}
	scheme := s.PrependScheme
	switch {
	case scheme == "" && orTrue(s.AddPrefixSpace):
		scheme = "always"
	case scheme == "":
		scheme = "never"
	case scheme != "always" && scheme != "first" && scheme != "never":
		return metaspace{}, fmt.Errorf("part Metaspace has prepend_scheme %q: want always, first or never", scheme)
	}
	return metaspace{space, scheme, orTrue(s.Split)}, nil
}

// orTrue returns *b, or true if b is nil. In this format, missing booleans are true.
func orTrue(b *bool) bool { return b == nil || *b }
