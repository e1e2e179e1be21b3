package dialect

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestMessageMembers reads the members of a message that have text, in every form that a server documents, in a stream
// and in a whole answer.
func TestMessageMembers(t *testing.T) {
	type want struct{ text, reasoning, call, name string }
	for _, c := range []struct {
		members string
		want    want
	}{
		{`"content":"a"`, want{text: "a"}},
		{`"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, want{text: "ab"}},
		{`"content":{"type":"text","text":"a"}`, want{text: "a"}},
		{`"content":["a","b"]`, want{text: "ab"}},
		{`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true},{"type":"text","text":"a"}]`, want{text: "a", reasoning: "hm"}},
		{`"content":[{"type":"thinking","thinking":"hm"}]`, want{reasoning: "hm"}},
		{`"content":[{"type":"refusal","refusal":"no"}]`, want{text: "no"}},
		{`"content":null,"refusal":"no"`, want{text: "no"}},
		{`"refusal":"no","content":""`, want{text: "no"}},
		{`"content":"y","content":"a"`, want{text: "a"}},
		{`"channel":"analysis","reasoning":"hm"`, want{reasoning: "hm"}},
		{`"reasoning":{"text":"hm"}`, want{reasoning: "hm"}},
		{`"reasoning":{"content":[{"type":"text","text":"hm"}],"effort":"low"}`, want{reasoning: "hm"}},
		{`"reasoning_content":"hm","content":null`, want{reasoning: "hm"}},
		{`"reasoning":"hm","reasoning_content":"hm"`, want{reasoning: "hm"}},
		{`"reasoning_details":[{"type":"reasoning.text","text":"h","index":0},{"type":"reasoning.summary","summary":"m"}]`, want{reasoning: "hm"}},
		{`"reasoning_details":[{"type":"reasoning.encrypted","data":"c2ln","id":"r","format":"f"}],"content":""`, want{}},
		{`"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]`, want{reasoning: "hm"}},
		{`"reasoning_details":[{"type":"reasoning.text","text":"hm"}],"reasoning":"hm"`, want{reasoning: "hm"}},
		{`"thinking":"hm"`, want{reasoning: "hm"}},
		{`"thinking":{"content":"hm","signature":"c2ln"}`, want{reasoning: "hm"}},
		{`"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"c2ln"}],"reasoning_content":"hm"`, want{reasoning: "hm"}},
		{`"audio":{"id":"a","data":"QUJD","expires_at":1,"transcript":"a"}`, want{text: "a"}},
		{`"tool_calls":[{"index":0,"id":"x","type":"custom","custom":{"name":"f","input":"x"}}]`, want{call: "x", name: "f"}},
		{`"role":"assistant","name":"n","annotations":[{"type":"url_citation","url":"u"}],"provider_specific_fields":{"a":"b"},"content":""`, want{}},
	} {
		f := forms[0]
		streamed := f.read(`{"choices":[{"delta":{`+c.members+`},"finish_reason":null}]}`, f.text, ends(f.end, `"stop"`))
		assert.Equal(t, streamed.end(), "clean", "%s: %s", c.members, streamed.Err)
		assert.Equal(t, want{streamed.Text, streamed.Reasoning, streamed.ToolCall, streamed.ToolName}, want{c.want.text + "a", c.want.reasoning, c.want.call, c.want.name}, c.members)
		assert.Equal(t, streamed.Unread, "", c.members)
		whole := readBody(f.d, `{"choices":[{"message":{`+c.members+`},"finish_reason":"stop"}]}`)
		assert.Equal(t, want{whole.Text, whole.Reasoning, whole.ToolCall, whole.ToolName}, c.want, c.members)
		assert.Equal(t, whole.Unread, "", c.members)
	}
	// MiniMax repeats the reasoning before, and other servers do not.
	for want, texts := range map[string][]string{
		"aababc, d": {"a", "ab", "abc", "abc,", "abc, ", "abc, ", "abc, d"},
		"aabbaab":   {"a", "ab", "b", "aa", "b"},
		"------":    {"-", "--", "--", "-"},
	} {
		var documents []string
		for _, text := range texts {
			documents = append(documents, `{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"`+text+`"}]}}]}`)
		}
		f := forms[0]
		got := f.read(append(documents, f.text, ends(f.end, `"stop"`))...)
		assert.Equal(t, got.Reasoning, want)
	}
	// Together sends the text twice.
	got := forms[0].read(`{"choices":[{"text":"a","delta":{"token_id":9,"content":"a"},"finish_reason":null}]}`, `{"choices":[{"delta":{"content":"b"},"text":"b"}]}`, ends(forms[0].end, `"stop"`))
	assert.Equal(t, got.Text, "ab")
	// A part or a thought with an unknown member.
	for members, want := range map[string]string{
		`"content":[{"type":"novel","novel":"x"}]`:                       "content[].novel",
		`"reasoning":{"novel":"x"}`:                                      "reasoning.novel",
		`"tool_calls":[{"novel":"x"}]`:                                   "tool_calls[].novel",
		`"tool_calls":[{"function":{"novel":"x"}}]`:                      "function.novel",
		`"reasoning_details":[{"type":"reasoning.text","novel":["x"]}]`:  "reasoning.novel",
		`"images":[{"type":"image_url","image_url":{"url":"data:,x"}}]`:  "delta.images",
		`"content":[{"type":"image_url","image_url":{"url":"data:,x"}}]`: "content[].image_url",
	} {
		f := forms[0]
		assert.Equal(t, f.read(`{"choices":[{"delta":{`+members+`}}]}`, f.text, ends(f.end, `"stop"`)).Unread, want, members)
	}
}
