package benchdata

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/assert/cmp"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// words returns the number of words of a text.
func words(text string) int { return tokenizer.Words{}.Count(text) }

// shapeOf describes sessions: for each turn what it waits for, its pause, its length, its messages and the length of its answer.
func shapeOf(all RecordedSessions) string {
	var b strings.Builder
	for i, r := range all.Requests {
		at := ""
		if i < len(all.At) {
			at = " at " + all.At[i].String()
		}
		fmt.Fprintf(&b, "session%s\n", at)
		turns := append([]llmbench.Turn{{Messages: r.Messages, PromptTokens: r.PromptTokens, MaxTokens: r.MaxTokens, FixedOutput: r.FixedOutput, Reply: r.Reply, Whole: true}}, r.Then...)
		for k, t := range turns {
			fmt.Fprintf(&b, "%d", k)
			if k > 0 {
				fmt.Fprintf(&b, " after %d", t.After)
			}
			if t.Think > 0 {
				fmt.Fprintf(&b, " think %v", t.Think)
			}
			if t.Every > 0 {
				fmt.Fprintf(&b, " every %v", t.Every)
			}
			if t.Whole {
				b.WriteString(" whole")
			}
			for _, m := range t.Messages {
				fmt.Fprintf(&b, " %s:%d", m.Role, words(m.Content))
			}
			fmt.Fprintf(&b, ", %d tokens, answer %d", t.PromptTokens, t.MaxTokens)
			if t.Reply != "" {
				fmt.Fprintf(&b, ", reply %d", words(t.Reply))
			}
			fmt.Fprintf(&b, ", depth %d\n", all.Depths[i][k])
		}
	}
	return b.String()
}

