// Package oracle knows the right answers to some prompts. A simulated server that has an oracle answers
// these prompts right, so that a client's measure of accuracy can be tested: the accuracy of a server
// without faults is 100 %.
package oracle

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Func returns the right answer to a prompt, or false if it knows none. The prompt of a chat is the
// texts of its messages, each followed by a newline. A Func is called concurrently.
type Func = func(prompt string) (answer string, known bool)

// Known is the oracle of a simulated server that has no other: [Arithmetic] and [Needle].
func Known(prompt string) (answer string, known bool) {
	if answer, known = Arithmetic(prompt); known {
		return answer, true
	}
	return Needle(prompt)
}

// end is how much of a prompt is searched for its question, in bytes.
const end = 4 << 10

// tail returns the end of a prompt, without space and without the word after which the answer begins.
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
	total, _ := strconv.ParseInt(parts[0], 10, 64) // matches \d{1,9}, as all others
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

// asked matches the question for a fact, and stated one statement of it.
var (
	asked  = regexp.MustCompile(`What is the special magic number for ([\w-]+)[^\n]*\?$`)
	stated = regexp.MustCompile(`The special magic number for ([\w-]+) is: (\d+)\.`)
)

// Needle knows the answers to prompts that end with "What is the special magic number for NAME ...?" and
// have the sentence "The special magic number for NAME is: NUMBER." before, which is the form of
// the needle tests of RULER (https://github.com/NVIDIA/RULER).
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
