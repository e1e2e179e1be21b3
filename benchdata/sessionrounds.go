package benchdata

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// tracelabFormat is the trace of agents that write code of TraceLab (https://github.com/uw-syfi/TraceLab, README.md and
// artifacts/trace_facts/csv_export), read as AIPerf does (src/aiperf/dataset/loader/_tracelab_convert.py in
// https://github.com/ai-dynamo/aiperf). A record is a round, which is a request; those with the same session_id are a session. It has lengths, and
// no text.
//
// Rounds are in the order in which they were sent, which is the time of the last event of their input (user_message, tool_result); rounds
// without a time are left out. A round waits for the one before it, and then as long as it was sent after the last event of that
// round's output. Its prompt begins with the whole blocks of 64 tokens in prefix_tokens that the prompt before it had; the rest is new. Sub-agents are
// sessions of their own, because the trace does not say who started them. output_tokens includes reasoning.
var tracelabFormat = sessionFormat{
	name: "tracelab", wants: "session_id, round_index, input_tokens_total",
	is:     func(first extra) bool { return first.has("session_id", "round_index", "input_tokens_total") },
	reader: grouped(func(r tracelabRound) string { return r.Session }, tracelabSession),
}

// tracelabBlock is the number of tokens in a block, as in AIPerf.
const tracelabBlock = 64

type tracelabRound struct {
	Session string          `json:"session_id"`
	Index   int             `json:"round_index"`
	Input   tokenCount      `json:"input_tokens_total"`
	Prefix  tokenCount      `json:"prefix_tokens"`
	Output  tokenCount      `json:"output_tokens"`
	Events  []tracelabEvent `json:"timing_events"`

	Tools          ignored `json:"tools"`
	Append         ignored `json:"newly_append_tokens"`
	Reasoning      ignored `json:"reasoning_output_tokens"`
	Uncached       ignored `json:"claude_uncached_input_tokens"`
	Created        ignored `json:"claude_cache_creation_input_tokens"`
	Read           ignored `json:"claude_cache_read_input_tokens"`
	Provider       ignored `json:"provider"`
	Project        ignored `json:"project"`
	User           ignored `json:"user"`
	Round          ignored `json:"round_id"`
	Turn           ignored `json:"turn_id"`
	Model          ignored `json:"model"`
	Store          ignored `json:"store"`
	Key            ignored `json:"trace_key"`
	CurrentEvents  ignored `json:"current_input_event_count"`
	CurrentUsers   ignored `json:"current_user_message_count"`
	CurrentResults ignored `json:"current_tool_result_count"`
	UserChars      ignored `json:"current_user_message_chars"`
	ResultChars    ignored `json:"current_tool_result_chars"`
	InputChars     ignored `json:"current_input_chars"`
	First          ignored `json:"first_input_event_type"`
	Extra          extra   `json:",embed"`
}

type tracelabEvent struct {
	Type string    `json:"event_type"`
	At   traceTime `json:"timestamp"`

	Source      ignored `json:"source"`
	Chars       ignored `json:"content_chars"`
	ResultChars ignored `json:"result_chars"`
	IsError     ignored `json:"is_error"`
	Call        ignored `json:"tool_call_id"`
	Tool        ignored `json:"tool_name"`
	Index       ignored `json:"tool_index"`
	Extra       extra   `json:",embed"`
}

// A traceTime is a time in a file, in nanoseconds after the beginning of 1970; 0 if it is missing.
type traceTime int64

// UnmarshalJSONFrom reads the time.
func (t *traceTime) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil || v.Kind() == 'n' {
		return err
	}
	var text string
	var at time.Time
	if err = decodeSession(v, &text); err == nil {
		at, err = otelTime(text)
	}
	if err != nil || at.Year() < 1970 || at.Year() > 2200 {
		return valueError{string(v), "a time like 2026-02-25T10:00:00.5Z, from 1970 to 2200"}
	}
	*t = traceTime(at.UnixNano())
	return nil
}