// sessionFiles has a file of each format, made by hand, and what it means, computed by hand.
var sessionFiles = map[string]struct {
	shape        string
	known, asked int // tokens that come again, and all tokens of prompts
	agents, cut  int
	unknown      string
}{
	// 0 ends at 2. 1 begins at 2.5 and ends at 3.5; 2 begins at 3, when 1 is in flight, and ends at 7; 3 begins at 5. 4, in the background, is
	// 0.5 s after its sub-agent began at 3. 5 at 13 waits for the sub-agent, which had ended at 12, and its last requests, at 7 and 8. 6 comes
	// 100 s after the end of 5, and goes back to the beginning of 0.
	"weka.json": {`session
0 whole user:10, 10 tokens, answer 5, depth 1
1 after [0] think 500ms whole user:8, 8 tokens, answer 3, depth 1
2 after [0] think 1s whole user:4, 4 tokens, answer 1, depth 1
3 after [1] think 1.5s whole user:8 assistant:4 user:5, 17 tokens, answer 2, depth 2
4 after [0] think 1.5s whole user:4, 4 tokens, answer 100, depth 1
5 after [0 2 3] think 5s whole user:8 assistant:8 user:8, 24 tokens, answer 1, depth 2
6 after [5] think 10s whole user:13, 13 tokens, answer 1, depth 3
`, 4 + 8 + 8 + 8, 80, 2, 1, "owner 1 time, requests[].requests[].note 2 times"},
	"mooncake.jsonl": {`session at 0s
0 whole user:1030, 1030 tokens, answer 52, depth 1
session at 500ms
0 whole user:2, 2 tokens, answer 4, reply 4, depth 1
1 after [0] think 250ms user:3, 9 tokens, answer 3, reply 3, depth 2
2 after [1] think 10s user:6, 18 tokens, answer 1, depth 3
session at 700ms
0 whole user:1, 1 tokens, answer 2, depth 1
1 after [0] every 1s whole system:1 user:2, 3 tokens, answer 7, depth 2
session at 2s
0 whole user:1030, 1030 tokens, answer 10, depth 1
`, 6 + 12 + 1024, 2093, 0, 1, "extra 1 time, tools 1 time"},
	"plain.jsonl": {`session at 0s
0 whole user:20, 20 tokens, answer 9, depth 1
1 after [] think 125ms whole user:16, 16 tokens, answer 2, depth 1
2 after [0] whole user:16 assistant:16 user:8, 40 tokens, answer 3, depth 2
session at 250ms
0 whole user:100, 100 tokens, answer 20, reply 20, depth 1
1 after [0] think 200ms whole user:2, 2 tokens, answer 5, depth 1
2 after [0 1] think 1.5s user:30, 150 tokens, answer 40, reply 40, depth 2
3 after [2] user:2, 192 tokens, answer 1, depth 3
`, 8 + 16 + 120 + 190, 520, 2, 0, "note 1 time"},
	// root: 1 is the spawn before the session; 2 and 3 are a, for which 5 waits; 4 is b, for which 6 waits; 7 and 8 are the forks. spine: two
	// conversations at once, then x again, and then y.
	"dag.jsonl": {`session
0 whole system:2 user:1, 3 tokens, answer 4, reply 4, depth 1
1 after [] whole user:2, 2 tokens, answer 3, depth 1
2 after [0] whole user:2, 2 tokens, answer 7, reply 7, depth 1
3 after [2] user:2, 11 tokens, answer 8, depth 2
4 after [0] think 100ms whole user:3, 3 tokens, answer 9, depth 1
5 after [0 3] think 250ms user:1, 8 tokens, answer 5, reply 5, depth 2
6 after [5 4] user:1, 14 tokens, answer 6, reply 6, depth 3
7 after [6] user:1, 21 tokens, answer 1, depth 4
8 after [6] user:1, 21 tokens, answer 2, depth 4
session
0 whole user:2, 2 tokens, answer 1, depth 1
1 after [0] whole user:3, 3 tokens, answer 1, depth 2
2 after [] whole user:1, 1 tokens, answer 1, depth 1
3 after [1 2] think 50ms whole user:2, 2 tokens, answer 1, depth 3
4 after [3] whole user:3, 3 tokens, answer 1, depth 4
5 after [4] think 70ms whole user:1, 1 tokens, answer 1, depth 1
`, 9 + 7 + 13 + 20 + 20, 3 + 2 + 2 + 11 + 3 + 8 + 14 + 21 + 21 + 12, 7, 0, "turns[].extra 1 time"},
	"multiturn.jsonl": {`session at 0s
0 whole user:1, 1 tokens, answer 1, depth 1
session at 500ms
0 whole user:2, 2 tokens, answer 3, reply 3, depth 1
1 after [0] every 1.2s user:1 user:1, 7 tokens, answer 2, reply 2, depth 2
2 after [1] think 40ms user:1, 10 tokens, answer 1, depth 3
`, 5 + 9, 20, 0, 0, "turns[].extra 1 time"},
	// The answer to the first message has 5 tokens of reasoning and 9 of a call, whatever its limit is. The last message has no
	// answer of known length.
	"endpoints.jsonl": {`session
0 whole system:3 user:3, 6 tokens, answer 14, reply 9, depth 1
1 after [0] think 1.5s user:3 user:1, 19 tokens, answer 4, depth 2
session
0 whole user:1, 1 tokens, answer 2, depth 1
`, 15, 26, 0, 0, "tools 1 time"},
	// 1 and 2 wait for 0, which ended last before them. 3 has the answers of all; 0 is left out except as its conversation.
	"otel.json": {`session
0 whole user:2, 2 tokens, answer 9, reply 9, depth 1
1 after [0] think 125ms whole user:1, 1 tokens, answer 3, depth 1
2 after [0] think 250ms whole user:1, 1 tokens, answer 1, depth 1
3 after [0 1 2] think 1s user:2 assistant:3 assistant:1 user:2, 19 tokens, answer 1, depth 2
`, 11, 23, 2, 0, "spans[].attributes.gen_ai.request.temperature 1 time"},
	"graph.jsonl": {`session
0 whole system:2 user:1, 3 tokens, answer 5, reply 5, depth 1
1 after [0] whole user:12, 12 tokens, answer 4, depth 1
2 after [0 1] user:3, 11 tokens, answer 3, depth 2
`, 8, 26, 1, 0, "turns[].settings 1 time"},
	"agentic.json": {`session
0 whole system:4 user:1, 5 tokens, answer 220, reply 220, depth 1
1 after [0] user:2, 227 tokens, answer 220, depth 2
session
0 whole user:1, 1 tokens, answer 220, depth 1
`, 225, 233, 0, 0, "conversations[][].rating 1 time"},
	"chats.json": {`session
0 whole user:2, 2 tokens, answer 3, reply 3, depth 1
1 after [0] user:1, 6 tokens, answer 1, depth 2
session
0 whole user:1, 1 tokens, answer 2, depth 1
`, 5, 9, 0, 0, "source 1 time"},
	// 2 waits for 1, and is 1 s after its end. The others failed, have no tokens or no messages, or are tools.
	"exgentic.jsonl": {`session
0 whole system:2 user:2, 4 tokens, answer 9, reply 9, depth 1
1 after [0] think 1s user:1, 14 tokens, answer 3, depth 2
session
0 whole user:1, 1 tokens, answer 2, depth 1
`, 13, 19, 0, 0, "note 1 time, spans[] of calls that failed 1 time, spans[] of calls without tokens 1 time, " +
		"spans[] of the operation chat without gen_ai.input.messages 1 time, spans[].attributes.gen_ai.input.messages[] thoughts 1 time, spans[].attributes.gen_ai.tool.definitions 1 time"},
	// p1 ends at 1100, and f1 at 1600. f1 at 1500 comes after p1 by way of j, a, b2 and b; p2 and x at 2600 come after f1 by way of w, and x after p1 by way
	// of a.
	"aibrix.jsonl": {`session at 0s
0 whole user:3, 3 tokens, answer 4, depth 1
1 after [0] think 400ms whole user:4, 4 tokens, answer 5, depth 2
2 after [1] think 1s whole user:2, 2 tokens, answer 6, depth 3
3 after [0 1] think 1s whole user:1, 1 tokens, answer 1, depth 2
session at 400ms
0 whole user:7, 7 tokens, answer 2, depth 1
`, 0, 17, 0, 0, "requests[].priority 1 time"},
	// a has 2 whole blocks of 64 tokens at first, keeps both of 4, of which the third is the answer, and then one. It is sent at 0, 3 and 65 s, and
	// ends at 2, 5 and 66 s.
	"tracelab.jsonl": {`session
0 whole user:130, 130 tokens, answer 10, depth 1
1 after [0] think 1s whole user:128 assistant:64 user:68, 260 tokens, answer 2, depth 2
2 after [1] think 10s whole user:70, 70 tokens, answer 1, depth 3
session
0 whole user:10, 10 tokens, answer 3, depth 1
`, 128 + 64, 470, 0, 1, "note 1 time, rounds without a time 1 time, timing_events[].x 1 time"},
	"trie.jsonl": {`session
0 whole user:12, 12 tokens, answer 5, reply 5, depth 1
1 after [0] think 250ms user:3, 20 tokens, answer 6, reply 6, depth 2
2 after [1] think 10s user:1, 27 tokens, answer 7, depth 3
session
0 whole user:4, 4 tokens, answer 2, depth 1
`, 17 + 26, 63, 0, 1, "task 1 time"},
}

// TestSessionFiles compares each file with what it means.
func TestSessionFiles(t *testing.T) {
	seen := map[string]bool{}
	for file, want := range sessionFiles {
		got, err := Sessions{Path: filepath.Join("testdata/sessions", file), Seed: 1}.Load(0)
		assert.NilError(t, err)
		seen[got.Format] = true
		assert.Check(t, cmp.Equal(shapeOf(got), want.shape), file)
		assert.Check(t, cmp.Equal(got.ImpliedHits, float64(want.known)/float64(want.asked)), file)
		assert.Check(t, cmp.DeepEqual([]int{got.Agents, got.Cut}, []int{want.agents, want.cut}), file)
		assert.Check(t, cmp.Equal(got.Unknown, want.unknown), file)
	}
	for _, f := range sessionFormats {
		assert.Assert(t, seen[f.name], "no file of the format %s", f.name)
	}
}

