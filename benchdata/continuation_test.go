package benchdata

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
)

func TestContinuation(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "text.txt")
	assert.NilError(t, os.WriteFile(file, []byte("\ufeff天地玄黄，\n宇宙洪荒。日月"), 0o666))
	c := Continuation{Path: file, Chars: 4, Ask: 100, Output: 9}
	requests, err := c.Requests(500)
	assert.NilError(t, err)
	assert.Equal(t, len(requests), 3) // the last block is incomplete and skipped
	for i, block := range []string{"天地玄黄", "，\n宇宙", "洪荒。日"} {
		r := requests[i]
		assert.Equal(t, r.Prompt, "'''\n"+block+"\n'''\n请仔细阅读以上三引号中的文字，然后接着往下续写，续写部分大约 100 字。")
		assert.Equal(t, r.MaxTokens, 9)
		assert.Assert(t, !r.FixedOutput)
		assert.Equal(t, r.PromptTokens, tokenizer.Words{}.Count(r.Prompt))
	}
	some, err := c.Requests(2)
	assert.NilError(t, err)
	assert.DeepEqual(t, some, requests[:2])

	long, err := Continuation{Chars: 1000, Ask: 1, Output: 1}.Read(strings.NewReader(strings.Repeat("字", maxRecord)), 16500)
	assert.NilError(t, err) // longer than the limit of a record
	assert.Equal(t, len(long), 16500)

	for text, want := range map[string]string{
		"天地玄":             "continuation: the text has fewer than 4 characters, the length of a block",
		"":                "continuation: the file is empty",
		"天地\xff玄黄":        "continuation: byte 6 is not UTF-8",
		"\xff\xfe\x29Y0W": "continuation: the file is UTF-16",
	} {
		_, err := c.Read(strings.NewReader(text), 1)
		assert.ErrorContains(t, err, want)
	}
	for _, c := range []Continuation{{Ask: 1, Output: 1}, {Chars: 1, Output: 1}, {Chars: 1, Ask: 1}} {
		_, err := c.Read(strings.NewReader("text"), 1)
		assert.ErrorContains(t, err, "want at least 1")
	}
	_, err = c.Requests(0)
	assert.ErrorContains(t, err, "0 requests")
	_, err = Continuation{Path: filepath.Dir(file), Chars: 1, Ask: 1, Output: 1}.Requests(1)
	assert.ErrorContains(t, err, "is a folder")
}

func FuzzContinuation(f *testing.F) {
	f.Add("天地玄黄，宇宙洪荒", 4, 2)
	f.Add("a\xffb", 1, 3)
	f.Fuzz(func(t *testing.T, text string, chars, n int) {
		requests, err := Continuation{Chars: chars, Ask: 1, Output: 1}.Read(strings.NewReader(text), n)
		if err != nil {
			return
		}
		var all strings.Builder
		for _, r := range requests {
			block, _, found := strings.Cut(strings.TrimPrefix(r.Prompt, "'''\n"), "\n'''\n请")
			if !found || utf8.RuneCountInString(block) < chars && !strings.Contains(text, "\n'''\n请") {
				t.Fatalf("a block of %d characters, want %d: %q", utf8.RuneCountInString(block), chars, r.Prompt)
			}
			all.WriteString(block)
		}
		if len(requests) > n || !strings.Contains(text, "\n'''\n请") && !strings.HasPrefix(text, "\x1f\x8b") && !strings.HasPrefix(text, "(\xb5/\xfd") &&
			!strings.HasPrefix(strings.TrimPrefix(text, "\ufeff"), all.String()) {
			t.Fatalf("%d blocks, want at most %d and the beginning of the text: %q", len(requests), n, all.String())
		}
	})
}
