package oracle

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestKnown(t *testing.T) {
	filler := strings.Repeat("the quick brown fox ", 1000)
	needle := "The special magic number for old-town is: 123. The special magic number for lost-lake is: 8146. "
	for _, test := range []struct{ name, prompt, answer string }{
		{"question", "Question: What is 12 + 7 - 30?\nAnswer:", "12 + 7 = 19. 19 - 30 = -11. The answer is -11."},
		{"the last of several", "Question: What is 1 + 1?\nAnswer: 1 + 1 = 2. The answer is 2.\n\nQuestion: What is 2 + 3?\nAnswer:", "2 + 3 = 5. The answer is 5."},
		{"chat", "Compute.\nWhat is 2 - 3?\n", "2 - 3 = -1. The answer is -1."},
		{"few-shot form", "1 + 2 = 3\n-4 + 4 =", "-4 + 4 = 0. The answer is 0."},
		{"after a long text", filler + "What is 2 + 3?", "2 + 3 = 5. The answer is 5."},
		{"needle", filler + needle + filler + "\nWhat is the special magic number for lost-lake mentioned in the text?\n", "The special magic number for lost-lake is 8146."},
		{"needle, base model", needle + "\nWhat is the special magic number for old-town?\nAnswer:", "The special magic number for old-town is 123."},

		{"no question", filler, ""},
		{"a sum that is not asked for", "What is 2 + 3? Think of it.", ""},
		{"numbers that are too large", "What is 12345678901 + 1?", ""},
		{"one number", "What is 3?", ""},
		{"needle that is not there", needle + "What is the special magic number for new-town?", ""},
		{"empty", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer, known := Known(test.prompt)
			assert.Equal(t, answer, test.answer)
			assert.Equal(t, known, test.answer != "")
		})
	}
}

// FuzzKnown checks that no prompt makes the oracle panic, and that a known answer is not empty.
func FuzzKnown(f *testing.F) {
	f.Add("What is 1 + 2?")
	f.Add("The special magic number for a is: 1. What is the special magic number for a?")
	f.Fuzz(func(t *testing.T, prompt string) {
		answer, known := Known(prompt)
		assert.Equal(t, known, answer != "")
	})
}
