package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// itemDialects has the dialects of requests for vectors or scores, by path. Their answers are not streamed.
var itemDialects = map[string]*Dialect{
	"/v1/embeddings": itemDialect(decodeEmbeddings, embeddingsObject, OpenAIError),
	"/embed":         itemDialect(decodeTEIEmbed, (*Answer).addVectors, tgiError),
	"/api/embed":     itemDialect(decodeOllamaEmbed, ollamaVectors, PlainError),
	"/v1/rerank":     itemDialect(decodeRerank, rerankObject, OpenAIError),
	"/v2/rerank":     itemDialect(decodeRerank, rerankObject, OpenAIError),
	"/rerank":        itemDialect(decodeTEIRerank, teiScores, tgiError),
	"/score":         itemDialect(decodeScore, scoreObject, OpenAIError),
	"/classify":      itemDialect(decodeClassify, classifyObject, OpenAIError),
}

// itemDialect returns the dialect of a path.
func itemDialect(decode func(Input, *items) *Error, render func(*Answer, *items), errorBody func(*Error) string) *Dialect {
	return &Dialect{
		Decode: func(in Input) (Request, *Error) {
			// There are no output tokens, so that the answer is due when the prompt has been processed.
			r := Request{Finish: "stop", items: new(items)}
			if fail := decode(in, r.items); fail != nil {
				return Request{}, fail
			}
			r.Prompt = r.items.tokens
			return r, nil
		},
		Encode:    func(a Answer) Encoder { return newItemsEncoder(a, render) },
		ErrorBody: errorBody,
	}
}

// maxInputs is the largest number of inputs in a request.
const maxInputs = 2048

// add adds an input, whose tokens in counts.
func (q *items) add(in Input, text string) {
	q.texts = append(q.texts, text)
	q.tokens += in.PromptTokens.Words(q.query) + in.PromptTokens.Words(text)
}

// addAll adds the inputs of a field: a text or an array of texts.
func (q *items) addAll(in Input, field string, raw json.RawMessage) *Error {
	var text string
	var texts []string
	switch {
	case absent(raw):
		return BadRequest(field, "%s: missing: want a string or an array of strings", field)
	case json.Unmarshal(raw, &text) == nil:
		texts = []string{text}
	case json.Unmarshal(raw, &texts) != nil:
		return BadRequest(field, "%s: want a string or an array of strings", field)
	}
	if len(texts) < 1 || len(texts) > maxInputs {
		return BadRequest(field, "%s: %d inputs: want 1 to %d", field, len(texts), maxInputs)
	}
	for i, t := range texts {
		if t == "" {
			return BadRequest(field, "%s[%d]: empty: want at least one character", field, i)
		}
		q.add(in, t)
	}
	return nil
}

// addIDs adds the inputs of a field if they are token ids: an array of ids or an array of such arrays. It
// returns false if they are not.
func (q *items) addIDs(in Input, raw json.RawMessage) bool {
	var one []uint32
	var all [][]uint32
	if json.Unmarshal(raw, &one) == nil && len(one) > 0 {
		all = [][]uint32{one}
	} else if json.Unmarshal(raw, &all) != nil || len(all) == 0 || len(all) > maxInputs {
		return false
	}
	if slices.ContainsFunc(all, func(ids []uint32) bool { return len(ids) == 0 }) {
		return false
	}
	for _, ids := range all {
		q.texts = append(q.texts, fmt.Sprint(ids))
		q.tokens += in.PromptTokens.IDs(ids)
	}
	return true
}

// setLength sets the length of the vectors to the field dimensions, if the request has it.
func (q *items) setLength(dimensions *int) *Error {
	q.length = vectorLength
	if dimensions == nil {
		return nil
	}
	if q.length = *dimensions; q.length < 1 || q.length > vectorLength {
		return BadRequest("dimensions", "dimensions: %d: want 1 to %d", q.length, vectorLength)
	}
	return nil
}

