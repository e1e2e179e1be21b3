package benchdata

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Continuation is the workload of a length grid (study B of benchdata/published):
// blocks of a text, each with the wish, in Chinese, that the model go on with it
// for so many characters. Models do not keep to that number, but what they write
// depends on it. The study names no text; any will do.
type Continuation struct {
	// Path is a file of text in UTF-8; it may be compressed by gzip or zstd.
	Path string
	// Chars is the length of a block in characters (Unicode code points). White
	// space at the ends of lines counts like any other.
	Chars int
	// Ask is how many characters the model is asked for.
	Ask int
	// Output limits every answer, in tokens.
	Output int
	// Tokenizer counts the tokens of prompts; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// Requests returns the text's first n blocks as requests, or fewer when the text
// ends before; what is left after the last whole block is not used. It returns an
// error when n or a field is out of range, when the file cannot be read or is not
// UTF-8, and when it has no whole block.
func (c Continuation) Requests(n int) ([]llmbench.Request, error) {
	return readFile("continuation", c.Path, func(s *source) ([]llmbench.Request, error) { return c.read(s, n) })
}

// Read is Requests for a file that is read from r.
func (c Continuation) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	return readFrom("continuation", r, func(s *source) ([]llmbench.Request, error) { return c.read(s, n) })
}

func (c Continuation) read(s *source, n int) ([]llmbench.Request, error) {
	if n < 1 {
		return nil, fmt.Errorf("%d requests, must be at least 1", n)
	}
	if c.Chars < 1 || c.Ask < 1 || c.Output < 1 {
		return nil, fmt.Errorf("fields Chars, Ask and Output are %d, %d and %d, must be at least 1", c.Chars, c.Ask, c.Output)
	}
	tok := orWords(c.Tokenizer)
	var requests []llmbench.Request
	text := bufio.NewReader(s)
	var block strings.Builder
	for at, size := 0, 0; len(requests) < n; {
		char, width, err := text.ReadRune()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if char == utf8.RuneError && width == 1 {
			return nil, fmt.Errorf("byte %d is not UTF-8", at)
		}
		at += width
		block.WriteRune(char)
		if size++; size < c.Chars {
			continue
		}
		prompt := fmt.Sprintf("'''\n%s\n'''\n请仔细阅读以上三引号中的文字，然后接着往下续写，续写部分大约 %d 字。", block.String(), c.Ask)
		requests = append(requests, llmbench.Request{Prompt: prompt, MaxTokens: c.Output, PromptTokens: tok.Count(prompt)})
		block.Reset()
		size = 0
		s.record(text.Buffered())
	}
	if len(requests) == 0 {
		return nil, fmt.Errorf("fewer than %d characters: not one block", c.Chars)
	}
	return requests, nil
}
