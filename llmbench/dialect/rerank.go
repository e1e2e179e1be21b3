package dialect

import (
	"encoding/json"
	"fmt"
)

// Rerank is the API of Cohere and Jina for sorting documents by relevance to a query. vLLM, llama.cpp and
// others serve it, too (https://docs.cohere.com/reference/rerank, https://jina.ai/reranker). The prompt of a
// [Query] is the query, and its inputs are the documents. The results of an answer are sorted: the first
// has the highest score.
type Rerank struct {
	V2   bool // the path is /v2/rerank instead of /v1/rerank
	TopN int  // how many results to ask for; 0 means one for each document
	// Unsorted accepts results in any order. Some servers send them in the order of the documents.
	Unsorted bool
}

// Name returns "rerank", or "rerank-v2" if d.V2 is set.
func (d Rerank) Name() string {
	if d.V2 {
		return "rerank-v2"
	}
	return "rerank"
}

// Ranks returns true.
func (Rerank) Ranks() bool { return true }

// Path returns "/v1/rerank" or "/v2/rerank".
func (d Rerank) Path(Query) string {
	if d.V2 {
		return "/v2/rerank"
	}
	return "/v1/rerank"
}

// Body returns the JSON body for q.
func (d Rerank) Body(q Query) ([]byte, error) {
	if err := checkInputs(d.Name(), q, queryPrompt, 0); err != nil {
		return nil, err
	}
	if d.TopN < 0 {
		return nil, fmt.Errorf("%s: %d results: want at least 1, or 0 for all", d.Name(), d.TopN)
	}
	return json.Marshal(struct {
		Model     string   `json:"model,omitempty"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n,omitempty"`
	}{q.Model, q.Prompt, q.Inputs, d.TopN})
}

// NewParser returns a parser for the answers of this dialect.
func (d Rerank) NewParser() Parser {
	return newItemsParser(d.Name(), itemsForm{list: "results", score: "relevance_score", top: d.TopN, sorted: !d.Unsorted})
}

// TEIRerank is the API for sorting documents of Text Embeddings Inference (/rerank,
// https://huggingface.co/docs/text-embeddings-inference/quick_tour#re-rankers). It names no model, and an
// answer has no token counts.
type TEIRerank struct{}

// Name returns "tei-rerank".
func (TEIRerank) Name() string { return "tei-rerank" }

// Ranks returns true.
func (TEIRerank) Ranks() bool { return true }

// Path returns "/rerank".
func (TEIRerank) Path(Query) string { return "/rerank" }

// Body returns the JSON body for q; see [TEIEmbed.Body].
func (d TEIRerank) Body(q Query) ([]byte, error) {
	if err := checkInputs(d.Name(), q, queryPrompt, 0); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Query    string   `json:"query"`
		Texts    []string `json:"texts"`
		Truncate bool     `json:"truncate"`
	}{q.Prompt, q.Inputs, false})
}

// NewParser returns a parser for the answers of this dialect.
func (d TEIRerank) NewParser() Parser {
	return newItemsParser(d.Name(), itemsForm{bare: true, score: "score", sorted: true})
}

// VLLMScore is vLLM's API for the similarity of texts to a text (/score,
// https://docs.vllm.ai/en/latest/serving/openai_compatible_server/#score-api). The prompt of a [Query] is the
// one text, and its inputs are the others. The scores of an answer are not sorted.
type VLLMScore struct{}

// Name returns "vllm-score".
func (VLLMScore) Name() string { return "vllm-score" }

// Ranks returns true.
func (VLLMScore) Ranks() bool { return true }

// Path returns "/score".
func (VLLMScore) Path(Query) string { return "/score" }

// Body returns the JSON body for q.
func (d VLLMScore) Body(q Query) ([]byte, error) {
	if err := checkInputs(d.Name(), q, queryPrompt, 0); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Model string   `json:"model,omitempty"`
		Text1 string   `json:"text_1"`
		Text2 []string `json:"text_2"`
	}{q.Model, q.Prompt, q.Inputs})
}

// NewParser returns a parser for the answers of this dialect.
func (d VLLMScore) NewParser() Parser {
	return newItemsParser(d.Name(), itemsForm{list: "data", score: "score"})
}

// queryPrompt says what the prompt of a query is in these APIs.
const queryPrompt = "the query"
