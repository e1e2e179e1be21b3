package benchdata

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// mooncakeFormat is Mooncake's trace (https://github.com/kvcache-ai/Mooncake/tree/main/FAST25-release) with the extensions of AIPerf
// (class MooncakeTrace of src/aiperf/dataset/loader/models.py in https://github.com/ai-dynamo/aiperf). A record is a request; those with
// the same session_id are the turns of a session, in the order of the file. A request without one is a session of its own.
//
// The input is one of input_length with hash_ids (the whole prompt in blocks of 512 tokens), input_length alone (a made-up message
// of the user), text_input (a message of the user), messages (the whole conversation, or with message_mode delta what is new in it)
// and payload (the body of a request, of which messages and max_tokens are read). A turn is sent delay milliseconds after the turn
// before it has ended; without a delay, as long after its send as their timestamps are apart, or at once after its end if that is later.
var mooncakeFormat = sessionFormat{
	name: "mooncake", wants: "input_length, text_input, payload, or messages with a timestamp, delay or session_id",
	is: func(first extra) bool {
		timed := first.has("timestamp") || first.has("delay") || first.has("session_id")
		return !first.has("turns") && (first.has("input_length") || first.has("text_input") || first.has("payload") || first.has("messages") && timed)
	},
	reader: grouped(func(q mooncakeRequest) string { return q.SessionID }, mooncakeSession),
}

// mooncakeBlock is the number of tokens in a block.
const mooncakeBlock = 512

type mooncakeRequest struct {
	Timestamp    *span            `json:"timestamp"` // milliseconds
	Delay        *span            `json:"delay"`     // milliseconds
	InputLength  *tokenCount      `json:"input_length"`
	TextInput    *string          `json:"text_input"`
	Messages     []chatMessage    `json:"messages"`
	Payload      *mooncakePayload `json:"payload"`
	MessageMode  string           `json:"message_mode"`
	OutputLength *tokenCount      `json:"output_length"`
	Hashes       []uint64         `json:"hash_ids"`
	SessionID    string           `json:"session_id"`
	Extra        extra            `json:",embed"`
}

type mooncakePayload struct {
	Messages     []chatMessage  `json:"messages"`
	MaxTokens    *tokenCount    `json:"max_tokens"`
	MaxCompleted *tokenCount    `json:"max_completion_tokens"`
	Model        jsontext.Value `json:"model"`
	Stream       jsontext.Value `json:"stream"`
	Extra        extra          `json:",embed"`
}

// mooncakeSession returns the session of requests.
func mooncakeSession(id string, rows []mooncakeRequest) (recording, error) {
	r := recording{id: id, at: -1, block: mooncakeBlock}
	if at := rows[0].Timestamp; at != nil {
		r.at = at.in(time.Millisecond)
	}
	for i, q := range rows {
		t, err := q.turn()
		if err != nil {
			return r, err
		}
		if i > 0 {
			t.after = []int{i - 1}
			if err := t.follow(q.Delay, rows[i-1].Timestamp, q.Timestamp); err != nil {
				return r, fmt.Errorf(`"%w`, err)
			}
		}
		r.add(t)
	}
	return r, nil
}

// turn returns a request as a turn.
func (q mooncakeRequest) turn() (t recordedTurn, err error) {
	inputs := 0
	for _, has := range []bool{q.InputLength != nil, q.TextInput != nil, q.Messages != nil, q.Payload != nil} {
		if has {
			inputs++
		}
	}
	switch {
	case inputs != 1:
		return t, fmt.Errorf("%d of the members input_length, text_input, messages and payload: want one", inputs)
	case q.Hashes != nil && q.InputLength == nil:
		return t, errors.New(`"hash_ids" without "input_length": want both`)
	case q.MessageMode != "" && q.MessageMode != "history" && q.MessageMode != "delta":
		return t, fmt.Errorf(`"message_mode" is %.40q: want history or delta`, q.MessageMode)
	}
	if q.OutputLength != nil {
		t.output = max(1, int(*q.OutputLength))
	}
	switch {
	case q.InputLength != nil:
		t.input, t.hashed, t.blocks = int(*q.InputLength), q.Hashes != nil, q.Hashes
	case q.TextInput != nil:
		t.messages = []llmbench.Message{{Role: "user", Content: *q.TextInput}}
	case q.Messages != nil:
		t.whole = q.MessageMode != "delta"
		t.messages, err = texts(q.Messages)
	default:
		t.whole = true
		t.messages, err = texts(q.Payload.Messages)
		for _, limit := range []*tokenCount{q.Payload.MaxTokens, q.Payload.MaxCompleted} {
			if limit != nil && t.output == 0 {
				t.output = int(*limit)
			}
		}
	}
	return t, err
}
