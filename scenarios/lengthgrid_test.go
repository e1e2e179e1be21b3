package scenarios

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// lengthGrid is how throughput depends on the lengths of prompts and answers: blocks
// of text to be continued, at a concurrency that falls with the block's length.
// Characters a second and the tokens a second of one user are figures too.
var lengthGrid = study{
	name:    "LengthGrid",
	oneWay:  true,
	maxFail: counted, // a runaway answer ends at the timeout
	units:   []string{"prompt-tok/s", "output-chars/s", "prompt-chars/s", "user-tok/s"},
	// Corners and middle, with the lengths that came.
	reduced: []cell{
		{data: random(602, 172), concurrency: 32, requests: 32, noStream: true},
		{data: random(1400, 627), concurrency: 16, requests: 16, noStream: true},
		{data: random(4050, 683), concurrency: 16, requests: 16, noStream: true},
	},
	published: grid(),
}

// grid is the study's 25 cells. Their real prompts are longer than the blocks, by
// a constant, and their answers shorter than was asked for.
func grid() []cell {
	var all []cell
	for _, in := range []struct {
		chars, tokens, concurrency int
		out                        [5]int // mean tokens of the answers that came
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
				requests:    500, // or as many blocks as the text has
				noStream:    true,
				timeout:     300 * time.Second,
			})
		}
	}
	return all
}

func continuation(chars, ask int) data {
	return data{
		name: fmt.Sprintf("continuation-in%d-gen%d", chars, ask), endpoint: toChat,
		file: "continuation.txt",
		get:  "the study does not name its text: any Chinese text of two million characters", limit: 2048,
		draw: func(s server, path string, n int, _ uint64) ([]llmbench.Request, error) {
			return s.templated(benchdata.Continuation{Path: path, Chars: chars, Ask: ask, Output: 2048, Tokenizer: s.tokens}.Requests(n))
		},
	}
}

// BenchmarkLengthGrid is how throughput depends on the lengths of prompts and
// answers.
func BenchmarkLengthGrid(b *testing.B) { lengthGrid.bench(b) }