// plainOf returns a session in llmbench's own format, which has no time from one send to the next.
func plainOf(r recording) plainSession {
	p := plainSession{Session: r.id, Block: tokenCount(r.block), Shared: !r.own}
	if r.at >= 0 {
		at := span(r.at.Seconds())
		p.At = &at
	}
	for _, t := range r.turns {
		q := plainTurn{Agent: t.agent, After: append([]int{}, t.after...), Delay: span(t.delay.Seconds()), Input: tokenCount(t.input), Whole: t.whole, Output: tokenCount(max(t.output, t.usual)), Reply: t.reply}
		if t.hashed {
			q.Blocks = append([]uint64{}, t.blocks...)
		}
		for _, m := range t.messages {
			content, _ := json.Marshal(m.Content)
			q.Messages = append(q.Messages, chatMessage{Role: m.Role, Content: content})
		}
		if t.messages != nil {
			q.Input = 0
		}
		p.Turns = append(p.Turns, q)
	}
	return p
}

// TestSessionRoundTrips writes the sessions of each file in llmbench's own format, and compares what is read from it.
func TestSessionRoundTrips(t *testing.T) {
	for file := range sessionFiles {
		text, err := os.ReadFile(filepath.Join("testdata/sessions", file))
		assert.NilError(t, err)
		want, err := Sessions{Seed: 1}.Read(bytes.NewReader(text), 0)
		assert.NilError(t, err)
		src, err := newSource(bytes.NewReader(text))
		assert.NilError(t, err)
		var plain bytes.Buffer
		skipped := false
		for r, err := range (&sessionReader{}).read(src) {
			assert.NilError(t, err)
			for _, turn := range r.turns {
				skipped = skipped || turn.every > 0 || turn.thought != ""
			}
			line, err := json.Marshal(plainOf(r), json.OmitZeroStructFields(true))
			assert.NilError(t, err)
			if r.id == "" { // omitted
				line = append([]byte(`{"session": "", `), line[1:]...)
			}
			plain.Write(append(line, '\n'))
		}
		if skipped {
			assert.Assert(t, file == "mooncake.jsonl" || file == "multiturn.jsonl" || file == "endpoints.jsonl", file)
			continue
		}
		got, err := Sessions{Seed: 1}.Read(&plain, 0)
		assert.NilError(t, err, file)
		assert.Equal(t, got.Format, "plain")
		assert.Check(t, cmp.DeepEqual(got.Requests, want.Requests), file)
		assert.Check(t, cmp.DeepEqual([]any{got.Depths, got.At, got.ImpliedHits, got.Agents, got.Cut}, []any{want.Depths, want.At, want.ImpliedHits, want.Agents, want.Cut}), file)
	}
}

// whole returns the text of the conversation of turn i, of a session whose turns send whole conversations.
func whole(r llmbench.Request, i int) string {
	messages := r.Messages
	if i > 0 {
		messages = r.Then[i-1].Messages
	}
	var all []string
	for _, m := range messages {
		all = append(all, m.Content)
	}
	return strings.Join(all, " ")
}

// TestSessionBlocks checks that prompts begin alike exactly as the names of their blocks say, whatever the messages are, and that
// seed, salt and copies of a session change all words.
func TestSessionBlocks(t *testing.T) {
	s := Sessions{Path: "testdata/sessions/weka.json", Seed: 1}
	all, err := s.Load(2)
	assert.NilError(t, err)
	r, again := all.Requests[0], all.Requests[1]
	for _, tt := range []struct{ a, b, want int }{{0, 1, 4}, {1, 3, 8}, {0, 5, 8}, {5, 6, 8}, {0, 6, 8}, {0, 2, 0}, {1, 4, 0}} {
		assert.Equal(t, commonWords(whole(r, tt.a), whole(r, tt.b)), tt.want, "%+v", tt)
	}
	assert.Equal(t, commonWords(whole(r, 0), whole(again, 0)), 0)
	assert.Equal(t, commonWords(whole(again, 0), whole(again, 1)), 4)
	same, err := s.Load(1)
	assert.NilError(t, err)
	assert.DeepEqual(t, same.Requests[0], r)
	for _, other := range []Sessions{{Path: s.Path, Seed: 2}, {Path: s.Path, Seed: 1, Salt: 1}} {
		others, err := other.Load(1)
		assert.NilError(t, err)
		assert.Equal(t, commonWords(whole(r, 0), whole(others.Requests[0], 0)), 0)
	}
	// Blocks of a trace without names are kept as far as it says.
	all, err = Sessions{Path: "testdata/sessions/tracelab.jsonl", Seed: 1}.Load(0)
	assert.NilError(t, err)
	assert.Equal(t, commonWords(whole(all.Requests[0], 0), whole(all.Requests[0], 1)), 128)
	assert.Equal(t, commonWords(whole(all.Requests[0], 0), whole(all.Requests[0], 2)), 64)
	// Names that all sessions share have the same text in each of them.
	all, err = Sessions{Path: "testdata/sessions/mooncake.jsonl"}.Load(0)
	assert.NilError(t, err)
	assert.Equal(t, commonWords(whole(all.Requests[0], 0), whole(all.Requests[3], 0)), 1024)
}

