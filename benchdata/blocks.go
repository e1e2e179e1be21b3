package benchdata

import "strings"

// blocks makes prompts of named blocks. Blocks with equal names have equal text of
// exactly size tokens. Prompts whose first names are equal begin with equal text,
// which a server's prefix cache finds.
//
// A block is random words, seeded by its name. Tokenizers may count the first word
// of a text differently, so that the text of a block depends on whether it is the
// first of its prompt. The length of several blocks is the sum of their lengths only
// for a tokenizer that does not merge across the space between words; the tokenizers
// of all models in use are such. The last block of a prompt is fitted to the whole
// prompt, so that the length of the prompt is exact for every tokenizer.
type blocks struct {
	fit   *fitter
	size  int // tokens of a block
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

// prompt returns a text with that number of tokens. It begins with the named blocks
// and continues with the i-th text of rest, which no other prompt has. If the names
// cover more than the text, the text ends with the beginning of a block.
func (b *blocks) prompt(names []uint64, tokens int, rest *distinctTexts, i int) (string, error) {
	whole := min(len(names), (tokens-1)/b.size) // blocks before the end of the text
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

// end returns head, which consists of that number of whole blocks, followed by the
// text that write makes, with that number of tokens in total. It first fits the end
// without head, because counting the whole text in each step takes longer.
func (b *blocks) end(head string, blocks, tokens int, write func(head string, tokens int) (string, error)) (string, error) {
	if blocks > 0 {
		end, err := write(anchor, b.fit.tok.Count(anchor)+tokens-blocks*b.size)
		if whole := head + strings.TrimPrefix(end, anchor); err == nil && abs(b.fit.tok.Count(whole)-tokens) <= b.fit.slack {
			return whole, tokenizerError(b.fit.tok)
		}
	}
	return write(head, tokens)
}

// anchor is the word before a block while the block is fitted, unless the block is
// the first of its prompt.
var anchor = wordList[0]

// block returns the text of a whole block. The text begins with a space unless the
// block is the first of its prompt.
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
