package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// pronoun matches a pronoun that is followed by "of". It stands for a noun that the reader must
// look for in the text before it.
var pronoun = regexp.MustCompile(`(?i)\b(?:that|those|these|the\s+ones?)\s+of\b`)

// maxPronouns is the largest accepted number of such pronouns in 1,000 words. In the comments of
// Go's standard library it is 0.3.
const maxPronouns = 0.8

// count returns the number of words in a text, and the offsets of such pronouns in it.
func count(text string) (words int, pronouns []int) {
	for _, at := range pronoun.FindAllStringIndex(text, -1) {
		pronouns = append(pronouns, at[0])
	}
	return len(strings.Fields(text)), pronouns
}

// TestWords checks how often comments and documents use a pronoun in place of a noun. With -v it
// prints the numbers and the places.
func TestWords(t *testing.T) {
	for kind, texts := range map[string]map[string][]string{"comments": comments(t), "documents": paragraphs(t)} {
		words, pronouns := 0, 0
		for file, all := range texts {
			for _, text := range all {
				n, found := count(text)
				words += n
				pronouns += len(found)
				for _, at := range found {
					t.Logf("%s: …%s…", file, strings.ReplaceAll(text[max(0, at-30):min(len(text), at+40)], "\n", " "))
				}
			}
		}
		rate := 1000 * float64(pronouns) / float64(words)
		t.Logf("%s: %d pronouns in place of nouns in %d words, %.2f in 1,000", kind, pronouns, words, rate)
		assert.Check(t, words > 10_000, "%d words of %s", words, kind)
		assert.Check(t, rate <= maxPronouns, "%s have %.2f pronouns in place of nouns in 1,000 words, such as %q; at most %.1f are allowed: name the noun",
			kind, rate, "that "+"of", maxPronouns)
	}
}

// TestCount checks which words count as such pronouns.
func TestCount(t *testing.T) {
	for text, want := range map[string]int{
		"its speed is that of the server":       1,
		"The ones\nof the others, and those of": 2,
		"one of them says that often":           0,
		"the one reason of many":                0,
	} {
		words, pronouns := count(text)
		assert.Equal(t, len(pronouns), want, text)
		assert.Equal(t, words, len(strings.Fields(text)))
	}
}

// comments returns the comments of every Go file by its path in the module.
func comments(t *testing.T) map[string][]string {
	texts := map[string][]string{}
	for _, file := range strings.Fields(git(t, "ls-files", "*.go")) {
		if slices.Contains(strings.Split(file, "/"), "testdata") || !exists(file) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ParseComments|parser.SkipObjectResolution)
		assert.NilError(t, err)
		for _, group := range parsed.Comments {
			if !strings.HasPrefix(group.List[0].Text, "//go:") {
				texts[file] = append(texts[file], text(group))
			}
		}
	}
	return texts
}

// text returns the words of a comment without the comment marks.
func text(group *ast.CommentGroup) string {
	var lines []string
	for _, c := range group.List {
		lines = append(lines, strings.Trim(c.Text, "/* \t"))
	}
	return strings.Join(lines, "\n")
}

// paragraphs returns the text of every document by its path in the module.
func paragraphs(t *testing.T) map[string][]string {
	texts := map[string][]string{}
	for file, text := range documents(t) {
		texts[file] = []string{text}
	}
	return texts
}