// TestSessionDetails compares what files mean with what was computed by hand.
func TestSessionDetails(t *testing.T) {
	for name, tt := range map[string]struct{ file, shape string }{
		"results of tools in both spellings": {`{"spans": [{"name": "chat m", "start_time": "2026-02-25T10:00:00Z", "end_time": "2026-02-25T10:00:01Z", "attributes": {"gen_ai.usage.output_tokens": 2,
			"gen_ai.input.messages": [{"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "snow in Oslo"}]}, {"role": "tool", "parts": [{"type": "tool_call_response", "id": "2", "result": "rain now"}]}]}}]}`, `session
0 whole user:3 user:2, 5 tokens, answer 2, depth 1
`},
		"a fork in the background": {`{"session_id": "a", "turns": [{"messages": [{"role": "user", "content": "b"}], "max_tokens": 1, "forks": [{"child": "c", "background": true}]}, {"messages": [{"role": "user", "content": "b b"}], "max_tokens": 2}]}
			{"session_id": "c", "turns": [{"messages": [{"role": "user", "content": "c c c"}], "max_tokens": 3}]}`, `session
0 whole user:1, 1 tokens, answer 1, reply 1, depth 1
1 after [0] user:3, 5 tokens, answer 3, depth 2
2 after [0] user:2, 4 tokens, answer 2, depth 2
`},
		"instructions for the system": {`{"spans": [{"name": "chat m", "start_time": "2026-02-25T10:00:00Z", "end_time": "2026-02-25T10:00:01Z", "attributes": {"gen_ai.usage.output_tokens": 2,
			"gen_ai.system_instructions": "be brief now", "gen_ai.input.messages": [{"role": "user", "content": "hello"}]}}]}`, `session
0 whole system:3 user:1, 4 tokens, answer 2, depth 1
`},
		"named and unnamed sessions in the order of the file": {`{"text_input": "1", "output_length": 1} {"session_id": "a", "text_input": "1 2", "output_length": 2} {"text_input": "1 2 3", "output_length": 3}
			{"session_id": "b", "text_input": "1 2 3 4", "output_length": 4} {"session_id": "a", "text_input": "5", "output_length": 5} {"text_input": "1 2 3 4 5", "output_length": 6}`, `session
0 whole user:1, 1 tokens, answer 1, depth 1
session
0 whole user:2, 2 tokens, answer 2, reply 2, depth 1
1 after [0] user:1, 5 tokens, answer 5, depth 2
session
0 whole user:3, 3 tokens, answer 3, depth 1
session
0 whole user:4, 4 tokens, answer 4, depth 1
session
0 whole user:5, 5 tokens, answer 6, depth 1
`},
		"a message after a prompt of blocks": {`{"session": "a", "block": 4, "turns": [{"input": 6, "blocks": [1], "output": 5}, {"input": 3, "output": 1}]}`, `session
0 whole user:6, 6 tokens, answer 5, reply 5, depth 1
1 after [0] user:3, 14 tokens, answer 1, depth 2
`},
		"a sub-agent that is longer than the time before it": {`{"block_size": 4, "requests": [{"type": "n", "t": 0, "api_time": 1, "in": 4, "out": 1}, {"type": "subagent", "t": 2, "requests": [
			{"type": "n", "t": 0, "api_time": 1, "in": 4, "out": 1}, {"type": "n", "t": 3, "api_time": 1, "in": 4, "out": 1}]}]}`, `session
0 whole user:4, 4 tokens, answer 1, depth 1
1 after [0] think 1s whole user:4, 4 tokens, answer 1, depth 1
2 after [1] think 2s whole user:4, 4 tokens, answer 1, depth 2
`},
		"a session that begins late": {`{"session": "a", "turns": [{"input": 1, "output": 1, "delay": 20}, {"input": 1, "output": 1, "after": [], "whole": true, "delay": 21}, {"input": 1, "output": 1, "after": [], "whole": true, "delay": 2}]}`, `session
0 whole user:1, 1 tokens, answer 1, depth 1
1 after [] think 1s whole user:1, 1 tokens, answer 1, depth 1
2 after [] whole user:1, 1 tokens, answer 1, depth 1
`},
		"an answer without a text, and one that is shorter than its limit": {`{"conversation_id": "a", "turn": 1, "role": "user", "content": "one two", "max_new_tokens": 7}
			{"conversation_id": "a", "turn": 2, "role": "assistant", "content": null} {"conversation_id": "a", "turn": 3, "role": "user", "content": "go on", "max_new_tokens": 9}
			{"conversation_id": "a", "turn": 4, "role": "assistant", "content": "it is done"}`, `session
0 whole user:2, 2 tokens, answer 7, reply 7, depth 1
1 after [0] user:2, 11 tokens, answer 3, depth 2
`},
		"an orchestrator with conversations before it": {`{"session_id": "a", "orchestrator": true, "spawns": ["b"], "pre_session_spawns": ["c"]}
			{"session_id": "b", "turns": [{"messages": [{"role": "user", "content": "b"}], "max_tokens": 1}]} {"session_id": "c", "turns": [{"messages": [{"role": "user", "content": "c c"}], "max_tokens": 1}]}`, `session
0 whole user:2, 2 tokens, answer 1, depth 1
1 after [] whole user:1, 1 tokens, answer 1, depth 1
`},
	} {
		got, err := Sessions{Seed: 1}.Read(strings.NewReader(tt.file), 0)
		assert.NilError(t, err, name)
		assert.Check(t, cmp.Equal(shapeOf(got), tt.shape), name)
		assert.Check(t, cmp.Equal(got.Cut, 0), name)
	}
}

// TestSessionsDiffer checks that sessions without a name, or with the same one, have different words.
func TestSessionsDiffer(t *testing.T) {
	for _, file := range []string{
		`{"input_length": 20, "output_length": 1} {"input_length": 20, "output_length": 1}`,
		`{"session": "a", "turns": [{"input": 20, "output": 1}]} {"session": "a", "turns": [{"input": 20, "output": 1}]}`,
	} {
		all, err := Sessions{Seed: 1}.Read(strings.NewReader(file), 0)
		assert.NilError(t, err)
		assert.Equal(t, commonWords(whole(all.Requests[0], 0), whole(all.Requests[1], 0)), 0, file)
	}
}