// decodeEmbeddings reads a request for OpenAI's /v1/embeddings.
// https://platform.openai.com/docs/api-reference/embeddings/create
func decodeEmbeddings(in Input, q *items) *Error {
	var w struct {
		Input      json.RawMessage `json:"input"`
		Encoding   *string         `json:"encoding_format"`
		Dimensions *int            `json:"dimensions"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return BadBody(err)
	}
	if w.Encoding != nil && *w.Encoding != "float" && *w.Encoding != "base64" {
		return BadRequest("encoding_format", "encoding_format: %q: want float or base64", *w.Encoding)
	}
	q.base64 = w.Encoding != nil && *w.Encoding == "base64"
	if fail := q.setLength(w.Dimensions); fail != nil || q.addIDs(in, w.Input) {
		return fail
	}
	return q.addAll(in, "input", w.Input)
}

// decodeTEIEmbed reads a request for /embed of Text Embeddings Inference.
// https://huggingface.github.io/text-embeddings-inference/
func decodeTEIEmbed(in Input, q *items) *Error {
	var w struct {
		Inputs     json.RawMessage `json:"inputs"`
		Dimensions *int            `json:"dimensions"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return BadBody(err)
	}
	if fail := q.setLength(w.Dimensions); fail != nil || q.addIDs(in, w.Inputs) {
		return fail
	}
	return q.addAll(in, "inputs", w.Inputs)
}

// decodeOllamaEmbed reads a request for Ollama's /api/embed.
// https://github.com/ollama/ollama/blob/main/docs/api.md#generate-embeddings
func decodeOllamaEmbed(in Input, q *items) *Error {
	var w struct {
		Input      json.RawMessage `json:"input"`
		Dimensions *int            `json:"dimensions"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return BadBody(err)
	}
	if fail := q.setLength(w.Dimensions); fail != nil {
		return fail
	}
	return q.addAll(in, "input", w.Input)
}

// decodeRerank reads a request for /v1/rerank or /v2/rerank. A document is a text or an object with a text.
// https://docs.cohere.com/reference/rerank, https://jina.ai/reranker
func decodeRerank(in Input, q *items) *Error {
	var w struct {
		Query     string            `json:"query"`
		Documents []json.RawMessage `json:"documents"`
		Top       *int              `json:"top_n"`
		Return    bool              `json:"return_documents"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return BadBody(err)
	}
	var texts []string
	for i, d := range w.Documents {
		var text string
		var object struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(d, &text) != nil {
			if json.Unmarshal(d, &object) != nil {
				return BadRequest("documents", "documents[%d]: want a string or an object with a text", i)
			}
			text = object.Text
		}
		texts = append(texts, text)
	}
	q.documents = w.Return
	if w.Top != nil {
		if q.top = *w.Top; q.top < 1 {
			return BadRequest("top_n", "top_n: %d: want at least 1", q.top)
		}
	}
	return q.rank(in, w.Query, "documents", texts)
}

// decodeTEIRerank reads a request for /rerank of Text Embeddings Inference.
func decodeTEIRerank(in Input, q *items) *Error {
	var w struct {
		Query string   `json:"query"`
		Texts []string `json:"texts"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return BadBody(err)
	}
	return q.rank(in, w.Query, "texts", w.Texts)
}

// decodeScore reads a request for vLLM's /score.
// https://docs.vllm.ai/en/latest/serving/openai_compatible_server/#score-api
func decodeScore(in Input, q *items) *Error {
	var w struct {
		Text1 string          `json:"text_1"`
		Text2 json.RawMessage `json:"text_2"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return BadBody(err)
	}
	if w.Text1 == "" {
		return BadRequest("text_1", "text_1: missing or empty: want a string")
	}
	q.query, q.unsorted = w.Text1, true
	return q.addAll(in, "text_2", w.Text2)
}

// decodeClassify reads a request for vLLM's /classify.
// https://docs.vllm.ai/en/latest/serving/openai_compatible_server/#classification-api
func decodeClassify(in Input, q *items) *Error {
	var w struct {
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return BadBody(err)
	}
	q.length = 2
	return q.addAll(in, "input", w.Input)
}

// rank adds the query and the documents of a ranking. field is the name of the field of the documents.
func (q *items) rank(in Input, query, field string, texts []string) *Error {
	switch {
	case query == "":
		return BadRequest("query", "query: missing or empty: want a string")
	case len(texts) < 1 || len(texts) > maxInputs:
		return BadRequest(field, "%s: %d: want 1 to %d", field, len(texts), maxInputs)
	}
	q.query = query
	for _, t := range texts {
		q.add(in, t)
	}
	return nil
}

// An itemsEncoder is the encoder of an answer that is not streamed. It renders the answer when it is made,
// so that the answer is ready when it is due.
type itemsEncoder struct {
	a    Answer
	body []byte
}