// times returns when a round was sent, and when its answer had come. Both are 0 if the round has no time.
func (r tracelabRound) times() (sent, end traceTime) {
	var began traceTime // the first event of the output
	for _, e := range r.Events {
		switch e.Type {
		case "user_message", "tool_result":
			sent = max(sent, e.At)
		case "text", "reasoning", "tool_call":
			end = max(end, e.At)
			if began == 0 || e.At != 0 && e.At < began {
				began = e.At
			}
		}
	}
	sent = cmp.Or(sent, began)
	return sent, max(sent, end)
}

// tracelabSession returns the session of rounds.
func tracelabSession(id string, rows []tracelabRound) (recording, error) {
	r := recording{id: id, at: -1, own: true, block: tracelabBlock}
	type timed struct {
		tracelabRound
		sent, end traceTime
	}
	var rounds []timed
	for _, row := range rows {
		sent, end := row.times()
		if sent == 0 {
			r.leave("rounds without a time")
			continue
		}
		rounds = append(rounds, timed{row, sent, end})
	}
	slices.SortStableFunc(rounds, func(a, b timed) int { return cmp.Or(cmp.Compare(a.sent, b.sent), cmp.Compare(a.Index, b.Index)) })
	var blocks []uint64 // of the prompt before
	name := uint64(0)
	for i, q := range rounds {
		n := int(q.Input) / tracelabBlock
		blocks = slices.Clone(blocks[:min(int(q.Prefix)/tracelabBlock, len(blocks), n)])
		for len(blocks) < n {
			name++
			blocks = append(blocks, name)
		}
		t := recordedTurn{hashed: true, blocks: blocks, input: max(1, int(q.Input)), output: max(1, int(q.Output))}
		if i > 0 {
			t.after = []int{i - 1}
			t.delay = min(max(0, time.Duration(q.sent-rounds[i-1].end)), time.Duration(mostSeconds)*time.Second)
		}
		r.add(t)
	}
	return r, nil
}

// trieFormat is the trace of agents of Trie, as EvalScope replays it (evalscope/perf/plugin/datasets/trie.py in
// https://github.com/modelscope/evalscope; https://github.com/applied-compute/trie). A record is a session: a message of the user, and then num_turns
// results of tools, each tool_call_latency seconds after the answer before it. It has lengths, and no text.
var trieFormat = sessionFormat{
	name: "evalscope-trie", wants: "input_prompt_length, num_turns",
	is:     func(first extra) bool { return first.has("input_prompt_length", "num_turns") },
	reader: each(trieTrace.session),
}

type trieTrace struct {
	Input   tokenCount   `json:"input_prompt_length"`
	Turns   int          `json:"num_turns"`
	Answers []tokenCount `json:"assistant_response_length"`
	Results []tokenCount `json:"tool_call_output_length"`
	Waits   []span       `json:"tool_call_latency"`
	Final   tokenCount   `json:"final_assistant_response_length"`
	Extra   extra        `json:",embed"`
}

// session returns the session of a trace.
func (t trieTrace) session() (recording, error) {
	r := recording{at: -1}
	for _, list := range []struct {
		name string
		n    int
	}{{"assistant_response_length", len(t.Answers)}, {"tool_call_output_length", len(t.Results)}, {"tool_call_latency", len(t.Waits)}} {
		if list.n != t.Turns {
			return r, fmt.Errorf(`%q has %d numbers, and "num_turns" is %d: want one for each turn`, list.name, list.n, t.Turns)
		}
	}
	for i, answer := range append(t.Answers, t.Final) {
		turn := recordedTurn{input: max(1, int(t.Input)), output: max(1, int(answer))}
		if i > 0 {
			turn.input, turn.after, turn.delay = max(1, int(t.Results[i-1])), []int{i - 1}, t.Waits[i-1].in(time.Second)
		}
		r.add(turn)
	}
	return r, nil
}
