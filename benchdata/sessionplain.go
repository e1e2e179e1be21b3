package benchdata

import (
	"fmt"
	"time"
)

// plainFormat is llmbench's own format, in which every session can be written:
//
//	{"session": "a", "at": 0.5, "turns": [
//		{"input": 100, "output": 20},
//		{"agent": "search", "whole": true, "messages": [{"role": "user", "content": "find it"}], "output": 5, "delay": 0.2},
//		{"after": [0, 1], "input": 30, "output": 40, "reply": "found", "delay": 1.5}]}
//
// A record is a session. Times are in seconds: at is its arrival, and delay the time after the end of the last turn in after,
// which are numbers of turns from 0; without after, a turn waits for the one before it, and with [] for none. The input is messages, a
// number of tokens in input for a made-up message of the user, or the whole prompt in blocks of the session's block tokens: its length in
// input, and names of its first blocks in blocks. They are the session's own unless shared is true. With whole, the messages are the
// whole conversation. output is the length of the answer in tokens, reply its text, and agent the name of a sub-agent.
var plainFormat = sessionFormat{
	name: "plain", wants: "session, turns",
	is:     func(first extra) bool { return first.has("session", "turns") },
	reader: each(plainSession.session),
}

type plainSession struct {
	Session string      `json:"session"`
	At      *span       `json:"at"`
	Block   tokenCount  `json:"block"`
	Shared  bool        `json:"shared"`
	Turns   []plainTurn `json:"turns"`
	Extra   extra       `json:",embed"`
}

type plainTurn struct {
	Agent    string        `json:"agent"`
	After    []int         `json:"after"`
	Delay    span          `json:"delay"`
	Input    tokenCount    `json:"input"`
	Blocks   []uint64      `json:"blocks"`
	Messages []chatMessage `json:"messages"`
	Whole    bool          `json:"whole"`
	Output   tokenCount    `json:"output"`
	Reply    string        `json:"reply"`
	Extra    extra         `json:",embed"`
}

// session returns the session of a record.
func (p plainSession) session() (recording, error) {
	r := recording{id: p.Session, at: -1, block: int(p.Block), own: !p.Shared}
	if p.At != nil {
		r.at = p.At.in(time.Second)
	}
	for i, q := range p.Turns {
		t := recordedTurn{agent: q.Agent, delay: q.Delay.in(time.Second), output: int(q.Output), input: int(q.Input), whole: q.Whole, reply: q.Reply, after: q.After}
		if q.After == nil && i > 0 {
			t.after = []int{i - 1}
		}
		var err error
		switch {
		case q.Messages != nil && (q.Input > 0 || q.Blocks != nil):
			return r, fmt.Errorf(`"turns.%d.messages" beside "input" or "blocks": want one of them`, i)
		case q.Blocks != nil && p.Block == 0:
			return r, fmt.Errorf(`"turns.%d.blocks" without "block": want the number of tokens in a block`, i)
		case q.Blocks != nil:
			t.hashed, t.blocks = true, q.Blocks
		case q.Messages != nil:
			if t.messages, err = texts(q.Messages); err != nil {
				return r, fmt.Errorf(`"turns.%d.messages": %w`, i, err)
			}
		}
		r.add(t)
	}
	return r, nil
}
