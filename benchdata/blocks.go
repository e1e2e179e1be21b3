package benchdata

import "strings"

// blocks makes prompts that consist of named blocks. Blocks with the same name have the same
// text, of exactly size tokens. Prompts with the same first names begin with the same text,
// which a server's prefix cache can find.
//
// A block is random words, seeded by the block's name. Tokenizers may count the first word
// of a prompt differently. So a block has another text if it is the first block of its
// prompt.
//
// The lengths of blocks add up only if the tokenizer does not merge across the space between
// words. This is true for the tokenizers of all models in use. For other tokenizers, the last
// block is fitted to the whole prompt, so that the length of the prompt is exact.
type blocks struct {
	fit   *fitter
	size  int // number of tokens in a block
	seed  uint64
	texts map[blockName]string // cache
}

type blockName struct {
	name  uint64
	first bool // the block is the first of its prompt
}

// maxBlocks limits the cached texts. A text of 512 tokens has about 3 KiB.
const maxBlocks = 1 << 14

func newBlocks(fit *fitter, size int, seed uint64) *blocks {
	return &blocks{fit, size, seed, map[blockName]string{}}
}

// prompt returns a text with the given number of tokens. It begins with the named blocks
// and continues with text i of rest, which no other prompt has. If the named blocks are
// longer than the text, the text ends within a block.
func (b *blocks) prompt(names []uint64, tokens int, rest *distinctTexts, i int) (string, error) {
	whole := min(len(names), (tokens-1)/b.size) // number of whole blocks at the beginning
	var text strings.Builder
	for k, name := range names[:whole] {
		block, err := b.block(blockName{name, k == 0})
		if err != nil {
			return "", err
		}
		text.WriteString(block)
	}
	if whole == len(names) {
		return b.end(text.String(), whole, tokens, func(head string, tokens int) (string, error) { return rest.text(b.fit, head, i, tokens) })
	}
	return b.end(text.String(), whole, tokens, func(head string, tokens int) (string, error) {
		return b.fit.text(head, nil, tokens, seeded(b.seed, names[whole]))
	})
}

// end returns head followed by a text from write, with the given number of tokens in total.
// head consists of the given number of whole blocks. end first fits the new text without
// head, because it takes longer to count the tokens of the whole text in each step.
func (b *blocks) end(head string, blocks, tokens int, write func(head string, tokens int) (string, error)) (string, error) {
	if blocks > 0 {
		end, err := write(anchor, b.fit.tok.Count(anchor)+tokens-blocks*b.size)
		if whole := head + strings.TrimPrefix(end, anchor); err == nil && abs(b.fit.tok.Count(whole)-tokens) <= b.fit.slack {
			return whole, tokenizerError(b.fit.tok)
		}
	}
	return write(head, tokens)
}

// anchor is a word that stands before a block while the block is fitted. The first block of a
// prompt is fitted without it.
var anchor = wordList[0]

// block returns the text of a whole block. The text begins with a space, unless the block is
// the first block of its prompt.
func (b *blocks) block(n blockName) (string, error) {
	if text, ok := b.texts[n]; ok {
		return text, nil
	}
	random := seeded(b.seed, n.name)
	var text string
	var err error
	if n.first {
		text, err = b.fit.text("", nil, b.size, random)
	} else {
		text, err = b.fit.text(anchor, nil, b.fit.tok.Count(anchor)+b.size, random)
		text = strings.TrimPrefix(text, anchor)
	}
	if err != nil {
		return "", err
	}
	if len(b.texts) >= maxBlocks {
		clear(b.texts)
	}
	b.texts[n] = text
	return text, nil
}
