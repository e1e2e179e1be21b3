package dialect

import "encoding/json"

// SGLang is the native API of SGLang (/generate, https://docs.sglang.ai/basic_usage/sampling_params.html).
// By default, each event repeats the whole text so far. If the server runs with
// --incremental-streaming-output, an event has only the new text. The parser recognizes the mode, and its
// deltas have only the new text.
type SGLang struct{}

// Name returns "sglang".
func (SGLang) Name() string { return "sglang" }

// Path returns "/generate".
func (SGLang) Path(Query) string { return "/generate" }

// Body returns the JSON body for q, which must not be a conversation.
func (d SGLang) Body(q Query) ([]byte, error) {
	if err := checkPrompt(d.Name(), q); err != nil {
		return nil, err
	}
	type params struct {
		MaxNewTokens int     `json:"max_new_tokens"`
		MinNewTokens int     `json:"min_new_tokens,omitempty"`
		IgnoreEOS    bool    `json:"ignore_eos,omitempty"`
		Temperature  float64 `json:"temperature"`
	}
	b := struct {
		Text   string `json:"text"`
		Params params `json:"sampling_params"`
		Stream bool   `json:"stream"`
	}{Text: q.Prompt, Params: params{MaxNewTokens: q.MaxTokens}, Stream: q.Stream}
	if q.FixedOutput {
		b.Params.MinNewTokens, b.Params.IgnoreEOS = q.MaxTokens, true
	}
	return json.Marshal(b)
}

// NewParser returns a parser for the answers of this dialect.
func (d SGLang) NewParser() Parser { return newGenerateParser(d.Name(), unknownTexts) }
