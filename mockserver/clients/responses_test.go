package clients

import (
	"fmt"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
)

// response sends a request to the Responses API. For a stream it checks that the deltas
// add up to the text of the last event.
func response(t *testing.T, m mock, tokens int, stream bool) (reply, error) {
	c := sdk(m)
	params := responses.ResponseNewParams{
		Model: "mock", MaxOutputTokens: openai.Int(int64(tokens)), Instructions: openai.String("say"),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("three words")},
	}
	if !stream {
		answer, err := c.Responses.New(t.Context(), params)
		if err != nil {
			return reply{}, err
		}
		return saidByResponse(answer), nil
	}
	s := c.Responses.NewStreaming(t.Context(), params)
	defer s.Close()
	var deltas, last reply
	for n := int64(0); s.Next(); n++ {
		event := s.Current()
		if event.SequenceNumber != n {
			return reply{}, fmt.Errorf("event %d has sequence number %d", n, event.SequenceNumber)
		}
		switch e := event.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			deltas.Text += e.Delta
		case responses.ResponseReasoningTextDeltaEvent:
			deltas.Reasoning += e.Delta
		case responses.ResponseFunctionCallArgumentsDeltaEvent:
			deltas.Arguments += e.Delta
		case responses.ResponseCompletedEvent:
			last = saidByResponse(&e.Response)
		case responses.ResponseIncompleteEvent:
			last = saidByResponse(&e.Response)
		}
	}
	if want := (reply{Text: last.Text, Reasoning: last.Reasoning, Arguments: last.Arguments}); s.Err() == nil && deltas != want {
		return reply{}, fmt.Errorf("the deltas come to %+v, the last event says %+v", deltas, want)
	}
	return last, s.Err()
}

func saidByResponse(r *responses.Response) reply {
	got := reply{
		Text: r.OutputText(), Finish: string(r.Status), Prompt: int(r.Usage.InputTokens), Output: int(r.Usage.OutputTokens),
	}
	if r.IncompleteDetails.Reason != "" {
		got.Finish += ": " + r.IncompleteDetails.Reason
	}
	for _, item := range r.Output {
		switch item := item.AsAny().(type) {
		case responses.ResponseReasoningItem:
			for _, part := range item.Content {
				got.Reasoning += part.Text
			}
		case responses.ResponseFunctionToolCall:
			got.Tool, got.Arguments = item.Name, item.Arguments
		}
	}
	return got
}
