package gatewaytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"gotest.tools/v3/assert"
)

// translate starts a gateway whose clients use Anthropic's API and whose upstreams OpenAI's, for answers that are not
// streamed. reason maps finish reasons.
func translate(t *testing.T, upstream string, reason map[string]string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		resp, err := http.Post(upstream+"/v1/chat/completions", "application/json", bytes.NewReader(body)) // the members have the same names
		if err != nil {
			fail(w, http.StatusBadGateway, err.Error())
			return
		}
		defer resp.Body.Close()
		var answer struct {
			Error   json.RawMessage
			Choices []struct {
				Message      struct{ Content string }
				FinishReason string `json:"finish_reason"`
			}
			Usage struct {
				In  int `json:"prompt_tokens"`
				Out int `json:"completion_tokens"`
			}
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || len(answer.Choices) != 1 {
			w.Header().Set("Retry-After", resp.Header.Get("Retry-After"))
			var message string
			var object struct{ Message string }
			if json.Unmarshal(answer.Error, &message) != nil && json.Unmarshal(answer.Error, &object) == nil {
				message = object.Message
			}
			fail(w, resp.StatusCode, message)
			return
		}
		text, _ := json.Marshal(answer.Choices[0].Message.Content)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"mock","content":[{"type":"text","text":%s}],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":%d}}`,
			text, reason[answer.Choices[0].FinishReason], answer.Usage.In, answer.Usage.Out)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestTranslation checks a gateway that translates, and one that translates a finish reason wrong.
func TestTranslation(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string][]string{"end_turn": nil, "max_tokens": {"fidelity/whole/finish", "fidelity/whole-silence/finish", "fidelity/large-whole/finish", "fidelity/request/finish"}} {
		r, err := Check(func(upstreams []string) (string, error) {
			return translate(t, upstreams[0], map[string]string{"stop": reason}), nil
		}, nil, Options{API: "anthropic-messages", Classes: []string{"fidelity/whole*", "fidelity/large-whole", "fidelity/request", "usage/whole", "end/http-[45]0*-whole", "end/http-429-whole", "end/reset-whole"}})
		assert.NilError(t, err)
		var ids []string
		for _, f := range r.Findings() {
			ids = append(ids, f.ID())
		}
		assert.DeepEqual(t, ids, want)
	}
}

// TestSameFinish checks which finish reasons of two APIs mean the same.
func TestSameFinish(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"stop", "end_turn", true}, {"stop", "STOP", true}, {"length", "max_tokens", true}, {"tool_calls", "tool_use", true},
		{"tool_calls", "STOP", true}, {"completed", "tool_calls", true}, // APIs without a reason of their own for tool calls
		{"stop", "length", false}, {"stop", "tool_use", false}, {"stop", "unknown", false}, {"unknown", "unheard", false},
	} {
		assert.Equal(t, sameFinish(c.a, c.b), c.want, "%s, %s", c.a, c.b)
	}
}
