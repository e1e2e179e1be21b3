package frame

import (
	"slices"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// A spelling says how a JSON document differs from its most compact form.
type spelling struct {
	dumps         bool // spaces and \u escapes, as Python's json.dumps writes them
	twice         bool // each key with a string or a number comes twice, first with an empty value
	numberStrings bool // token counts are strings
}

func spellingOf(s shape.Shape) spelling { return spelling{s.Dumps, s.Twice, s.NumberStrings} }

// countKeys are the names of the fields with token counts in all dialects.
var countKeys = []string{
	"prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens", "cached_tokens",
	"reasoning_tokens", "generated_tokens", "input_length", "tokens_predicted", "tokens_evaluated", "tokens_cached",
	"cache_creation_input_tokens", "thinking_tokens", "cache_read_input_tokens", "promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount",
	"inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens",
	"prompt_eval_count", "eval_count", "cache_n", "prompt_n", "predicted_n",
}

// append appends the document src to dst in this spelling. Outside its strings, src must
// not have spaces. append also accepts a document that is incomplete or is not JSON, and
// changes only the parts that it recognizes.
func (sp spelling) append(dst, src []byte) []byte {
	key := "" // the key of the next value
	for i := 0; i < len(src); {
		end := i + 1
		switch c := src[i]; {
		case c == '"':
			end = stringEnd(src, i)
			if end < len(src) && src[end] == ':' { // a key
				key = string(src[i+1 : end-1])
				end++
				if sp.twice && end < len(src) {
					dst = sp.emptyTwin(dst, src[i:end], src[end])
				}
				dst = sp.key(dst, src[i:end])
				i = end
				continue
			}
			dst = sp.text(dst, src[i:end])
		case c == '-' || c >= '0' && c <= '9':
			for end < len(src) && slices.Contains([]byte("+-.eE0123456789"), src[end]) {
				end++
			}
			if sp.numberStrings && slices.Contains(countKeys, key) {
				dst = append(dst, '"')
				dst = append(dst, src[i:end]...)
				dst = append(dst, '"')
			} else {
				dst = append(dst, src[i:end]...)
			}
		case c == ',':
			dst = append(dst, ',')
			if sp.dumps {
				dst = append(dst, ' ')
			}
		default:
			dst = append(dst, c)
		}
		key = ""
		i = end
	}
	return dst
}

// emptyTwin appends a key with an empty value if the key's real value is a string or a
// number. first is the first byte of the real value.
func (sp spelling) emptyTwin(dst, key []byte, first byte) []byte {
	empty := ""
	switch {
	case first == '"':
		empty = `"",`
	case first == '-' || first >= '0' && first <= '9':
		empty = `0,`
	default:
		return dst
	}
	dst = sp.key(dst, key)
	dst = append(dst, empty...)
	if sp.dumps {
		dst = append(dst, ' ')
	}
	return dst
}

// key appends a key with its colon.
func (sp spelling) key(dst, key []byte) []byte {
	dst = sp.text(dst, key)
	if sp.dumps {
		dst = append(dst, ' ')
	}
	return dst
}

// text appends a string.
func (sp spelling) text(dst, s []byte) []byte {
	if !sp.dumps {
		return append(dst, s...)
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		switch {
		case n == 1: // ASCII or invalid
			dst = append(dst, s[i])
		case r < 1<<16:
			dst = appendEscape(dst, r)
		default:
			dst = appendEscape(dst, (r-0x10000)>>10+0xd800)
			dst = appendEscape(dst, (r-0x10000)&0x3ff+0xdc00)
		}
		i += n
	}
	return dst
}

// appendEscape appends the escape of a UTF-16 code unit.
func appendEscape(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// stringEnd returns the index after the end of the JSON string that begins at i.
func stringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
