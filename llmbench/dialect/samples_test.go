package dialect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// A sample is a stream of the collection and the expected result of reading it.
type sample struct {
	File, Dialect, Framing, Text, Reasoning, End string
	ContentType                                  string `json:"content_type"`
	Finish                                       string
	Tokens                                       int
	TextEvents                                   int `json:"text_events"`
	Done                                         bool
	Usage                                        *struct{ Prompt, Completion int }
	Error                                        *struct{ Message string }
	ToolCalls                                    []struct{ Arguments string } `json:"tool_calls"`
}

// TestSamples reads every stream of the collection.
func TestSamples(t *testing.T) {
	var all []sample
	if err := json.Unmarshal(extraCases(t, "streams/expected.json"), &all); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, s := range all {
		if s.Framing == "raw" || s.Dialect == "http-error" { // the client recognizes these by status and content type
			continue
		}
		ran++
		t.Run(s.File, func(t *testing.T) {
			raw := extraCases(t, "streams/"+s.File)
			d, err := ByName(strings.TrimSuffix(s.Dialect, "-nonstream"))
			if err != nil {
				t.Fatal(err)
			}
			p := d.NewParser()
			if s.Framing == "json" {
				var got read
				var delta Delta
				p.Reset()
				if err := p.Body(raw, &delta); err != nil {
					t.Fatal(err)
				}
				got.add(&delta)
				s.check(t, got)
				return
			}
			kind, _, err := mime.ParseMediaType(s.ContentType)
			if err != nil {
				t.Fatal(err)
			}
			body := func(src io.Reader) io.Reader { return src }
			if s.Framing == "http11" {
				body = func(src io.Reader) io.Reader {
					resp, err := http.ReadResponse(bufio.NewReader(src), nil)
					if err != nil {
						t.Fatal(err)
					}
					return resp.Body
				}
			}
			whole := readAll(p, sse.FormatOf(kind), body(bytes.NewReader(raw)))
			s.check(t, whole)
			same := func(how string, src io.Reader) {
				t.Helper()
				got := readAll(p, sse.FormatOf(kind), body(src))
				if diff := cmp.Diff(whole, got, cmp.AllowUnexported(read{})); diff != "" {
					t.Fatalf("%s: mismatch (-whole +got):\n%s", how, diff)
				}
			}
			for how, src := range everyWay(raw) {
				same(how, src)
			}
			if len(raw) < 2000 {
				for i := range raw {
					same(fmt.Sprintf("split at %d", i), io.MultiReader(bytes.NewReader(raw[:i]), bytes.NewReader(raw[i:])))
				}
			}
		})
	}
	if ran < 90 {
		t.Errorf("only %d streams of the collection were read", ran)
	}
}

// check compares got with the expected result.
func (s *sample) check(t *testing.T, got read) {
	t.Helper()
	if got.end() != s.End {
		t.Errorf("end %s (%s%s); want %s", got.end(), got.Err, got.Fault, s.End)
	}
	// In the collection, done means [DONE]; other dialects have other end markers.
	if endsWithDone := slices.Contains([]string{"openai-chat", "openai-completions", "sglang-generate", "lmdeploy-generate"}, s.Dialect); endsWithDone && got.Done != s.Done {
		t.Errorf("done %t; want %t", got.Done, s.Done)
	}
	if got.Text != s.Text || got.Reasoning != s.Reasoning {
		t.Errorf("text %.80q, reasoning %.80q; want %.80q, %.80q", got.Text, got.Reasoning, s.Text, s.Reasoning)
	}
	if len(s.ToolCalls) > 0 && got.ToolCall != s.ToolCalls[0].Arguments {
		t.Errorf("tool call %q; want %q", got.ToolCall, s.ToolCalls[0].Arguments)
	}
	if got.Finish != s.Finish {
		t.Errorf("finish %q; want %q", got.Finish, s.Finish)
	}
	if s.Usage != nil && (got.Usage.PromptTokens != s.Usage.Prompt || got.Usage.OutputTokens != s.Usage.Completion) {
		t.Errorf("usage %+v; want %+v", got.Usage, *s.Usage)
	}
	stated := got.Usage.OutputTokens
	if stated == 0 {
		stated = got.Timings.OutputTokens
	}
	if stated == 0 {
		stated = got.Tokens
	}
	if stated != 0 && stated != s.Tokens && s.End == "clean" {
		t.Errorf("%d tokens stated (%+v); want %d", stated, got, s.Tokens)
	}
	if s.Error != nil && !strings.Contains(got.Fault, s.Error.Message) {
		t.Errorf("fault %q; want %q", got.Fault, s.Error.Message)
	}
	if s.End == "clean" && (got.Unread != "" || got.Strange != "" || got.UnknownFinish) {
		t.Errorf("unread %q, strange %q, unknown finish reason %t; want nothing unknown in an answer of a healthy server", got.Unread, got.Strange, got.UnknownFinish)
	}
	// The collection counts events with visible text. It counts neither events
	// with reasoning or tool calls, nor the last token of MindIE, whose text is in
	// another member.
	if s.Reasoning == "" && s.ToolCalls == nil && s.Dialect != "mindie-infer" && got.Chunks != s.TextEvents {
		t.Errorf("%d chunks; want %d", got.Chunks, s.TextEvents)
	}
}
