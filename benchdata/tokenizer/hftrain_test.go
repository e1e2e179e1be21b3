package tokenizer

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"golang.org/x/text/unicode/norm"
	"gotest.tools/v3/golden"
)

// This file trains the tokenizers in testdata on the text below, and writes them in the format of
// published tokenizer.json files. go test -update writes the files again.

const trainingText = `A tall ship came into the harbor early this morning. It's carrying coffee, tea and
sugar; they'll unload it before noon, won't they? The harbor master has counted 120 sacks, then 12 more,
and 1200 in all by the end of the week. "Where's the rest of the tea?" asked the clerk. "We're waiting for
it," said the master, "and I've asked the captain, who'd know."

The weather turned in the afternoon. The wind came from the north, then from the north-west, and the
waves rose over the wall. I'm told that the captain of the ship told the crew to wait until the morning.
    for wave in waves:
        if wave.height > wall.height:
            close(gate)
Die Wellen schlugen über die Mauer, le café était fermé, 港は静かだった。The next morning the sea was still.
`

const qwen2Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
const llama3Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

// train returns a reference with n merges, trained on the pieces into which split splits the text.
// Each merge is the most frequent pair. Of equally frequent pairs, it is the first in the text.
func train(split func([]rune) int, n int) reference {
	ref := reference{split: split, vocab: map[string]int{}}
	for b := range 256 {
		ref.vocab[string(refRune(byte(b)))] = b
	}
	var pieces [][]string
	for rest := []rune(trainingText); len(rest) > 0; {
		k := split(rest)
		pieces = append(pieces, refVisible(string(rest[:k])))
		rest = rest[k:]
	}
	for range n {
		count := map[[2]string]int{}
		var best [2]string
		for _, p := range pieces {
			for i := 0; i+1 < len(p); i++ {
				count[[2]string{p[i], p[i+1]}]++
			}
		}
		for _, p := range pieces {
			for i := 0; i+1 < len(p); i++ {
				if pair := [2]string{p[i], p[i+1]}; count[pair] > count[best] {
					best = pair
				}
			}
		}
		ref.merges = append(ref.merges, best)
		if _, ok := ref.vocab[best[0]+best[1]]; !ok {
			ref.vocab[best[0]+best[1]] = len(ref.vocab)
		}
		for k, p := range pieces {
			var joined []string
			for i := 0; i < len(p); i++ {
				if i+1 < len(p) && p[i] == best[0] && p[i+1] == best[1] {
					joined = append(joined, p[i]+p[i+1])
					i++
					continue
				}
				joined = append(joined, p[i])
			}
			pieces[k] = joined
		}
	}
	return ref
}

type object = map[string]any

// file returns the reference as a tokenizer.json.
func (ref reference) file(normalizer, preTokenizer any, pairs, ignoreMerges bool, added ...string) object {
	var merges []any
	for _, m := range ref.merges {
		if pairs {
			merges = append(merges, m)
		} else {
			merges = append(merges, m[0]+" "+m[1])
		}
	}
	list := []any{}
	for i, content := range added {
		list = append(list, object{
			"id": len(ref.vocab) + i, "content": content, "single_word": false, "lstrip": false,
			"rstrip": false, "normalized": false, "special": true,
		})
	}
	byteLevel := object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}
	return object{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": list,
		"normalizer": normalizer, "pre_tokenizer": preTokenizer, "post_processor": byteLevel, "decoder": byteLevel,
		"model": object{
			"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": "",
			"end_of_word_suffix": "", "fuse_unk": false, "byte_fallback": false,
			"ignore_merges": ignoreMerges, "vocab": ref.vocab, "merges": merges,
		},
	}
}

func splitAndByteLevel(pattern string) object {
	return object{"type": "Sequence", "pretokenizers": []any{
		object{"type": "Split", "pattern": object{"Regex": pattern}, "behavior": "Isolated", "invert": false},
		object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false},
	}}
}

// A trained tokenizer has a reference and the contents of its tokenizer.json.
type trained struct {
	name string
	ref  reference
	file object
}

var trainedTokenizers = func() []trained {
	gpt2 := train(gpt2Piece, 200)
	qwen2 := train(qwen2Piece(1), 200)
	qwen2.normal = norm.NFC.String
	llama3 := train(qwen2Piece(3), 200)
	return []trained{
		{"gpt2-style", gpt2, gpt2.file(nil,
			object{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true}, false, false, "<|endoftext|>")},
		{"qwen2-style", qwen2, qwen2.file(object{"type": "NFC"},
			splitAndByteLevel(qwen2Pattern), false, false, "<|endoftext|>", "<|im_start|>", "<|im_end|>")},
		{"llama3-style", llama3, llama3.file(nil,
			splitAndByteLevel(llama3Pattern), true, true, "<|begin_of_text|>", "<|eot_id|>")},
	}
}()

func (tr trained) path() string { return filepath.Join("testdata", tr.name+".json") }

func TestTrainedTokenizersAreCurrent(t *testing.T) {
	for _, tr := range trainedTokenizers {
		want, err := json.MarshalIndent(tr.file, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		golden.AssertBytes(t, append(want, '\n'), filepath.Base(tr.path()))
	}
}
