package check

import (
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestHabits has texts with the habits of models, and what they answer. The last column is the answer that
// a human reader finds; "" means that there is none. A check may fail to find an answer. It must not find
// another one.
func TestHabits(t *testing.T) {
	missed := 0
	for _, tt := range choices {
		judge(t, &missed, tt.text, chosen(tt.text), tt.want)
	}
	for _, tt := range amounts {
		judge(t, &missed, tt.text, concludedNumber(tt.text), tt.want)
	}
	t.Logf("%d texts; the answers of %d are missed", len(choices)+len(amounts), missed)
	assert.Assert(t, missed <= 2)
}

func judge(t *testing.T, missed *int, text, found, want string) {
	switch {
	case found == "" && want != "":
		*missed++
		t.Logf("%q: none, want %s", text, want)
	case found != want:
		if a, err := fractional(found); err == nil {
			if b, err := fractional(want); err == nil && a.Cmp(b) == 0 {
				return
			}
		}
		t.Errorf("%q: %q, want %q", text, found, want)
	}
}

var choices = []struct{ text, want string }{
	{"B", "B"},
	{" (B)", "B"},
	{"b", ""}, // no published rule accepts a lower-case letter alone
	{"B. Paris", "B"},
	{"(B) 12", "B"},
	{"**B**", "B"},
	{"**Answer:**\n\n**C**", "C"},
	{"Answer:\nC", "C"},
	{"Answer: C\n\nExplanation: A and B are both too small, and D is not a number.", "C"},
	{"(A) is false because the mass is conserved. (B) is too strong. The answer is (C).", "C"},
	{"(A) is false. (B) is false. (D) is false.", ""},
	{"A. Incorrect: it ignores friction.\nB. Correct: it has all terms.\nC. Incorrect.\nD. Incorrect.", "B"},
	{"A) looks right at first, but the correct option is B.", "B"},
	{"At first sight it could be A. The answer is D.", "D"},
	{"The answer is A. Wait, the sign is wrong. The answer is B.", "B"},
	{"The answer is A. Wait, A is wrong.", ""},
	{"A\n\nWait, I made a mistake. The correct answer is **C**.", "C"},
	{`Therefore the result is $\boxed{D}$.`, "D"},
	{`\boxed{\text{B}}`, "B"},
	{"Step 1: 2 + 2 = 4.\nStep 2: 4 is option C.\nFinal answer: C", "C"},
	{"So the best choice would be B.", "B"},
	{"Option D is correct.", "D"},
	{"I would go with (A).", "A"},
	{"Only one remains, so it's D.", "D"},
	{"The first is too small.\nThe second is too large.\n\nC", "C"},
	{"The answer is not A but B.", "B"},
	{"The answer is not C.", ""},
	{"Either B or C.", ""},
	{"B or C", ""},
	{"The answer is A or B.", ""},
	{"The answer is B. Or maybe C.", ""},
	{"I think the answer is B, but it could also be D.", ""},
	{"If the gas is ideal, the answer is A; otherwise the answer is B.", ""},
	{"Answer: A and B", ""},
	{"A, B and C are wrong, so D.", "D"},
	{"Is the answer A? No, the answer is C.", "C"},
	{"A dog has four legs.", ""},
	{"None of the above.", ""},
	{"正确答案是 B。", "B"},
	{"答案：C", "C"},
	{"Die richtige Antwort ist B.", "B"},
	{"<think>The answer is A? B?</think>\n\nD", "D"},
	{"<think>So far the answer is A, but", ""},
	{"B\n\nWhich planet is the largest?\nA. Earth\nB. Mars\nC. Jupiter\nD. Venus\nAnswer: C", "B"},
	{"A. Earth\nB. Mars\nC. Jupiter\nD. Venus", ""},
	{"A. Earth\nB. Mars\nC. Jupiter\nD. Venus\n\nJupiter is the largest planet, so the answer is C.", "C"},
	{"The correct answer is C) 1945.", "C"},
	{"**C) 1945**", "C"},
	{"C: 1945", "C"},
	{"C - 1945", "C"},
	{"Correct answer: (C)", "C"},
	{"The answer must be option C because A is false.", "C"},
	{"I'd say C.", "C"},
	{"My answer is C.", "C"},
	{"Based on this analysis, option C is the most accurate.", "C"},
	{"Hence, (C).", "C"},
	{"Hence the correct choice is (C) 12.", "C"},
	{"Let me think. A is too big; B is too small; D isn't prime. That leaves C.", "C"},
	{"A: wrong. B: wrong. C: right. D: wrong.", "C"},
	{"The final answer is: $\\boxed{C}$. I hope it is correct.", "C"},
	{"The answer is C.\n\nA is incorrect because it is smaller. B is incorrect. D is correct only in summer.", "C"},
	{"### Answer\n\nC", "C"},
	{"## Final Answer\n**C. 12 km**", "C"},
	{"Answer: **C**. Option A would be right if the mass were 2 kg.", "C"},
	{"ANSWER: C", "C"},
	{"answer - C", "C"},
	{"C is the answer.", "C"},
	{"C.\nA is a distractor.", "C"},
	{"The answer is (C), not (A).", "C"},
	{"While A seems correct, C is correct.", "C"},
	{"A is tempting but wrong. C.", "C"},
	{"Not A. Not B. Not D. C it is.", "C"},
	{"Choose C.", "C"},
	{"The statement in C is true, so C.", "C"},
	{"It is unclear; A and C are both possible.", ""},
	{"A or C, depending on the definition.", ""},
	{"I cannot determine the answer.", ""},
	{"The answer could be A or C.", ""},
	{"Both A and C are correct.", ""},
	{"The answer is either A or C.", ""},
	{"Answer: A/C", ""},
	{"Answer: A, C", ""},
	{"Possibly C, possibly A.", ""},
	{"It might be C.", ""},
	{"All of the above.", ""},
	{"A vitamin deficiency.", ""},
	{"A vitamin deficiency is the cause. Answer: C", "C"},
	{"The answer is a vitamin.", ""},
	{"Answer: C, since B and D are wrong.", "C"},
	{"The correct answer is:\n\nC. A vitamin", "C"},
	{"Thus the answer is (c).", "C"},
	{"Answer: c", "C"},
	{"Answer:C", "C"},
	{"The answer is “C”.", "C"},
	{"Answer: <C>", "C"},
	{"The answer is\n\n$$\\boxed{\\textbf{C}}$$", "C"},
	{"A? No. B? No. C? Yes. The answer is C!", "C"},
	{"I initially thought A, but the right answer is C.", "C"},
	{"I'm torn between A and C.", ""},
	{"Answer: B? C?", ""},
	{"The answer is B if x > 0 and C if x < 0.", ""},
	{"**Option C**", "C"},
	{"C\n\nC is right since D is false.", "C"},
	{"The answer is neither A nor C.", ""},
	{"B is the answer to the first part, but the answer to the question is C.", "C"},
	{"The answer is C. Let me know if you want to see why B is wrong or A is right!", "C"},
	{"Answer: C\nConfidence: 80%", "C"},
	{"The correct answer is C, and A is a common mistake.", "C"},
	{"Given the options, C is the only one that fits.", "C"},
	{"C is the best answer because A, B and D fail.", "C"},
}

var amounts = []struct{ text, want string }{
	{"18", "18"},
	{"18. I am 100% sure", "18"},
	{"18. I'm about 95 % confident.", "18"},
	{"18\n\nExplanation: 16 - 3 - 4 = 9 eggs, and each costs $2.", "18"},
	{"**18**\n\nShe has 9 eggs left and sells each for $2.", "18"},
	{"She has 16 - 3 - 4 = 9 eggs left. She makes 9 * 2 = $18 every day.\n#### 18", "18"},
	{"#### 18\n\nThis follows from 9 eggs at $2.", "18"},
	{"The answer is 18.", "18"},
	{"The answer is $18 for 9 eggs.", "18"},
	{"The answer is 9 * 2 = 18.", "18"},
	{"The answer is 9 eggs * $2 = $18.", "18"},
	{"The final answer is \\boxed{18}. (Check: 18 / 2 = 9.)", "18"},
	{`Thus \boxed{\$1{,}000}`, "1000"},
	{`Thus \boxed{18\text{ dollars}}`, "18"},
	{`Thus \boxed{\frac{1}{2}}`, "0.5"},
	{"Half of them: 1/2", "0.5"},
	{"The answer is 1/2.", "0.5"},
	{"Answer: 16 - 3 - 4 = 9 eggs are left, and 9 * 2 = 18 dollars.", "18"},
	{"Answer: Janet has 16 eggs. She sells 9 of them for 18 dollars.", "18"},
	{"**Answer:** $18 per day", "18"},
	{"Answer:\n\n18", "18"},
	{"The total is 30. She gives 12 away, so 18 are left.", "18"},
	{"1. First she eats 3.\n2. Then she bakes 4.\n3. She sells 9 for $18", "18"},
	{"1. She sells 9 eggs for $2 each, so she makes $18", "18"},
	{"3 apples\n+ 4 apples\n= 7 apples", "7"},
	{"She makes 18 dollars, not 20.", "18"},
	{"The answer is not 20 but 18.", "18"},
	{"18 or 20", ""},
	{"The answer is 18 or 20.", ""},
	{"Between 18 and 20.", ""},
	{"It is 18-20 dollars.", ""},
	{"The answer is either 18 or 20.", ""},
	{"The answer is 18 to 20 dollars.", ""},
	{"I do not know.", ""},
	{"eighteen", ""}, // no published rule reads words
	{"She makes $1,000.", "1000"},
	{"She makes 1 000 dollars.", "1000"},
	{"She makes €1,000.50", "1000.50"},
	{"It fell by 4 degrees, to −4.", "-4"},
	{"3 - 7 = -4", "-4"},
	{"<think>17? 19?</think>The answer is 18.", "18"},
	{"<think>17? 19?", ""},
	{"答案是18。", "18"},
	{"The answer is x = 18.", "18"},
	{"So the answer is 18%. Confidence: 0.9", "18"},
	{"The answer to question 2 is 18.", "18"},
	{"First attempt: the answer is 20. I forgot the muffins. The answer is 18.", "18"},
}

// TestPublishedRules checks that answers in the form that an evaluation requests are read as by the
// evaluation's own rule.
func TestPublishedRules(t *testing.T) {
	first := func(expr string) func(string) string {
		return func(text string) string {
			if m := regexp.MustCompile(expr).FindStringSubmatch(text); m != nil {
				return m[1]
			}
			return ""
		}
	}
	rules := []struct {
		name, source string
		rule, ours   func(string) string
		answers      []string
	}{
		{"simple-evals", "https://github.com/openai/simple-evals/blob/main/common.py",
			first(`(?i)Answer[ \t]*:[ \t]*\$?([A-D])\$?`), chosen,
			[]string{"Jupiter is the largest planet.\n\nAnswer: C", "Answer: $B$", "B is too small.\nANSWER : D", "answer:A"}},
		{"MMLU-Pro", "https://github.com/TIGER-AI-Lab/MMLU-Pro/blob/main/evaluate_from_local.py",
			first(`answer is \(?([A-J])\)?`), chosen,
			[]string{"Let's think step by step. 2 + 2 = 4. The answer is (C).", "Thus the answer is D.", "A and B are equal, so the answer is (D). "}},
		{"lm-evaluation-harness, strict-match", "https://github.com/EleutherAI/lm-evaluation-harness/blob/main/lm_eval/tasks/gsm8k/gsm8k.yaml",
			first(`#### (\-?[0-9\.\,]+)`), concludedNumber,
			[]string{"16 - 3 - 4 = <<16-3-4=9>>9 eggs.\n9 * 2 = $<<9*2=18>>18.\n#### 18", "#### -4", "#### 1,000", "#### 2.5"}},
		{"lm-evaluation-harness, flexible-extract", "the same",
			func(text string) string { all := numbers.FindAllString(text, -1); return all[len(all)-1] }, concludedNumber,
			[]string{"She sells 9 eggs for $2 each, which makes $18", "9 * 2 = 18", "It fell from 3 by 7 degrees: -4", "She earns $1,000."}},
	}
	for _, r := range rules {
		for _, text := range r.answers {
			assert.Equal(t, strings.TrimRight(r.ours(text), "."), strings.TrimRight(r.rule(text), "."), "%s (%s): %q", r.name, r.source, text)
		}
	}
}

// BenchmarkChoice measures how long the client is busy with a long answer.
func BenchmarkChoice(b *testing.B) {
	text := strings.Repeat("We consider the options: (A) is false because the mass is conserved. (B) is too strong. ", 25) + "The answer is (C)."
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		assert.Equal(b, chosen(text), "C")
	}
}
