package benchdata

import (
	"cmp"
	"container/heap"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// ShareGPT is the "sharegpt" workload: real questions, with the lengths that
// real answers had, from a file such as ShareGPT_V3_unfiltered_cleaned_split.json
// (https://huggingface.co/datasets/anon8231489123/ShareGPT_Vicuna_unfiltered).
//
// It follows the rules of vLLM's ShareGPTDataset, so that figures compare
// (sharegpt.py and utils.py in
// https://github.com/vllm-project/vllm/tree/main/vllm/benchmarks/datasets):
//
//   - A conversation of fewer than two turns is left out.
//   - The first turn is the prompt and the second the answer, whoever said it.
//   - Prompts and answers of fewer than 4 tokens are left out, as are prompts
//     of more than 1,024 tokens and pairs of more than 2,048.
//   - The conversations are shuffled and the first n are taken; when there are
//     fewer, more are drawn from them with replacement.
//
// The shuffle is seeded, but it is not Python's: the same seed picks other
// conversations than vLLM does. Lengths are without a begin-of-text token,
// which vLLM counts where a model has one. Two things that vLLM passes over
// are errors here: a record without "conversations", and a file of which
// nothing can be used.
//
// The file is not held in memory, only the requests that are returned.
type ShareGPT struct {
	// Path is the file that Requests reads.
	Path string
	// Output is the length of every answer in tokens; 0 takes each answer's
	// own. With it, vLLM does not look whether the answer is too short.
	Output int
	// FixedOutput makes the server generate the whole length; without it the
	// model may stop earlier, as in vLLM, and MaxTokens is only the limit.
	FixedOutput bool
	// NoOversample returns fewer than n requests when there are no more.
	NoOversample bool
	// Seed picks the conversations and their order.
	Seed uint64
	// Tokenizer counts the tokens of prompts and answers; nil means [Words].
	Tokenizer llmbench.Tokenizer
}

// The limits of vLLM's is_valid_sequence, in tokens.
const (
	shareGPTMin       = 4
	shareGPTMaxPrompt = 1024
	shareGPTMaxTotal  = 2048
)

// Requests returns n requests from the file at Path; their PromptTokens is
// the prompt's length by the Tokenizer and their MaxTokens the answer's. It
// returns an error when n or Output is out of range, when the file cannot be
// read or is not in the format (naming the record, counted from 0), and when
// no conversation passes the rules.
func (s ShareGPT) Requests(n int) ([]llmbench.Request, error) {
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, fmt.Errorf("sharegpt: %w", err)
	}
	defer f.Close()
	requests, err := s.read(f, n)
	if err != nil {
		return nil, fmt.Errorf("sharegpt %s: %w", s.Path, err)
	}
	return requests, nil
}

// Read is Requests for a file that is read from r, to its end.
func (s ShareGPT) Read(r io.Reader, n int) ([]llmbench.Request, error) {
	requests, err := s.read(r, n)
	if err != nil {
		return nil, fmt.Errorf("sharegpt: %w", err)
	}
	return requests, nil
}

func (s ShareGPT) read(r io.Reader, n int) ([]llmbench.Request, error) {
	if n < 1 {
		return nil, fmt.Errorf("%d requests, must be at least 1", n)
	}
	if s.Output < 0 {
		return nil, fmt.Errorf("field Output is %d tokens, must be at least 1, or 0 for the answers' own", s.Output)
	}
	// Shuffling is giving every conversation a random key and sorting by it.
	// Only those with the n lowest keys so far have to be kept, or counted.
	random := rand.New(rand.NewPCG(s.Seed, 0))
	tok := orWords(s.Tokenizer)
	var kept keyedRequests
	records, pairs := 0, 0
	for c, err := range conversations(r) {
		if err != nil {
			return nil, err
		}
		records++
		if c.turns < 2 {
			continue
		}
		pairs++
		key := random.Uint64()
		if len(kept) == n && key >= kept[0].key {
			continue
		}
		request, ok := s.request(c, tok)
		if !ok {
			continue
		}
		heap.Push(&kept, keyedRequest{key, request})
		if len(kept) > n {
			heap.Pop(&kept)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("none of %d records can be used: %d have two turns, and of those none has the right length", records, pairs)
	}

	slices.SortFunc(kept, func(a, b keyedRequest) int { return cmp.Compare(a.key, b.key) })
	requests := make([]llmbench.Request, 0, len(kept))
	for _, k := range kept {
		requests = append(requests, k.Request)
	}
	if !s.NoOversample {
		again := rand.New(rand.NewPCG(s.Seed, 1))
		for len(requests) < n {
			requests = append(requests, requests[again.IntN(len(kept))])
		}
	}
	return requests, nil
}

// request makes a request of a conversation, unless a rule leaves it out.
func (s ShareGPT) request(c conversation, tok llmbench.Tokenizer) (llmbench.Request, bool) {
	prompt := tok.Count(c.first)
	if prompt < shareGPTMin || prompt > shareGPTMaxPrompt {
		return llmbench.Request{}, false
	}
	output := s.Output
	if output == 0 {
		output = tok.Count(c.second)
		if output < shareGPTMin {
			return llmbench.Request{}, false
		}
	}
	if prompt+output > shareGPTMaxTotal {
		return llmbench.Request{}, false
	}
	return llmbench.Request{
		Prompt:       c.first,
		MaxTokens:    output,
		FixedOutput:  s.FixedOutput,
		PromptTokens: prompt,
	}, true
}

// keyedRequests is a heap of requests with the highest key on top.
type keyedRequests []keyedRequest

type keyedRequest struct {
	key uint64
	llmbench.Request
}

func (k keyedRequests) Len() int           { return len(k) }
func (k keyedRequests) Less(i, j int) bool { return k[i].key > k[j].key }
func (k keyedRequests) Swap(i, j int)      { k[i], k[j] = k[j], k[i] }
func (k *keyedRequests) Push(x any)        { *k = append(*k, x.(keyedRequest)) }
func (k *keyedRequests) Pop() any {
	last := len(*k) - 1
	x := (*k)[last]
	*k = (*k)[:last]
	return x
}
