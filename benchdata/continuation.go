package benchdata

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// Continuation is the workload of study B in benchdata/published, which measured a grid of
// prompt and answer lengths. Each prompt has a block of a text and asks the model, in Chinese,
// to continue the text for a given number of characters. Models do not write exactly that
// number of characters, but they write more if they are asked for more. The study does not
// say which text it used.
type Continuation struct {
	// Path is a file of text in UTF-8. The file may be compressed by gzip or zstd.
	Path string
	// Chars is the length of a block in characters (Unicode code points). Line ends
	// and other white space count.
	Chars int
	// Ask is the number of characters that the prompt asks for.
	Ask int
	// Output limits every answer, in tokens.
	Output int
	// Salt, if not 0, replaces the first characters of each block by other characters of
	// the same block: see [Options].Salt.
	Salt uint64
	// Tokenizer counts the tokens of prompts; nil means [tokenizer.Words].
	Tokenizer llmbench.Tokenizer
}

// Requests returns requests for the first n blocks of the text, or fewer if the text has
// fewer whole blocks. It returns an error if n or a field is out of range, if the file cannot
// be read or is not UTF-8, or if the text is shorter than one block.
func (c Continuation) Requests(n int) ([]llmbench.Request, error) {
	return readFile("continuation", c.Path, func(s *source) ([]llmbench.Request, error) { return c.read(s, n) })
}

// Read is like Requests for a file that is read from r.
func (c Continuation) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	return readFrom("continuation", r, func(s *source) ([]llmbench.Request, error) { return c.read(s, n) })
}

func (c Continuation) read(s *source, n int) ([]llmbench.Request, error) {
	if n < 1 {
		return nil, fmt.Errorf("%d requests: want at least 1", n)
	}
	if c.Chars < 1 || c.Ask < 1 || c.Output < 1 {
		return nil, fmt.Errorf("fields Chars, Ask and Output are %d, %d and %d: want at least 1", c.Chars, c.Ask, c.Output)
	}
	tok := orWords(c.Tokenizer)
	salt := salter{salt: c.Salt, tok: tok, byRune: true}
	var requests []llmbench.Request
	text := bufio.NewReader(s)
	var block strings.Builder
	for offset, size := 0, 0; len(requests) < n; {
		char, width, err := text.ReadRune()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if char == utf8.RuneError && width == 1 {
			return nil, fmt.Errorf("byte %d is not UTF-8", offset)
		}
		offset += width
		block.WriteRune(char)
		if size++; size < c.Chars {
			continue
		}
		chars := block.String()
		if c.Salt != 0 {
			salted, err := salt.replace(chars)
			if err != nil {
				return nil, err
			}
			chars = salted.text
		}
		prompt := fmt.Sprintf("'''\n%s\n'''\n请仔细阅读以上三引号中的文字，然后接着往下续写，续写部分大约 %d 字。", chars, c.Ask)
		requests = append(requests, llmbench.Request{Prompt: prompt, MaxTokens: c.Output, PromptTokens: tok.Count(prompt)})
		block.Reset()
		size = 0
		s.record(text.Buffered())
	}
	if len(requests) == 0 {
		return nil, fmt.Errorf("the text has fewer than %d characters, the length of a block", c.Chars)
	}
	return requests, nil
}
