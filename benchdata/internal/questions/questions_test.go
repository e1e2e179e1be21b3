package questions

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
)

// answer returns the result of a request's check for a text.
func answer(r llmbench.Request, text string) error { return r.Check(check.Answer{Text: text}) }

func TestArithmetic(t *testing.T) {
	a := Arithmetic{Operations: 2, Shots: 1, Seed: 7}
	requests, err := a.Requests(50)
	assert.NilError(t, err)
	assert.Equal(t, requests[0].Prompt, "Question: What is 36 + 18 - 64?\nAnswer: 36 + 18 = 54. 54 - 64 = -10. The answer is -10.\n\nQuestion: What is 46 + 63 - 74?\nAnswer:")
	assert.NilError(t, answer(requests[0], " 46 + 63 = 109. 109 - 74 = 35. The answer is 35.\n\nQuestion: What is 1 + 1?\nAnswer: 2"))
	assert.ErrorContains(t, answer(requests[0], "The answer is -35."), "want the number 35, and the number of the answer is -35")
	prompts := map[string]bool{}
	for _, r := range requests {
		prompts[r.Prompt] = true
		assert.Equal(t, r.MaxTokens, 48)
	}
	assert.Equal(t, len(prompts), 50, "different questions")
	a.Seed = 8
	others, err := a.Requests(50)
	assert.NilError(t, err)
	assert.Assert(t, !prompts[others[0].Prompt])
	_, err = Arithmetic{Operations: 1, Digits: 1}.Requests(1000) // there are only 200 different sums
	assert.NilError(t, err)
}

func TestGSM8K(t *testing.T) {
	file := `{"question":"Ann has 2 pears and buys 3. How many?","answer":"2+3=<<2+3=5>>5\n#### 5"}
{"question":"What do 1,000 cars at $2 cost? ","answer":"#### 2,000"}

{"question":"Ben has 4. He gives 1 away.","answer":"4-1=3\n#### 3"}
`
	requests, err := GSM8K{Shots: 1}.Read(strings.NewReader(file), 10)
	assert.NilError(t, err)
	assert.Equal(t, len(requests), 2)
	assert.Equal(t, requests[1].Prompt, "Question: Ben has 4. He gives 1 away.\nAnswer: 4-1=3\n#### 3\n\nQuestion: What do 1,000 cars at $2 cost?\nAnswer:")
	assert.NilError(t, answer(requests[1], " They cost $2000.\n#### 2000\n\nQuestion: 7?"))
	assert.ErrorContains(t, answer(requests[1], "200"), "want the number 2,000")
	shuffled, err := GSM8K{Shots: 1, Seed: 3}.Read(strings.NewReader(file), 10)
	assert.NilError(t, err)
	assert.Equal(t, len(shuffled), 2)
}

func TestMMLU(t *testing.T) {
	file := "\"Which is a prime, of these?\",4,6,7,9,C\nWhich is even?,1,2,3,5,B\n"
	requests, err := MMLU{Subject: "number theory", Shots: 1}.Read(strings.NewReader(file), 10)
	assert.NilError(t, err)
	assert.Equal(t, len(requests), 1)
	assert.Equal(t, requests[0].Prompt, `The following are multiple choice questions (with answers) about number theory.

Which is even?
A. 1
B. 2
C. 3
D. 5
Answer: B

Which is a prime, of these?
A. 4
B. 6
C. 7
D. 9
Answer:`)
	assert.NilError(t, answer(requests[0], " C"))
	assert.ErrorContains(t, answer(requests[0], " D"), "want the choice C, and the answer chooses D")
}