func newItemsEncoder(a Answer, render func(*Answer, *items)) *itemsEncoder {
	out := a.Framer.Buf
	a.Framer.Buf = nil
	render(&a, a.Request.items)
	body := a.Framer.Buf
	a.Framer.Buf = out
	return &itemsEncoder{a, body}
}

func (e *itemsEncoder) Opening()        {}
func (e *itemsEncoder) Tokens(_, _ int) {}
func (e *itemsEncoder) Last(_, _ int)   {}

func (e *itemsEncoder) Whole() {
	e.a.Begin("")
	e.a.Buf = append(e.a.Buf, e.body...)
	e.a.End()
}

// addNumbers renders a vector as an array.
func (a *Answer) addNumbers(v []float32) {
	a.Add("[")
	for i, x := range v {
		if i > 0 {
			a.Add(",")
		}
		a.Buf = strconv.AppendFloat(a.Buf, float64(x), 'g', -1, 32)
	}
	a.Add("]")
}

// addVectors renders the vectors as an array of arrays.
func (a *Answer) addVectors(q *items) {
	addList(a, q.vectors(), func(_ int, v []float32) { a.addNumbers(v) })
}

// addTokenUsage renders the tokens of the inputs as the last member of an object.
func (a *Answer) addTokenUsage(q *items) {
	a.AddInt(`,"usage":{"prompt_tokens":`, q.tokens)
	a.AddInt(`,"total_tokens":`, q.tokens)
	a.Add(`}}`)
}

func embeddingsObject(a *Answer, q *items) {
	a.Add(`{"object":"list","data":`)
	addList(a, q.vectors(), func(i int, v []float32) {
		a.AddInt(`{"object":"embedding","index":`, i)
		a.Add(`,"embedding":`)
		if q.base64 {
			a.Add(`"`, vectorBase64(v), `"`)
		} else {
			a.addNumbers(v)
		}
		a.Add("}")
	})
	a.Add(`,"model":`, a.Model)
	a.addTokenUsage(q)
}

// ollamaVectors renders an answer of /api/embed.
func ollamaVectors(a *Answer, q *items) {
	a.Add(`{"model":`, a.Model, `,"embeddings":`)
	a.addVectors(q)
	a.AddInt(`,"prompt_eval_count":`, q.tokens)
	a.Add(`}`)
}

func rerankObject(a *Answer, q *items) {
	a.AddInt(`{"id":"rerank-`, int(a.Ordinal))
	a.Add(`","model":`, a.Model, `,"results":`)
	addList(a, q.scores(), func(_ int, s score) {
		a.AddInt(`{"index":`, s.index)
		if q.documents {
			a.Add(`,"document":{"text":`, jsontext.Quote(q.texts[s.index]), `}`)
		}
		a.AddFloat(`,"relevance_score":`, s.score)
		a.Add("}")
	})
	a.addTokenUsage(q)
}

func scoreObject(a *Answer, q *items) {
	a.AddInt(`{"id":"score-`, int(a.Ordinal))
	a.Add(`","object":"list","model":`, a.Model, `,"data":`)
	addList(a, q.scores(), func(_ int, s score) {
		a.AddInt(`{"index":`, s.index)
		a.AddFloat(`,"object":"score","score":`, s.score)
		a.Add("}")
	})
	a.addTokenUsage(q)
}

// classifyObject renders the probabilities of two classes. They are the squares of a vector, whose sum is 1.
func classifyObject(a *Answer, q *items) {
	a.AddInt(`{"id":"classify-`, int(a.Ordinal))
	a.Add(`","object":"list","model":`, a.Model, `,"data":`)
	addList(a, q.vectors(), func(i int, v []float32) {
		label := `"LABEL_0"`
		if v[1]*v[1] > v[0]*v[0] {
			label = `"LABEL_1"`
		}
		a.AddInt(`{"index":`, i)
		a.Add(`,"label":`, label, `,"probs":`)
		a.addNumbers([]float32{v[0] * v[0], v[1] * v[1]})
		a.Add(`,"num_classes":2}`)
	})
	a.addTokenUsage(q)
}

func teiScores(a *Answer, q *items) {
	addList(a, q.scores(), func(_ int, s score) {
		a.AddInt(`{"index":`, s.index)
		a.AddFloat(`,"score":`, s.score)
		a.Add("}")
	})
}