// TestFirstSessions checks that the first sessions of a file are the same, however many are asked for.
func TestFirstSessions(t *testing.T) {
	const file = `{"text_input": "1", "output_length": 1} {"session_id": "a", "text_input": "1 2", "output_length": 2} {"text_input": "1 2 3", "output_length": 3} {"session_id": "a", "text_input": "5", "output_length": 5}`
	all, err := Sessions{Seed: 1}.Read(strings.NewReader(file), 0)
	assert.NilError(t, err)
	for n := 1; n <= 3; n++ {
		some, err := Sessions{Seed: 1}.Read(strings.NewReader(file), n)
		assert.NilError(t, err)
		assert.DeepEqual(t, some.Requests, all.Requests[:n])
	}
}

// TestReplies checks what stands for answers.
func TestReplies(t *testing.T) {
	const file = `{"session": "a", "turns": [{"input": 4, "output": 3, "reply": "yes I do"}, {"input": 2, "output": 9, "reply": "no"}, {"input": 1, "reply": "one two"}]}`
	for _, tt := range []struct {
		replies Replies
		want    []string
	}{{Own, []string{"", "", ""}}, {Recorded, []string{"yes I do", "no", "one two"}}} {
		got, err := Sessions{Replies: tt.replies}.Read(strings.NewReader(file), 0)
		assert.NilError(t, err)
		r := got.Requests[0]
		assert.DeepEqual(t, []string{r.Reply, r.Then[0].Reply, r.Then[1].Reply}, tt.want)
		assert.Equal(t, r.Then[1].MaxTokens, 2) // the length of the recorded answer
	}
}

