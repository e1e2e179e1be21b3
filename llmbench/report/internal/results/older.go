package results

import (
	"regexp"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// older holds the notes that older releases logged, in no fixed form. Each entry has the beginning
// of the whole text. Notes that put nothing in doubt are left out, because an unknown text causes
// no doubt either.
var older = []struct {
	kind  string
	begin *regexp.Regexp
}{
	{records.NoteClient, regexp.MustCompile(`^(shard \d+[^:]*: )?the client may distort these figures by more than [\d.]+%: `)},
	{records.NoteBursts, regexp.MustCompile(`^answers come in bursts: .*: something between buffers the stream`)},
	{records.NoteRate, regexp.MustCompile(`^pass \d+: [\d.e+]+ requests per second were asked for, and [\d.e+]+ sent$`)},
	{records.NoteRecorder, regexp.MustCompile(`^pass \d+: requests waited \S+ in sum for their records, `)},
	{records.NoteLengths, regexp.MustCompile(`^answers are shorter than asked: mean [\d.e+]+ of [\d.e+]+ output tokens; `)},
	{records.NoteCache, regexp.MustCompile(`^the server took [\d.e+]+% of the prompts' tokens from its cache, `)},
}

// oldNote recognizes a note of an older release. It returns the note, which is about the known
// units that the text names. A note about a cache is about the TTFT.
func oldNote(text string, known []string) (n records.Note, ok bool) {
	for _, o := range older {
		if !o.begin.MatchString(text) {
			continue
		}
		n = records.Note{Kind: o.kind, Doubt: true, Text: text}
		words := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" ,:;()\n\t", c) })
		for _, u := range known {
			named := slices.Contains(words, u) || o.kind == records.NoteCache && strings.Contains(u, "-ttft-")
			if named && !slices.Contains(n.Units, u) {
				n.Units = append(n.Units, u)
			}
		}
		return n, true
	}
	return n, false
}
