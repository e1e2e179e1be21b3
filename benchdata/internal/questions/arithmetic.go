package questions

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/check"
)

// Arithmetic generates sums, such as "Question: What is 12 + 7 - 3?" followed by "Answer:". Examples come
// before the question, so that base models know the form of an answer. The examples compute their answer
// step by step. The check compares the final number of the answer ([check.Number]). If the model goes on
// with another question, the check ignores the text from there. There is no published accuracy for this
// set: use it to compare servers of the same model.
type Arithmetic struct {
	Operations int    // number of additions and subtractions in a sum, from 1 to 100; 0 means 3
	Digits     int    // largest number of digits of a number, from 1 to 6; 0 means 2
	Shots      int    // number of examples, from 1 to 100; 0 means 4
	Output     int    // upper limit of an answer in tokens; 0 means 16, and 16 more for each operation
	Seed       uint64 // determines the sums
}

// Requests returns n requests. The sums are all different, unless there are fewer than n different sums.
func (a Arithmetic) Requests(n int) ([]llmbench.Request, error) {
	a.Operations, a.Digits, a.Shots = cmp.Or(a.Operations, 3), cmp.Or(a.Digits, 2), cmp.Or(a.Shots, 4)
	a.Output = cmp.Or(a.Output, 16*(1+a.Operations))
	if err := cmp.Or(number("the number of requests", n, 1, 1<<24), number("field Operations", a.Operations, 1, 100), number("field Digits", a.Digits, 1, 6),
		number("field Shots", a.Shots, 1, 100), number("field Output", a.Output, 1, 1<<20)); err != nil {
		return nil, fmt.Errorf("arithmetic: %w", err)
	}
	random := rand.New(rand.NewPCG(a.Seed, 0x6172697468))
	examples := make([]Question, a.Shots)
	for i := range examples {
		examples[i] = a.question(random)
	}
	requests := make([]llmbench.Request, 0, n)
	seen := map[string]bool{}
	for tries := 0; len(requests) < n; tries++ {
		q := a.question(random)
		if seen[q.Text] && tries < 16*n {
			continue
		}
		seen[q.Text] = true
		requests = append(requests, q.request("", examples, a.Output))
	}
	return requests, nil
}

// question returns a random sum.
func (a Arithmetic) question(random *rand.Rand) Question {
	limit := 1
	for range a.Digits {
		limit *= 10
	}
	total := random.IntN(limit)
	sum := strconv.Itoa(total)
	var steps strings.Builder
	for range a.Operations {
		operand, sign, before := random.IntN(limit), "+", total
		if total += operand; random.IntN(2) == 0 {
			sign, total = "-", before-operand
		}
		sum += fmt.Sprintf(" %s %d", sign, operand)
		fmt.Fprintf(&steps, "%d %s %d = %d. ", before, sign, operand, total)
	}
	return Question{
		Text:   "Question: What is " + sum + "?\nAnswer:",
		Answer: fmt.Sprintf("%sThe answer is %d.", steps.String(), total),
		Check:  check.Until(check.Number(strconv.Itoa(total)), "Question:"),
	}
}