func TestSessionErrors(t *testing.T) {
	for _, tt := range []struct {
		s    Sessions
		file string
		n    int
		want string
	}{
		{Sessions{}, `{"a":1}`, 0, `sessions: line 1: record 0: the first record has the members ["a"]: want the members of one of the formats weka (requests, block_size), `},
		{Sessions{}, `[1]`, 0, "sessions: line 1: record 0: the record is a JSON number: want an object"},
		{Sessions{}, ``, 0, "sessions: the file is empty"},
		{Sessions{}, `[]`, 0, "sessions: the file has no sessions"},
		{Sessions{}, `{"requests": [], "block_size": 4}`, 0, `sessions: line 1: session "" has no requests: want at least one`},
		{Sessions{}, `{"requests": [], "block_size": 0}`, 0, `sessions: line 1: record 0: "block_size" is 0: want at least 1`},
		{Sessions{}, `{"requests": [{"type":"n","in":1.5}], "block_size": 4}`, 0, `sessions: line 1: record 0: "requests.0.in" is 1.5: want a whole number of tokens from 0 to 134217728`},
		{Sessions{}, `{"requests": [{"type":"x","in":1}], "block_size": 4}`, 0, `sessions: line 1: record 0: "requests.0.type" is "x": want n, s or subagent`},
		{Sessions{}, `{"requests": [{"type":"n","in":1,"hash_ids":["a"]}], "block_size": 4}`, 0, `sessions: line 1: record 0: "requests.0.hash_ids.0" is a JSON string: want a whole number, at least 0`},
		{Sessions{}, `{"requests": [{"type":"n","in":8,"hash_ids":[1,2,3]}], "block_size": 4}`, 0, `sessions: line 1: session "", turn 0 has 3 names of blocks for 8 tokens: want at most 2, one for each 4 tokens`},
		{Sessions{}, `{"requests": [{"type":"n","in":8,"t":-1}], "block_size": 4}`, 0, `sessions: line 1: record 0: "requests.0.t" is -1: want a time from 0 to 1e+12`},
		{Sessions{}, "{\"input_length\": 5, \"output_length\": 1}\n{\"input_length\": 5, \"text_input\": \"a\"}", 0, "sessions: line 2: record 1: 2 of the members input_length, text_input, messages and payload: want one"},
		{Sessions{}, `{"input_length": 5}`, 0, `sessions: session "": turn 0: the file has no length of the answer: want an Output, as in output=200`},
		{Sessions{Replies: Recorded}, `{"session": "a", "turns": [{"input": 4, "output": 3}, {"input": 2, "output": 9}]}`, 0, `sessions: session "a": turn 0: the file has no answer, and replies are recorded: want made-up or own`},
		{Sessions{Replies: Own}, `{"requests": [{"type":"n","in":8}], "block_size": 4}`, 0, `sessions: session "": turn 0: its prompt is names of blocks, with a made-up text, and replies are own: want made-up`},
		{Sessions{}, `{"session": "a", "turns": [{"input": 1, "output": 1}, {"input": 1, "output": 1, "after": [1]}]}`, 0, `sessions: line 1: session "a", turn 1 waits for the turns [1]: want different ones of those before it`},
		{Sessions{}, `{"session": "a", "turns": [{"output": 1}]}`, 0, `sessions: line 1: session "a", turn 0 has no input: want messages, or at least one token`},
		{Sessions{}, `{"session": "a", "turns": [{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}]}`, 0, `sessions: line 1: record 0: "turns.0.messages": message 0: a part of a "content" has the type "image_url": want text alone`},
		{Sessions{}, `{"session": "a", "turns": [{`, 0, "sessions: line 1: record 0: jsontext: unexpected EOF"},
		{Sessions{}, `{"session": "a", "turns": [{"after": ["b"]}]}`, 0, `sessions: line 1: record 0: "turns.0.after.0" is a JSON string: want a whole number`},
		{Sessions{}, `{"session_id": "a", "orchestrator": true}`, 0, `sessions: line 1: record 0: "orchestrator" is true without "spawns": want the conversations that it starts`},
		{Sessions{}, `{"session_id": "a", "turns": [{"messages": [{"role": "user", "content": "b"}], "spawns": ["a"]}]}`, 0, "sessions: each of 1 conversations is started by another one: want one that is not"},
		{Sessions{}, `{"session_id": "a", "turns": [{"messages": [{"role": "user", "content": "b"}], "max_tokens": 1, "spawns": ["c"]}]}`, 0, `sessions: session "a": there is no conversation "c", which is started: want its record`},
		{Sessions{}, "{\"session_id\": \"a\", \"orchestrator\": true, \"spawns\": [\"b\"]}\n{\"session_id\": \"b\", \"orchestrator\": true, \"spawns\": [\"b\"]}", 0, `sessions: session "a": conversation "b" starts itself`},
		{Sessions{}, `{"session_id": "a", "turns": [{"messages": [{"role": "user", "content": "b"}], "spawns": [{"children": ["c"], "join_at": 1}]}]} {"session_id": "c", "turns": [{"messages": [{"role": "user", "content": "b"}]}]}`, 0, `sessions: session "a": conversation "a", turn 0: "join_at" is 1: want the number of a later turn, up to 0`},
		{Sessions{}, `{"session_id": "a", "turns": [{"text": "b", "image": "c"}]}`, 0, `sessions: line 1: record 0: "turns.0.image" cannot be sent: want only text`},
		{Sessions{}, `{"session_id": "a", "turns": [{"text": "b", "timestamp": 2}, {"text": "b", "timestamp": 1}]}`, 0, `sessions: line 1: record 0: "turns.1.timestamp" is 1 after 2: want turns of a session in order of time`},
		{Sessions{}, `{"conversation_id": "a", "turn": 2, "role": "user", "content": "b"}`, 0, `sessions: session "a": "turn" is 2: want 1, because turns are numbered from 1`},
		{Sessions{}, `{"conversation_id": "a", "turn": 1, "role": "assistant", "content": "b"}`, 0, `sessions: session "a": turn 1: an answer follows no message: want a message of the user before it`},
		{Sessions{}, `{"conversation_id": "a", "turn": 1, "role": "robot", "content": "b"}`, 0, `sessions: session "a": turn 1: "role" is "robot": want system, developer, user, assistant or tool`},
		{Sessions{}, `{"spans": []}`, 0, `sessions: line 1: record 0: "spans" has no request of the operation chat with "gen_ai.input.messages"`},
		{Sessions{}, `{"spans": [{"name": "chat a", "start_time": "now", "attributes": {"gen_ai.input.messages": "[{\"role\": \"user\", \"content\": \"a\"}]"}}]}`, 0, `sessions: line 1: record 0: "spans.0": "start_time" is "now": want a time like 2026-02-25T10:00:00.5Z`},
		{Sessions{}, `{"turns": [{"node_id": "a", "parents": [{"parent_node_id": "a"}]}]}`, 0, "sessions: line 1: record 0: 1 turns wait for each other in a circle: want none"},
		{Sessions{}, `{"turns": [{"node_id": "a", "parents": [{"parent_node_id": "b"}]}]}`, 0, `sessions: line 1: record 0: "turns.0.parents" has "b": want the node_id of a turn`},
		{Sessions{}, `{"turns": [{"node_id": "a"}, {"node_id": "b", "parents": [{"parent_node_id": "a", "history_context": "last"}]}]}`, 0, `sessions: line 1: record 0: "turns.1.parents" has the history_context "last": want full or new`},
		{Sessions{}, `{"turns": [{"node_id": "a", "columns": {"text_column": 1}}]}`, 0, `sessions: line 1: record 0: "turns.0.columns.text_column" is 1: want a string, or an array of strings`},
		{Sessions{}, `{"session_id": "a", "turns": [{"messages": [{"role": "user", "content": "b"}], "forks": ["c"]}, {"messages": [{"role": "user", "content": "b"}]}]} {"session_id": "c", "turns": [{"messages": [{"role": "user", "content": "b"}]}]}`, 0, `sessions: session "a": conversation "a", turn 0 forks into "c", after which it ends, and is not the last turn: want "background": true`},
		{Sessions{}, `{"schema_version": "v2", "timestamp": 1, "requests": []}`, 0, `sessions: line 1: record 0: "schema_version" is "v2": want aibrix.agent-session.v1`},
		{Sessions{}, `{"schema_version": "aibrix.agent-session.v1", "timestamp": 1, "requests": [{"session_id": "a", "agent": {"node_id": "b"}}], "events": [{"session_id": "a", "node_id": "b"}]}`, 0, `sessions: line 1: record 0: "events.0.node_id" is "b": want a name that no other node of session "a" has`},
		{Sessions{}, `{"schema_version": "aibrix.agent-session.v1", "timestamp": 1, "requests": [{"session_id": "a", "agent": {"node_id": "b", "parent_ids": ["c"]}}]}`, 0, `sessions: session "a": node "b" has the parent "c": want the node_id of a node of the session`},
		{Sessions{}, `{"schema_version": "aibrix.agent-session.v1", "timestamp": 1, "requests": [{"session_id": "a", "agent": {"node_id": "b", "parent_ids": ["b"]}}]}`, 0, `sessions: session "a": 1 nodes wait for each other in a circle: want none`},
		{Sessions{}, `{"session_id": "a", "round_index": 0, "input_tokens_total": 3, "timing_events": [{"event_type": "text", "timestamp": "soon"}]}`, 0, `sessions: line 1: record 0: "timing_events.0.timestamp" is "soon": want a time like 2026-02-25T10:00:00.5Z, from 1970 to 2200`},
		{Sessions{}, `{"session_id": "a", "round_index": 0, "input_tokens_total": 3}`, 0, `sessions: session "a" has no requests: want at least one`},
		{Sessions{}, `{"input_prompt_length": 5, "num_turns": 2, "assistant_response_length": [1, 2], "tool_call_output_length": [1], "tool_call_latency": [0, 0]}`, 0, `sessions: line 1: record 0: "tool_call_output_length" has 1 numbers, and "num_turns" is 2: want one for each turn`},
		{Sessions{}, `{"input_prompt_length": 5, "num_turns": 1, "assistant_response_length": [1], "tool_call_output_length": [1], "tool_call_latency": [-1]}`, 0, `sessions: line 1: record 0: "tool_call_latency.0" is -1: want a time from 0 to 1e+12`},
		{Sessions{}, `{}`, -1, "sessions: -1 sessions: want at least 1, or 0 for all"},
		{Sessions{Replies: "x"}, `{}`, 0, `sessions: field Replies is "x": want made-up, recorded or own`},
		{Sessions{Cap: -1}, `{}`, 0, "sessions: field Cap is -1ns: want above 0, or 0 for 10s"},
		{Sessions{Output: -1}, `{}`, 0, "sessions: field Output is -1 tokens: want from 1 to 134217728, or 0 for none"},
	} {
		_, err := tt.s.Read(strings.NewReader(tt.file), tt.n)
		assert.ErrorContains(t, err, tt.want, tt.file)
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	assert.NilError(t, os.WriteFile(path, []byte("\n{\"input_length\": 5, \"output_length\": 1}\n\n{\"input_length\": true}\n"), 0o666))
	_, err := Sessions{Path: path}.Load(0)
	assert.Error(t, err, `sessions `+path+`:4: record 1: "input_length" is true: want a whole number of tokens from 0 to 134217728`)
}

// wide returns files in which n turns are at the same place of a graph.
var wide = map[string]func(n int) string{
	"guidellm-graph": func(n int) string {
		return `{"turns": [{"node_id": "a", "columns": {"prompt_tokens_count_column": 1, "output_tokens_count_column": 1}}` + numbered(n, `, {"node_id": %d, "parents": [{"parent_node_id": "a"}], "columns": {"prompt_tokens_count_column": 1, "output_tokens_count_column": 1}}`) + `]}`
	},
	"otel": func(n int) string {
		return `{"spans": [{}` + numbered(n, `, {"name": "chat m", "start_time": "2026-02-25T10:00:00Z", "end_time": "2026-02-25T10:00:00Z", "attributes": {"gen_ai.input.messages": [{"role": "user", "content": %d}], "gen_ai.output.text": "yes"}}`) + `]}`
	},
	"dag_jsonl": func(n int) string {
		return `{"session_id": "a", "orchestrator": true, "spawns": ["0"` + numbered(n-1, `, %d`) + `]}` + numbered(n, `{"session_id": %d, "turns": [{"messages": [{"role": "user", "content": "b"}], "max_tokens": 1}]}`)
	},
	"aibrix-agent-session": func(n int) string {
		return `{"schema_version": "aibrix.agent-session.v1", "timestamp": 0, "requests": [{"session_id": "a", "prompt_length": 1, "output_length": 1, "agent": {"node_id": "a"}}` + numbered(n, `, {"session_id": "a", "prompt_length": 1, "output_length": 1, "agent": {"node_id": %d, "parent_ids": ["a"]}}`) + `]}`
	},
}

// numbered returns a text n times, with numbers in quotation marks.
func numbered(n int, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, strings.ReplaceAll(text, "%d", `"%[1]d"`), i)
	}
	return b.String()
}

