package dialect

import (
	"encoding/json"
	"fmt"
)

// Embeddings is OpenAI's API for embeddings (/v1/embeddings,
// https://platform.openai.com/docs/api-reference/embeddings/create). The inputs of a query are the texts.
// An answer has one vector for each of them.
type Embeddings struct {
	// Base64 asks for vectors as base64 of 32-bit little-endian floating-point numbers, which are about half
	// as long as decimal numbers. An answer in another encoding than asked for is malformed.
	Base64 bool
	// Dimensions is the length of the vectors to ask for; 0 means the model's own length.
	Dimensions int
}

// Name returns "embeddings", or "embeddings-base64" if d.Base64 is set.
func (d Embeddings) Name() string {
	if d.Base64 {
		return "embeddings-base64"
	}
	return "embeddings"
}

// Ranks returns false.
func (Embeddings) Ranks() bool { return false }

// Path returns "/v1/embeddings".
func (Embeddings) Path(Query) string { return "/v1/embeddings" }

// Body returns the JSON body for q.
func (d Embeddings) Body(q Query) ([]byte, error) {
	if err := checkInputs(d.Name(), q, "", d.Dimensions); err != nil {
		return nil, err
	}
	encoding := "float"
	if d.Base64 {
		encoding = "base64"
	}
	return json.Marshal(struct {
		Model      string   `json:"model,omitempty"`
		Input      []string `json:"input"`
		Encoding   string   `json:"encoding_format"`
		Dimensions int      `json:"dimensions,omitempty"`
	}{q.Model, q.Inputs, encoding, d.Dimensions})
}

// NewParser returns a parser for the answers of this dialect.
func (d Embeddings) NewParser() Parser {
	return newItemsParser(d.Name(), itemsForm{list: "data", vector: "embedding", base64: d.Base64, dimensions: d.Dimensions})
}

// TEIEmbed is the API for embeddings of Text Embeddings Inference (/embed,
// https://huggingface.co/docs/text-embeddings-inference/quick_tour). It names no model, and an answer has no
// token counts.
type TEIEmbed struct {
	// Dimensions is the length of the vectors to ask for; 0 means the model's own length.
	Dimensions int
}

// Name returns "tei-embed".
func (TEIEmbed) Name() string { return "tei-embed" }

// Ranks returns false.
func (TEIEmbed) Ranks() bool { return false }

// Path returns "/embed".
func (TEIEmbed) Path(Query) string { return "/embed" }

// Body returns the JSON body for q. It asks the server to refuse a text that is too long for the model:
// newer servers cut it by default, which would be less work than was asked for.
func (d TEIEmbed) Body(q Query) ([]byte, error) {
	if err := checkInputs(d.Name(), q, "", d.Dimensions); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Inputs     []string `json:"inputs"`
		Truncate   bool     `json:"truncate"`
		Dimensions int      `json:"dimensions,omitempty"`
	}{q.Inputs, false, d.Dimensions})
}

// NewParser returns a parser for the answers of this dialect.
func (d TEIEmbed) NewParser() Parser {
	return newItemsParser(d.Name(), itemsForm{bare: true, dimensions: d.Dimensions})
}

// OllamaEmbed is Ollama's API for embeddings (/api/embed,
// https://github.com/ollama/ollama/blob/main/docs/api.md#generate-embeddings).
type OllamaEmbed struct {
	// Dimensions is the length of the vectors to ask for; 0 means the model's own length.
	Dimensions int
}

// Name returns "ollama-embed".
func (OllamaEmbed) Name() string { return "ollama-embed" }

// Ranks returns false.
func (OllamaEmbed) Ranks() bool { return false }

// Path returns "/api/embed".
func (OllamaEmbed) Path(Query) string { return "/api/embed" }

// Body returns the JSON body for q. It asks the server to refuse a text that is too long for the model:
// Ollama's default is to cut it, which would be less work than was asked for.
func (d OllamaEmbed) Body(q Query) ([]byte, error) {
	if err := checkInputs(d.Name(), q, "", d.Dimensions); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Model      string   `json:"model,omitempty"`
		Input      []string `json:"input"`
		Truncate   bool     `json:"truncate"`
		Dimensions int      `json:"dimensions,omitempty"`
	}{q.Model, q.Inputs, false, d.Dimensions})
}

// NewParser returns a parser for the answers of this dialect.
func (d OllamaEmbed) NewParser() Parser {
	return newItemsParser(d.Name(), itemsForm{list: "embeddings", dimensions: d.Dimensions})
}

// VLLMClassify is vLLM's API for classification (/classify,
// https://docs.vllm.ai/en/latest/serving/openai_compatible_server/#classification-api). The vector of an input
// has the probability of each class.
type VLLMClassify struct{}

// Name returns "vllm-classify".
func (VLLMClassify) Name() string { return "vllm-classify" }

// Ranks returns false.
func (VLLMClassify) Ranks() bool { return false }

// Path returns "/classify".
func (VLLMClassify) Path(Query) string { return "/classify" }

// Body returns the JSON body for q.
func (d VLLMClassify) Body(q Query) ([]byte, error) {
	if err := checkInputs(d.Name(), q, "", 0); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Model string   `json:"model,omitempty"`
		Input []string `json:"input"`
	}{q.Model, q.Inputs})
}

// NewParser returns a parser for the answers of this dialect.
func (d VLLMClassify) NewParser() Parser {
	return newItemsParser(d.Name(), itemsForm{list: "data", vector: "probs"})
}

// checkInputs returns an error if q cannot be sent to an API that answers with an item for each input. The
// argument prompt says what the API uses Query.Prompt for; "" means that the API has no prompt. An API
// without the option dimensions gets 0.
func checkInputs(dialect string, q Query, prompt string, dimensions int) error {
	switch {
	case len(q.Inputs) == 0:
		return fmt.Errorf("%s: no inputs: want at least one", dialect)
	case prompt == "" && q.Prompt != "":
		return fmt.Errorf("%s: a prompt besides the inputs: want inputs alone", dialect)
	case prompt != "" && q.Prompt == "":
		return fmt.Errorf("%s: no prompt: want a prompt, which is %s", dialect, prompt)
	case q.MaxTokens != 0 || q.FixedOutput:
		return fmt.Errorf("%s: max tokens %d: want 0, because the answer has no output tokens", dialect, q.MaxTokens)
	case q.Stream:
		return unsupportedError(dialect + ": a stream; the answer is one JSON document")
	case len(q.Messages) > 0 || len(q.Tools) > 0 || len(q.Schema) > 0:
		return unsupportedError(dialect + ": messages, tools or a schema; only inputs can be sent")
	case dimensions < 0:
		return fmt.Errorf("%s: %d dimensions: want at least 1, or 0 for the model's own", dialect, dimensions)
	}
	return nil
}
