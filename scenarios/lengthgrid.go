package scenarios

import (
	"fmt"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// lengthGrid is study B: how throughput depends on the lengths of prompts and answers. Its prompts are
// blocks of text to be continued. The longer the block, the lower the concurrency. Its results include
// characters per second and the tokens per second of one user.
var lengthGrid = study{
	name:        "LengthGrid",
	noStreamKey: true,
	maxFail:     failuresCount, // an answer that does not end in time is cut by the timeout
	units:       []string{sample.PromptRate, sample.OutputCharRate, sample.PromptCharRate, sample.UserRate},
	// Two corners and the middle of the grid, with the published mean lengths.
	reduced: []cell{
		{data: random(602, 172), concurrency: 32, requests: 32, noStream: true},
		{data: random(1400, 627), concurrency: 16, requests: 16, noStream: true},
		{data: random(4050, 683), concurrency: 16, requests: 16, noStream: true},
	},
	published: gridCells(),
}

// gridCells returns the 25 cells of the study. Besides the block, prompts have a constant number of tokens.
// The answers are shorter than requested.
func gridCells() []cell {
	var all []cell
	for _, in := range []struct {
		chars, tokens, concurrency int
		out                        [5]int // published mean tokens of the answers
	}{
		{100, 602, 32, [5]int{172, 186, 244, 297, 361}},
		{500, 955, 25, [5]int{212, 314, 510, 582, 603}},
		{1000, 1400, 16, [5]int{212, 434, 627, 639, 684}},
		{2000, 2287, 16, [5]int{215, 564, 624, 724, 705}},
		{4000, 4050, 16, [5]int{203, 580, 621, 641, 683}},
	} {
		for i, ask := range [5]int{100, 500, 1000, 2000, 4000} {
			d := continuation(in.chars, ask)
			d.in, d.out = in.tokens, in.out[i]
			all = append(all, cell{
				experiment:  "B3",
				data:        d,
				concurrency: in.concurrency,
				requests:    500, // or the number of blocks in the text, if it is smaller
				noStream:    true,
				timeout:     300 * time.Second,
			})
		}
	}
	return all
}

// continuation returns blocks of chars characters, with a request to continue them by about ask characters.
func continuation(chars, ask int) data {
	return data{
		name: fmt.Sprintf("continuation-in%d-gen%d", chars, ask), endpoint: chatEndpoint,
		file: "continuation.txt",
		get:  "the study does not name its text: any Chinese text of two million characters", limit: 2048,
		draw: func(s server, path string, n int, seed uint64) ([]llmbench.Request, error) {
			return s.templated(benchdata.Continuation{Path: path, Chars: chars, Ask: ask, Output: 2048, Salt: s.target.Salt(seed), Tokenizer: s.tokens}.Requests(n))
		},
	}
}
