package benchdata

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// lengthsOf returns the lengths of requests.
func lengthsOf(requests []llmbench.Request) (all [][2]int) {
	for _, r := range requests {
		all = append(all, [2]int{r.PromptTokens, r.MaxTokens})
	}
	return all
}

// TestDrawn checks that prompts have the lengths that were drawn, that these depend on the seed alone, and that fewer
// requests are the first of more.
func TestDrawn(t *testing.T) {
	d := Drawn{Input: mustParse(t, "lognormal(60,0.6)"), Output: mustParse(t, "normal(20,5)"), Seed: 3, Template: 7, SharedPrefix: 5}
	requests, err := d.Requests(200)
	assert.NilError(t, err)
	for _, r := range requests {
		assert.Equal(t, tokenizer.Words{}.Count(r.Prompt), r.PromptTokens-d.Template)
		assert.DeepEqual(t, strings.Fields(r.Prompt)[:5], strings.Fields(requests[0].Prompt)[:5])
		assert.Assert(t, r.FixedOutput)
	}
	want := lengthsOf(requests)
	assert.DeepEqual(t, want[:6], [][2]int{{21, 16}, {40, 19}, {25, 14}, {41, 17}, {25, 23}, {166, 11}})
	fewer, err := d.Requests(50)
	assert.NilError(t, err)
	assert.DeepEqual(t, fewer, requests[:50])

	salted := d
	salted.Salt = 9
	other, err := salted.Requests(200)
	assert.NilError(t, err)
	assert.DeepEqual(t, lengthsOf(other), want)
	assert.Assert(t, other[0].Prompt != requests[0].Prompt)

	d.Output = mustParse(t, "20") // does not change the lengths of prompts
	same, err := d.Requests(200)
	assert.NilError(t, err)
	for i, r := range same {
		assert.Equal(t, r.PromptTokens, requests[i].PromptTokens)
	}
	d.Seed++
	other, err = d.Requests(200)
	assert.NilError(t, err)
	assert.Assert(t, !slices.Equal(lengthsOf(other), lengthsOf(same)))
}

// TestDrawnFile checks that lengths that belong together are drawn together, by their weights.
func TestDrawnFile(t *testing.T) {
	const file = "weight, output,input\n3,5,\"normal(100,3)\"\n0,1,1\n1,7,200..209\n"
	path := filepath.Join(t.TempDir(), "lengths.csv")
	assert.NilError(t, os.WriteFile(path, []byte(file), 0o666))
	w, err := Open("random:lengths="+path, Options{Seed: 1})
	assert.NilError(t, err)
	requests, err := w.Requests(4000)
	assert.NilError(t, err)
	counts := map[int]int{}
	for _, r := range requests {
		counts[r.MaxTokens]++
		if long := r.PromptTokens >= 200; long != (r.MaxTokens == 7) || r.PromptTokens > 209 || r.PromptTokens < 80 {
			t.Errorf("%d in, %d out", r.PromptTokens, r.MaxTokens)
		}
	}
	assert.Equal(t, len(counts), 2)
	assert.Assert(t, counts[7] > 900 && counts[7] < 1100, "%v", counts) // 1000 ± 3.6 standard deviations

	for _, tt := range []struct{ file, want string }{
		{"", "random " + path + ": the file is empty"},
		{"input\n5\n", `random ` + path + `:1: the first line has no column "output", must name all columns`},
		{"input,output,count\n5,6,7\n", `random ` + path + `:2: 3 columns: want input, output, weight, each at most once, and no others`},
		{"input,output,input\n5,6,7\n", `:2: 3 columns: want input, output, weight, each at most once`},
		{"input,output\n5,\n", `:2: output is "": want a whole number of tokens from 1 to 134217728, or one of`},
		{"input,output\n5,6\nnormal(5),6\n", `:3: input is "normal(5)": normal has 1 parameters`},
		{"input,output,weight\n5,6,\n", `:2: weight is "": want a number from 0 to 1e+09`},
		{"input,output,weight\n5,6,0\n", `random ` + path + `: no row has a weight: want at least one above 0`},
		{"input,output\n", `no row has a weight`},
		{"input,output\n5,6,7\n", `:2: wrong number of fields`},
	} {
		assert.NilError(t, os.WriteFile(path, []byte(tt.file), 0o666))
		_, err := w.Requests(1)
		assert.ErrorContains(t, err, tt.want)
	}
	_, err = Drawn{Path: path, Input: mustParse(t, "5"), Output: mustParse(t, "5")}.Requests(1)
	assert.Error(t, err, "random: fields Input, Output and Path: want both of the distributions, or the path")
	_, err = Drawn{Input: mustParse(t, "5")}.Requests(1)
	assert.ErrorContains(t, err, "want both of the distributions")
	_, err = Drawn{Path: path, Template: -1}.Requests(1)
	assert.ErrorContains(t, err, "fields SharedPrefix and Template are 0 and -1 tokens: want from 0 to")
	_, err = w.Requests(0)
	assert.Error(t, err, "random: 0 requests: want at least 1")
}

// FuzzDrawn checks that reading any file gives valid requests, or an error of one line.
func FuzzDrawn(f *testing.F) {
	f.Add([]byte("input,output,weight\n5,6,1\n\"normal(50,10,1..90)\",7..9,2\n"))
	f.Add([]byte("input,output\n5,6\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		lengths, err := readText(strings.NewReader(string(file)), readLengths)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !strings.Contains(string(file), "\n") {
				t.Errorf("%q: %v", file, err)
			}
			return
		}
		for _, r := range lengths.rows {
			if !(r.weight > 0) || r.input == nil || r.output == nil {
				t.Errorf("%q: %+v", file, r)
			}
		}
		if last := lengths.upTo[len(lengths.upTo)-1]; last != 1<<32 || !slices.IsSorted(lengths.upTo) {
			t.Errorf("%q: %v", file, fmt.Sprint(lengths.upTo))
		}
	})
}