// TestSessionLimits checks that files whose sessions would need much more time or memory than they are long are errors.
func TestSessionLimits(t *testing.T) {
	subagents := `{"block_size": 4, "requests": [{"type": "n", "in": 1}` + numbered(1025, `, {"type": "subagent", "agent_id": %d, "duration_ms": 1e9, "requests": [{"type": "n", "in": 1}]}`) + `]}`
	inner := `{"block_size": 4, "requests": [{"type": "subagent", "requests": [{"type": "n", "in": 1, "api_time": 9}` + strings.Repeat(`, {"type": "n", "in": 1, "api_time": 9}`, 1024) + `]}]}`
	chain := numbered(1001, `{"session_id": %d, "turns": [{"messages": [{"role": "user", "content": "b"}], "max_tokens": 1, "spawns": ["next"]}]}`)
	for i := range 1001 {
		chain = strings.Replace(chain, `"next"`, fmt.Sprintf(`"%d"`, i+1), 1)
	}
	span := func(from, to int, messages string) string {
		return fmt.Sprintf(`{"name": "chat m", "start_time": "2026-02-25T10:00:0%dZ", "end_time": "2026-02-25T10:00:0%dZ", "attributes": {"gen_ai.input.messages": [%s], "gen_ai.output.text": "yes"}}`, from, to, messages)
	}
	joins := `{"spans": [{}` + strings.Repeat(", "+span(0, 1, `{"role": "user", "content": "a"}`), 2100) + strings.Repeat(", "+span(2, 3, `{"role": "assistant", "content": "yes"}`), 2100) + `]}`
	for want, file := range map[string]string{
		`sessions: line 1: record 0: its requests wait for more than 4194304 requests together`:                                                        joins,
		`sessions: line 1: record 0: "spans" has 16385 requests: want at most 16384`:                                                                   wide["otel"](mostCalls + 1),
		`sessions: session "0": conversation "1000" is started by a chain of 1000 others: want at most 999`:                                            chain,
		`sessions: session "a": its turns wait for more than 4194304 turns together`:                                                                   strings.Replace(wide["dag_jsonl"](2100), `"orchestrator"`, `"rounds": 2, "orchestrator"`, 1),
		`sessions: line 1: record 0: "requests.1025" ends after the request before it, as do more than 1024 requests of sub-agents: want at most 1024`: subagents,
		`sessions: line 1: record 0: "requests.0.requests.1024" begins while 1024 others of the sub-agent are in flight: want at most 1023`:            inner,
	} {
		_, err := Sessions{}.Read(strings.NewReader(file), 0)
		assert.Error(t, err, want)
	}
}

