package benchdata

import "strings"

// blocks writes prompts of blocks that have names: equal names are equal text,
// of exactly size tokens, so that prompts whose first names are equal begin
// alike, and a server's prefix cache finds them.
//
// A block is made of random words, seeded by its name, so two names have two
// texts. Its words are fitted after another word, or at the beginning of a
// prompt, as a tokenizer may count a first word otherwise. That blocks one
// after another count as much as each by itself takes a tokenizer that merges
// nothing across the space between words, as those of all models in use do;
// the last block of a prompt is fitted to the whole of it, so that the length
// of the prompt is exact in any case.
type blocks struct {
	fit   *fitter
	size  int
	seed  uint64
	texts map[blockName]string // of some of those that were written before
}

type blockName struct {
	name  uint64
	first bool // of its prompt
}

// maxBlocks is how many texts are kept; some 3 KiB each, of 512 tokens.
const maxBlocks = 1 << 14

func newBlocks(fit *fitter, size int, seed uint64) *blocks {
	return &blocks{fit, size, seed, map[blockName]string{}}
}

// prompt returns a text of so many tokens, the first of which are the named
// blocks and the rest nobody else's: u's i-th text. The last of the names that
// cover the text may be a beginning of its block.
func (b *blocks) prompt(names []uint64, tokens int, u *unlike, i int) (string, error) {
	whole := min(len(names), (tokens-1)/b.size) // but for the last
	var text strings.Builder
	for k, name := range names[:whole] {
		block, err := b.block(blockName{name, k == 0})
		if err != nil {
			return "", err
		}
		text.WriteString(block)
	}
	if whole == len(names) {
		return b.end(text.String(), whole, tokens, func(head string, tokens int) (string, error) { return u.text(b.fit, head, i, tokens) })
	}
	return b.end(text.String(), whole, tokens, func(head string, tokens int) (string, error) {
		return b.fit.text(head, nil, tokens, seeded(b.seed, names[whole]))
	})
}

// end returns head, which is so many whole blocks, and what write writes behind
// it, so many tokens in all. It is fitted by itself first, which takes a
// tokenizer less time than to count the whole again and again.
func (b *blocks) end(head string, blocks, tokens int, write func(head string, tokens int) (string, error)) (string, error) {
	if blocks > 0 {
		end, err := write(anchor, b.fit.tok.Count(anchor)+tokens-blocks*b.size)
		if whole := head + strings.TrimPrefix(end, anchor); err == nil && abs(b.fit.tok.Count(whole)-tokens) <= b.fit.slack {
			return whole, tokenizerError(b.fit.tok)
		}
	}
	return write(head, tokens)
}

// anchor is the word that blocks within a prompt are fitted behind.
var anchor = wordList[0]

// block returns the text of a whole block, with the space before it.
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
