// Package oracle knows the right answers to some prompts. A simulated server with an oracle answers these
// prompts correctly. So tests can check how a client measures accuracy: a server without faults must have
// an accuracy of 100 %.
package oracle

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Func returns the right answer to a prompt, or false if it does not know the answer. The prompt of a
// chat is the texts of all messages, each followed by a newline. A Func must be safe for concurrent use.
type Func = func(prompt string) (answer string, known bool)

// Known is the default oracle of a simulated server. It combines [Arithmetic] and [Needle].
func Known(prompt string) (answer string, known bool) {
	if answer, known = Arithmetic(prompt); known {
		return answer, true
	}
	return Needle(prompt)
}

// end is the number of bytes at the end of a prompt that are searched for the question.
const end = 4 << 10

// tail returns the end of a prompt, without surrounding space and without a final "Answer:".
func tail(prompt string) string {
	prompt = strings.TrimSpace(prompt[max(0, len(prompt)-end):])
	return strings.TrimSpace(strings.TrimSuffix(prompt, "Answer:"))
}

// sum matches a prompt that ends with a sum, such as "What is 12 + 7 - 3?" and "12 + 7 - 3 =".
var sum = regexp.MustCompile(`(?:^|[\s:])(-?\d{1,9}(?: [-+] \d{1,9})+) ?[=?]$`)

// Arithmetic knows the answers to prompts that end with additions and subtractions of whole numbers,
// such as "Question: What is 12 + 7 - 3?\nAnswer:". The answer is worked out step by step:
// "12 + 7 = 19. 19 - 3 = 16. The answer is 16."
func Arithmetic(prompt string) (answer string, known bool) {
	m := sum.FindStringSubmatch(tail(prompt))
	if m == nil {
		return "", false
	}
	parts := strings.Fields(m[1])
	total, _ := strconv.ParseInt(parts[0], 10, 64) // cannot fail: the text matches -?\d{1,9}
	var steps strings.Builder
	for i := 1; i < len(parts); i += 2 {
		operand, _ := strconv.ParseInt(parts[i+1], 10, 64)
		before := total
		if parts[i] == "-" {
			total -= operand
		} else {
			total += operand
		}
		fmt.Fprintf(&steps, "%d %s %d = %d. ", before, parts[i], operand, total)
	}
	fmt.Fprintf(&steps, "The answer is %d.", total)
	return steps.String(), true
}

// asked matches the question for a magic number. stated matches a sentence that gives a magic number.
var (
	asked  = regexp.MustCompile(`What is the special magic number for ([\w-]+)[^\n]*\?$`)
	stated = regexp.MustCompile(`The special magic number for ([\w-]+) is: (\d+)\.`)
)

// Needle knows the answers to prompts that end with "What is the special magic number for NAME ...?" and
// contain the sentence "The special magic number for NAME is: NUMBER." before that. RULER's needle tests
// have this form (https://github.com/NVIDIA/RULER).
func Needle(prompt string) (answer string, known bool) {
	m := asked.FindStringSubmatch(tail(prompt))
	if m == nil {
		return "", false
	}
	for _, s := range stated.FindAllStringSubmatch(prompt, -1) {
		if s[1] == m[1] {
			return "The special magic number for " + m[1] + " is " + s[2] + ".", true
		}
	}
	return "", false
}