// BenchmarkWideSessions reads sessions in which many turns wait for one. The time for each turn should not grow with their number, except in
// traces of otel, of which the number is limited.
func BenchmarkWideSessions(b *testing.B) {
	for format, file := range wide {
		for _, n := range []int{1 << 11, 1 << 14} {
			text := file(n)
			b.Run(fmt.Sprintf("format=%s/turns=%d", format, n), func(b *testing.B) {
				for b.Loop() {
					got, err := Sessions{Output: 1}.Read(strings.NewReader(text), 0)
					assert.NilError(b, err)
					assert.Equal(b, got.Format, format)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/turn")
			})
		}
	}
}

func TestOpenSessions(t *testing.T) {
	s, err := OpenSessions("a b.json?replies=own&cap=1m&output=200", Options{Seed: 3, Salt: 4})
	assert.NilError(t, err)
	assert.DeepEqual(t, s, Sessions{Path: "a b.json", Replies: Own, Cap: 60e9, Output: 200, Seed: 3, Salt: 4})
	for spec, want := range map[string]string{
		"":               `sessions "": want the path of a file`,
		"a?replies=live": `sessions "a?replies=live": field Replies is "live": want made-up, recorded or own`,
		"a?cap=0":        `sessions "a?cap=0": parameter cap=0: want a duration like 10m, above 0`,
		"a?turns=1":      `sessions "a?turns=1": parameter turns: want one of cap, output, replies, start`,
	} {
		_, err := OpenSessions(spec, Options{})
		assert.Error(t, err, want)
	}
}

// longNumber matches large numbers.
var longNumber = regexp.MustCompile(`\d{6}|\d[eE]`)

// FuzzSessions checks that a file of any format gives sessions that can be sent, or an error, and the same again.
func FuzzSessions(f *testing.F) {
	for file := range sessionFiles {
		text, err := os.ReadFile(filepath.Join("testdata/sessions", file))
		assert.NilError(f, err)
		f.Add(text, uint8(0))
		f.Add(text[:len(text)/2], uint8(3))
	}
	f.Fuzz(func(t *testing.T, file []byte, n uint8) {
		if longNumber.Match(file) {
			return // lengths that take all memory
		}
		s := Sessions{Output: 5, Seed: 1}
		got, err := s.Read(bytes.NewReader(file), int(n%8))
		if err != nil {
			if got.Requests != nil || !strings.HasPrefix(err.Error(), "sessions: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", file, err)
			}
			return
		}
		for i, r := range got.Requests {
			if r.MaxTokens < 1 || r.PromptTokens < 0 || len(r.Messages) == 0 || len(got.Depths[i]) != 1+len(r.Then) {
				t.Errorf("%q has %+v", file, r)
			}
			for k, turn := range r.Then {
				if turn.MaxTokens < 1 || turn.Think < 0 || turn.Think > DefaultCap || turn.Every < 0 || turn.Think > 0 && turn.Every > 0 || len(turn.Messages) == 0 || len(turn.After) == 0 && !turn.Whole {
					t.Errorf("%q has %+v", file, turn)
				}
				for _, before := range turn.After {
					if before < 0 || before > k {
						t.Errorf("%q: turn %d waits for %d", file, k+1, turn.After)
					}
				}
			}
		}
		again, err := s.Read(bytes.NewReader(file), int(n%8))
		if err != nil || shapeOf(again) != shapeOf(got) {
			t.Errorf("%q gives other sessions the second time: %v", file, err)
		}
	})
}

// TestBegin checks in which turn the first sessions of users begin: within the range, at the same turn for the same seed and user, and spread
// evenly over the range. The session stays what it is.
func TestBegin(t *testing.T) {
	r := llmbench.Request{Then: make([]llmbench.Turn, 19)}
	for _, c := range []struct {
		start    string
		from, to int // turns that are not sent, of 20
	}{{"", 0, 19}, {"0..1", 0, 19}, {"0.25..0.75", 5, 14}, {"0.5", 10, 10}, {"1", 19, 19}, {"0", 0, 0}} {
		s, other := Sessions{Start: c.start, Seed: 7}, Sessions{Start: c.start, Seed: 8}
		counts, differ := map[int]int{}, 0
		const users = 20_000
		for user := range users {
			begun, err := s.Begin(r, user)
			assert.NilError(t, err)
			again, _ := s.Begin(r, user)
			next, _ := other.Begin(r, user)
			assert.Assert(t, begun.Skip == again.Skip && len(begun.Then) == 19 && begun.Skip >= c.from && begun.Skip <= c.to, "%q: %d", c.start, begun.Skip)
			if counts[begun.Skip]++; begun.Skip != next.Skip {
				differ++
			}
		}
		n := c.to - c.from + 1
		assert.Equal(t, len(counts), n)
		for skip, count := range counts {
			assert.Assert(t, count > users/n*8/10 && count < users/n*12/10, "%q: %d users skip %d turns of %d to %d", c.start, count, skip, c.from, c.to)
		}
		assert.Equal(t, differ > 0, n > 1)
	}
	for want, s := range map[string]Sessions{
		`field Start is "half": want a share from 0 to 1, or two, like 0.25..0.75`:                                                         {Start: "half"},
		`field Start is "0.1..2": want a share from 0 to 1, or two, like 0.25..0.75`:                                                       {Start: "0.1..2"},
		`field Start is "0.75..0.25": want the smaller share first`:                                                                        {Start: "0.75..0.25"},
		`field Start is "0.5", and replies are own: want made-up or recorded, because the turns that are over have no reply of the server`: {Start: "0.5", Replies: Own},
	} {
		_, err := s.Begin(r, 0)
		assert.Error(t, err, want)
		assert.Error(t, s.check(0), want)
	}
	begun, err := Sessions{Replies: Own}.Begin(r, 3)
	assert.Assert(t, err == nil && begun.Skip == 0)
	s, err := OpenSessions("a?start=0.25..0.75", Options{})
	assert.Assert(t, err == nil && s.Start == "0.25..0.75", "%v", err)
}
