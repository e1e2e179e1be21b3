package benchdata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// endpointsFormat is the JSON Lines of agents of MLPerf Endpoints, schema 1.0.0 (scripts/agentic_inference_dataset_schema.json in
// https://github.com/mlcommons/endpoints). A record is a message; the messages of a conversation_id are a session. Messages of the user and
// of tools are sent, delay_seconds after the answer before them. Messages of the assistant are the recorded answers. An answer is as long as the
// recorded one with its reasoning_content. If the file has no text of the answer to a message, the answer is as long as the message's
// max_new_tokens or max_completion_tokens, which are limits.
var endpointsFormat = sessionFormat{
	name: "mlperf-endpoints", wants: "conversation_id, turn, role",
	is:     func(first extra) bool { return first.has("conversation_id", "turn", "role") },
	reader: grouped(func(m endpointsMessage) string { return m.ID }, endpointsSession),
}

type endpointsMessage struct {
	ID        string            `json:"conversation_id"`
	Turn      int               `json:"turn"`
	System    string            `json:"system"`
	Role      string            `json:"role"`
	Content   jsontext.Value    `json:"content"`
	Reasoning string            `json:"reasoning_content"`
	ToolCalls jsontext.Value    `json:"tool_calls"`
	Results   []endpointsResult `json:"tool_results"`
	Delay     span              `json:"delay_seconds"`
	MaxNew    tokenCount        `json:"max_new_tokens"`
	MaxTokens tokenCount        `json:"max_completion_tokens"`
	Extra     extra             `json:",embed"`
}

type endpointsResult struct {
	ID      string         `json:"tool_call_id"`
	Content jsontext.Value `json:"content"`
	Extra   extra          `json:",embed"`
}

// endpointsSession returns the session of messages.
func endpointsSession(id string, rows []endpointsMessage) (recording, error) {
	slices.SortStableFunc(rows, func(a, b endpointsMessage) int { return cmp.Compare(a.Turn, b.Turn) })
	var s chatSession
	s.recording = recording{id: id, at: -1}
	for i, m := range rows {
		if m.Turn != i+1 {
			return s.recording, fmt.Errorf(`"turn" is %d: want %d, because turns are numbered from 1`, m.Turn, i+1)
		}
		if m.System != "" && i == 0 {
			s.pending.messages = append(s.pending.messages, llmbench.Message{Role: "system", Content: m.System})
		}
		s.pending.delay = max(s.pending.delay, m.Delay.in(time.Second))
		s.pending.output = cmp.Or(int(m.MaxNew), int(m.MaxTokens), s.pending.output)
		for _, result := range m.Results {
			if err := s.add(chatMessage{Role: "tool", Content: result.Content}, ""); err != nil {
				return s.recording, fmt.Errorf("turn %d: %w", m.Turn, err)
			}
		}
		if len(m.Results) > 0 && len(m.Content) == 0 {
			continue
		}
		if err := s.add(chatMessage{Role: m.Role, Content: m.Content, ToolCalls: m.ToolCalls}, m.Reasoning); err != nil {
			return s.recording, fmt.Errorf("turn %d: %w", m.Turn, err)
		}
	}
	return s.done(), nil
}

// A chatSession makes a session of messages: a turn has the messages up to an answer.
type chatSession struct {
	recording recording
	pending   recordedTurn // the next turn
}

// add adds a message. An answer ends a turn.
func (s *chatSession) add(m chatMessage, reasoning string) error {
	one, err := m.message()
	if err != nil {
		return err
	}
	if one.Role != "assistant" {
		s.pending.messages = append(s.pending.messages, one)
		return nil
	}
	if len(s.pending.messages) == 0 {
		return fmt.Errorf("an answer follows no message: want a message of the user before it")
	}
	s.pending.reply, s.pending.thought = one.Content, reasoning
	if one.Content != "" {
		s.pending.output = 0 // a limit
	}
	s.end()
	return nil
}

// end ends a turn.
func (s *chatSession) end() {
	if n := len(s.recording.turns); n > 0 {
		s.pending.after = []int{n - 1}
	}
	s.recording.add(s.pending)
	s.pending = recordedTurn{}
}

// done returns the session. Messages without an answer are a turn if the length of their answer is known.
func (s *chatSession) done() recording {
	if len(s.pending.messages) > 0 && (s.pending.output > 0 || len(s.recording.turns) == 0) {
		s.end()
	}
	return s.recording
}

// chatsFormat is the file of vLLM's benchmark of conversations (benchmarks/multi_turn/README.md in
// https://github.com/vllm-project/vllm): an array of conversations. A session is a record; its answers have the recorded lengths.
var chatsFormat = sessionFormat{
	name: "vllm-multi-turn", wants: "id, messages",
	is:     func(first extra) bool { return first.has("id", "messages") },
	reader: each(chats.session),
}

type chats struct {
	ID       jsontext.Value `json:"id"` // a text or a number
	Messages []chatMessage  `json:"messages"`
	Extra    extra          `json:",embed"`
}

// session returns the session of a record.
func (c chats) session() (recording, error) {
	s := chatSession{recording: recording{id: strings.Trim(string(c.ID), `"`), at: -1}}
	for i, m := range c.Messages {
		if err := s.add(m, ""); err != nil {
			return s.recording, fmt.Errorf(`"messages.%d": %w`, i, err)
		}
	}
	return s.done(), nil
}

// agenticFormat is SGLang's agentic trace (python/sglang/benchmark/datasets/agentic_trace.py in
// https://github.com/sgl-project/sglang): one object with all conversations, which are lists of turns with their new messages. An answer
// has 220 tokens, as there, unless Output says another length.
var agenticFormat = sessionFormat{
	name: "sglang-agentic", wants: "conversations",
	is: func(first extra) bool { return first.has("conversations") },
	reader: func(r *sessionReader) sessionRecords {
		return sessionRecords{add: func(v jsontext.Value) (all []recording, err error) {
			trace, err := decoded[agenticTrace](r, v)
			for i, turns := range trace.Conversations {
				if err != nil || r.want > 0 && len(all) == r.want {
					break
				}
				one := recording{id: fmt.Sprint(i), at: -1}
				for k, q := range turns {
					t := recordedTurn{usual: 220}
					if t.messages, err = texts(q.Messages); err != nil {
						return nil, fmt.Errorf(`"conversations.%d.%d": %w`, i, k, err)
					}
					if k > 0 {
						t.after = []int{k - 1}
					}
					one.add(t)
				}
				all = append(all, one)
			}
			return all, err
		}}
	},
}

type agenticTrace struct {
	Metadata      jsontext.Value  `json:"metadata"`
	Conversations [][]agenticTurn `json:"conversations"`
	Extra         extra           `json:",embed"`
}

type agenticTurn struct {
	Messages     []chatMessage `json:"messages"`
	PromptTokens tokenCount    `json:"prompt_tokens"` // of the recorded conversation, with answers that the file does not have
	Extra        extra         `json:",embed"`
}
