package ssetest_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse/ssetest"
)

// naive is a decoder like in many clients.
func naive(body io.Reader, emit func(ssetest.Event)) error {
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			emit(ssetest.Event{Data: data})
		}
	}
	return lines.Err()
}

// naiveGaps are the rules that naive breaks.
var naiveGaps = ssetest.Options{NoType: true, NoID: true, NoRetry: true, Gaps: []string{
	"bom", "lines", "fields", "comments", "event", "dispatch", "nul", "utf8", "eof", "errors", "llm", "limits"}}

// advised are the options that TestDecoder advises for naive.
var advised = ssetest.Options{NoType: true, NoID: true, NoRetry: true, MaxEventSize: 64 << 10,
	Gaps: []string{"bom", "lines", "fields", "comments", "event", "dispatch", "eof", "errors", "memory"}}

// TestNaive passes, because the options declare everything that naive does wrong.
func TestNaive(t *testing.T) { ssetest.TestDecoder(t, naive, naiveGaps) }

// FuzzNaive finds no error, unless this process is a helper.
func FuzzNaive(f *testing.F) {
	o := naiveGaps
	if os.Getenv(helper) == "naive" {
		o = ssetest.Options{}
	}
	ssetest.Fuzz(f, naive, o)
}

// helper is the environment variable that makes TestHelper and FuzzNaive fail.
const helper = "SSETEST_HELPER"

func TestHelper(t *testing.T) {
	switch os.Getenv(helper) {
	case "naive":
		ssetest.TestDecoder(t, naive, ssetest.Options{})
	case "advised":
		ssetest.TestDecoder(t, naive, advised)
	case "closed gaps":
		ssetest.TestDecoder(t, decoder(0), ssetest.Options{EOF: ssetest.Mark, Gaps: []string{"bom", "lines/cr", "late"}})
	case "no such gap":
		ssetest.TestDecoder(t, decoder(0), ssetest.Options{EOF: ssetest.Mark, Gaps: []string{"line"}})
	case "late":
		ssetest.TestDecoder(t, late, ssetest.Options{EOF: ssetest.Mark})
	case "late, declared":
		ssetest.TestDecoder(t, late, ssetest.Options{EOF: ssetest.Mark, Gaps: []string{"late"}})
	}
}

// late is a correct decoder, except that it returns all events only when the body has ended.
func late(body io.Reader, emit func(ssetest.Event)) error {
	var all []ssetest.Event
	err := decoder(0)(body, func(e ssetest.Event) { all = append(all, e) })
	for _, e := range all {
		emit(e)
	}
	return err
}

// TestSummary checks the output about broken decoders: it shows the first failed case of each class that is not wrong for
// the same reason as another class, and no others. It advises options with which TestDecoder passes.
func TestSummary(t *testing.T) {
	for _, c := range []struct {
		helper string
		failed int // number of lines "--- FAIL"
		want   []string
	}{
		{"naive", 1 + 2*11 + 1 + 8, []string{
			`fields/no-space: the space after the colon is optional`,
			`whole: event 0 is missing: want {Data: "a"}`,
			`9 of 26 cases are wrong: no-space, trailing-spaces, tab, `,
			"110 of 262 cases are right. What is wrong, by class, first what breaks streams as real servers send them:\n" +
				"          fields: 12 cases, among them chat-no-space (the form of servers that send no space after the colon)\n" +
				"          event: 15 cases, among them typed (the form of APIs with named events)\n",
			"\n          comments: 6 cases\n",
			"\n        Declare what is intended: no event has a type (NoType); no event has a last event ID (NoID); no event has a reconnection time (NoRetry); " +
				"events of about 65536 bytes and more are refused (MaxEventSize). Then 187 cases are right:\n          ssetest.Options{NoType: true, NoID: true, NoRetry: true, MaxEventSize: 65536}\n",
			"\n        To go on with fuzzing, declare what is wrong:\n          " + advised.String() + "\n",
			`ssetest.Options{Gaps: []string{"retry"}} declares this, so that fuzzing goes on (NoRetry, if events have no reconnection time); further seeds that are wrong like this are not shown`,
		}},
		{"advised", 0, nil},
		{"closed gaps", 1, []string{`Options.Gaps: "bom" no longer occurs: remove it`, `"lines/cr" no longer occurs`, `"late" no longer occurs`}},
		{"no such gap", 1, []string{`ssetest: Options.Gaps: "line": want a class of cases such as "lines", a case such as "lines/cr", or "late"`}},
		{"late", 3, []string{"was emitted only after the parser had read more\n", "promptness is not checked in further cases", "\n          late: an event was returned only after the parser had read more\n", "declare what is wrong:\n          ssetest.Options{EOF: ssetest.Mark, Gaps: []string{\"late\"}}\n"}},
		{"late, declared", 0, nil},
	} {
		t.Run(c.helper, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^(TestHelper|FuzzNaive)$")
			cmd.Env = append(os.Environ(), helper+"="+c.helper)
			out, err := cmd.CombinedOutput()
			assert.Equal(t, err != nil, c.failed > 0, "%s", out)
			assert.Equal(t, strings.Count(string(out), "--- FAIL"), c.failed, "%s", out)
			for _, want := range c.want {
				assert.Assert(t, strings.Contains(string(out), want), "%q is not in\n%s", want, out)
			}
		})
	}
}