func TestNeedle(t *testing.T) {
	for _, depth := range []string{"0", "50", "100", ""} {
		requests, err := Needle{Length: 400, Depth: depth, Seed: 1}.Requests(11)
		assert.NilError(t, err)
		for i, r := range requests {
			words := len(strings.Fields(r.Prompt))
			assert.Assert(t, words > 380 && words < 420, "%d words", words)
			text, question, _ := strings.Cut(r.Prompt, "\nWhat is")
			at := strings.Index(text, "The special magic number for")
			share := float64(at) / float64(len(text))
			want := map[string]float64{"0": 0, "50": 0.5, "100": 1, "": float64(i) / 10}[depth]
			assert.Assert(t, share > want-0.15 && share < want+0.25, "depth %s: at %.2f", depth, share)
			_, number, _ := strings.Cut(text[at:], "is: ")
			number, _, _ = strings.Cut(number, ".")
			assert.NilError(t, answer(r, "It is "+number+"."))
			assert.ErrorContains(t, answer(r, "It is 7."), "want a text that contains")
			assert.Assert(t, strings.HasSuffix(question, "\nAnswer:"))
		}
	}
}

// TestErrors checks that errors name the line or the field, the value and what is allowed.
func TestErrors(t *testing.T) {
	gsm8k := func(file string) error { _, err := GSM8K{Shots: 1}.Read(strings.NewReader(file), 1); return err }
	mmlu := func(file string) error { _, err := MMLU{Shots: 1}.Read(strings.NewReader(file), 1); return err }
	of := func(_ []llmbench.Request, err error) error { return err }
	for _, test := range []struct {
		err  error
		want string
	}{
		{gsm8k("{\"question\":\"a\",\"answer\":\"#### 1\"}\nx\n"), "line 2: want a JSON object with question and answer"},
		{gsm8k(`{"question":"a"}`), "line 1: want a JSON object with question and answer"},
		{gsm8k(`{"question":"a","answer":"5"}`), "line 1: the answer has no ####"},
		{gsm8k(`{"question":"a","answer":"#### five"}`), `line 1: the answer after ####: "five": want a decimal number`},
		{gsm8k(strings.Repeat("x", maxLine+1)), "line 1: bufio.Scanner: token too long"},
		{gsm8k(`{"question":"a","answer":"#### 1"}`), "1 questions: want more than 1, because the last ones are the examples"},
		{mmlu("a,b,c,d,e\n"), "line 1: the row has 5 columns: want 6: a question, four choices and a letter"},
		{mmlu("q,1,2,3,4,A\nq,1,2,3,4,E\n"), `line 2: the answer is "E": want A, B, C or D`},
		{mmlu("q,1,2,3,4,A\nq,\"1,2,3,4,E\n"), "line 2: "},
		{of(Arithmetic{Operations: 101}.Requests(1)), "arithmetic: field Operations is 101: want from 1 to 100"},
		{of(Arithmetic{}.Requests(0)), "arithmetic: the number of requests is 0: want from 1 to 16777216"},
		{of(Needle{Depth: "half"}.Requests(1)), `needle: field Depth is "half": want a whole percentage from 0 to 100`},
		{of(Needle{Depth: "101"}.Requests(1)), `needle: field Depth is "101"`},
		{of(Needle{Length: 1}.Requests(1)), "needle: field Length is 1: want from 100"},
	} {
		assert.ErrorContains(t, test.err, test.want)
	}
}

// FuzzRead checks that no file makes a reader panic, and that the returned requests are usable.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"gsm8k.jsonl", "mmlu.csv"} {
		file, err := os.ReadFile("../../testdata/kinds/" + name)
		assert.NilError(f, err)
		f.Add(file, uint64(0))
		f.Add(file[:len(file)/2], uint64(1))
	}
	f.Fuzz(func(t *testing.T, file []byte, seed uint64) {
		for _, read := range []func() ([]llmbench.Request, error){
			func() ([]llmbench.Request, error) {
				return GSM8K{Shots: 1, Seed: seed}.Read(strings.NewReader(string(file)), 10)
			},
			func() ([]llmbench.Request, error) {
				return MMLU{Shots: 1, Seed: seed}.Read(strings.NewReader(string(file)), 10)
			},
		} {
			requests, err := read()
			assert.Equal(t, err == nil, len(requests) > 0)
			for _, r := range requests {
				assert.Assert(t, r.Prompt != "" && r.MaxTokens > 0)
				assert.Assert(t, answer(r, "no answer") != nil)
			}
		}
	})
}
