package dialect

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// TestItemsBodies checks the path and the body of requests.
func TestItemsBodies(t *testing.T) {
	embed := Query{Model: "m", Inputs: []string{"a b", "c"}}
	rank := Query{Model: "m", Prompt: "q", Inputs: []string{"a", "b"}}
	for _, tt := range []struct {
		d          Dialect
		q          Query
		path, body string
	}{
		{Embeddings{}, embed, "/v1/embeddings", `{"model":"m","input":["a b","c"],"encoding_format":"float"}`},
		{Embeddings{Base64: true, Dimensions: 8}, embed, "/v1/embeddings", `{"model":"m","input":["a b","c"],"encoding_format":"base64","dimensions":8}`},
		{TEIEmbed{}, embed, "/embed", `{"inputs":["a b","c"],"truncate":false}`},
		{OllamaEmbed{Dimensions: 8}, embed, "/api/embed", `{"model":"m","input":["a b","c"],"truncate":false,"dimensions":8}`},
		{Rerank{}, rank, "/v1/rerank", `{"model":"m","query":"q","documents":["a","b"]}`},
		{Rerank{V2: true, TopN: 1}, rank, "/v2/rerank", `{"model":"m","query":"q","documents":["a","b"],"top_n":1}`},
		{TEIRerank{}, rank, "/rerank", `{"query":"q","texts":["a","b"],"truncate":false}`},
		{VLLMClassify{}, embed, "/classify", `{"model":"m","input":["a b","c"]}`},
		{VLLMScore{}, rank, "/score", `{"model":"m","text_1":"q","text_2":["a","b"]}`},
	} {
		assert.Equal(t, tt.d.Path(tt.q), tt.path, tt.d.Name())
		body, err := tt.d.Body(tt.q)
		assert.NilError(t, err)
		assert.Equal(t, string(body), tt.body, tt.d.Name())
	}
}

// TestItemsInvalidQueries checks that a query that an API cannot express is an error before it is sent.
func TestItemsInvalidQueries(t *testing.T) {
	inputs := []string{"a"}
	for _, tt := range []struct {
		d           Dialect
		q           Query
		err         string
		unsupported bool
	}{
		{Embeddings{}, Query{}, "embeddings: no inputs: want at least one", false},
		{Embeddings{}, Query{Inputs: inputs, Prompt: "p"}, "embeddings: a prompt besides the inputs: want inputs alone", false},
		{Rerank{}, Query{Inputs: inputs}, "rerank: no prompt: want a prompt, which is the query", false},
		{Embeddings{}, Query{Inputs: inputs, MaxTokens: 1}, "embeddings: max tokens 1: want 0, because the answer has no output tokens", false},
		{OllamaEmbed{}, Query{Inputs: inputs, Stream: true}, "ollama-embed: a stream; the answer is one JSON document", true},
		{TEIEmbed{}, Query{Inputs: inputs, Tools: []Tool{{}}}, "tei-embed: messages, tools or a schema; only inputs can be sent", true},
		{Embeddings{Dimensions: -1}, Query{Inputs: inputs}, "embeddings: -1 dimensions: want at least 1, or 0 for the model's own", false},
		{Rerank{TopN: -1}, Query{Inputs: inputs, Prompt: "q"}, "rerank: -1 results: want at least 1, or 0 for all", false},
		{OpenAIChat{}, Query{Inputs: inputs, MaxTokens: 1}, "openai-chat: 1 inputs; the API generates text for a prompt", true},
	} {
		_, err := tt.d.Body(tt.q)
		assert.Error(t, err, tt.err)
		assert.Equal(t, errors.Is(err, errors.ErrUnsupported), tt.unsupported, tt.err)
	}
}

// An items is the result of parsing an answer of items.
type items struct {
	Vectors       [][]float32
	Scores        []Score
	Prompt, Cache int
	Fault, Err    string
}

// parseItems parses an answer to a query with the given number of inputs.
func parseItems(p Parser, inputs int, body string) items {
	var d Delta
	p.Reset()
	p.(ItemsParser).Expect(inputs)
	err := p.Body([]byte(body), &d)
	got := items{d.Vectors, d.Scores, d.Usage.PromptTokens, d.Usage.CachedTokens, d.Fault, ""}
	if err != nil {
		got.Err = err.Error()
	}
	return got
}

type itemsTest struct {
	name, body string
	inputs     int
	want       items
}

// testItems parses each answer with one parser, which must not remember earlier answers.
func testItems(t *testing.T, d Dialect, tests []itemsTest) {
	t.Helper()
	p := d.NewParser()
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, parseItems(p, tt.inputs, tt.body)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.name, tt.body, diff)
		}
	}
}

func TestEmbeddings(t *testing.T) {
	failed := func(err string) items { return items{Err: "embeddings: " + err} }
	testItems(t, Embeddings{}, []itemsTest{
		{"in order", `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.6,-8e-1]},{"object":"embedding","index":1,"embedding":[1,0]}],"model":"m","usage":{"prompt_tokens":7,"total_tokens":7}}`,
			2, items{Vectors: [][]float32{{.6, -.8}, {1, 0}}, Prompt: 7}},
		{"in another order", `{"usage":{"total_tokens":7},"data":[{"embedding":[0,1],"index":1},{"embedding":[1,0],"index":0}]}`,
			2, items{Vectors: [][]float32{{1, 0}, {0, 1}}, Prompt: 7}},
		{"no usage", `{"data":[{"index":0,"embedding":[1],"":[2]}]}`, 1, items{Vectors: [][]float32{{1}}}},
		{"cached tokens", `{"data":[{"index":0,"embedding":[1]}],"usage":{"prompt_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}`,
			1, items{Vectors: [][]float32{{1}}, Prompt: 3, Cache: 2}},
		{"one vector too few", `{"data":[{"index":0,"embedding":[1]}]}`, 2, failed("1 vectors for 2 inputs: want 2")},
		{"one vector too many", `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`, 1, failed("2 vectors for 1 inputs: want 1")},
		{"no vectors", `{"data":[]}`, 1, failed("0 vectors for 1 inputs: want 1")},
		{"no list", `{"object":"list"}`, 1, failed(`no list "data"`)},
		{"list is null", `{"data":null}`, 1, failed(`no list "data"`)},
		{"two lists", `{"data":[],"data":[{"index":0,"embedding":[1]}]}`, 1, failed(`two lists of items`)},
		{"no index", `{"data":[{"embedding":[1]}]}`, 1, failed("item 0 has no index")},
		{"index too large", `{"data":[{"index":1,"embedding":[1]}]}`, 1, failed("item 0 has the index 1: want less than 1, the number of inputs")},
		{"index below 0", `{"data":[{"index":-1,"embedding":[1]}]}`, 1, failed(`item 0 has the index "-1": want a whole number, at least 0`)},
		{"index twice", `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, 2, failed("item 1 has the index 0 again: want each index once")},
		{"no vector", `{"data":[{"index":0}]}`, 1, failed("item 0 has no embedding")},
		{"item is null", `{"data":[null]}`, 1, failed(`item 0 is "null": want an object`)},
		{"vector is null", `{"data":[{"index":0,"embedding":null}]}`, 1, failed(`item 0 has the vector "null": want an array of numbers`)},
		{"vector is base64", `{"data":[{"index":0,"embedding":"AACAPw=="}]}`, 1, failed(`item 0 has the vector "\"AACAPw==\"": want an array of numbers`)},
		{"vectors differ in length", `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`, 2,
			failed("item 1 has a vector of 2 dimensions, and the first item one of 1: want the same number")},
		{"empty vector", `{"data":[{"index":0,"embedding":[]}]}`, 1, failed("item 0 has an empty vector")},
		{"vector of zeros", `{"data":[{"index":0,"embedding":[0,-0.0]}]}`, 1, failed("item 0 has a vector of 2 zeros")},
		{"element is null", `{"data":[{"index":0,"embedding":[1,null]}]}`, 1, failed(`item 0 has the element "null": want a finite number`)},
		{"element is a string", `{"data":[{"index":0,"embedding":["NaN"]}]}`, 1, failed(`item 0 has the element "\"NaN\"": want a finite number`)},
		{"infinite element", `{"data":[{"index":0,"embedding":[1e999]}]}`, 1, failed(`item 0 has the element "1e999": want a finite number`)},
		{"element too large for 32 bits", `{"data":[{"index":0,"embedding":[1e39]}]}`, 1, failed(`item 0 has the element "1e39": want a finite number`)},
		{"strings with commas", `{"data":[{"index":0,"embedding":["1,2,3"]}]}`, 1, failed(`item 0 has the element "\"1": want a finite number`)},
		{"nested", `{"data":[{"index":0,"embedding":[[1,2]]}]}`, 1, failed(`item 0 has the element "[1": want a finite number`)},
		{"white space", "{\"data\":[{\"index\":0,\"embedding\":[ 1 ,\n-2.5e0 ]}]}", 1, items{Vectors: [][]float32{{1, -2.5}}}},
		{"error", `{"error":{"message":"no","type":"x"}}`, 1, items{Fault: "no"}},
		{"error beside items", `{"data":[],"error":"no"}`, 1, items{Fault: "no"}},
	})
	for _, body := range []string{`{"data":[{"index":0,"embedding":[NaN]}]}`, `{"data":[{"index":0,"embedding":[1,`, `<html>`, `[]`} {
		got := parseItems(Embeddings{}.NewParser(), 1, body)
		assert.Assert(t, strings.HasPrefix(got.Err, "embeddings: malformed body: "), "%s: %s", body, got.Err)
	}
}

func TestEmbeddingsAsAskedFor(t *testing.T) {
	failed := func(err string) items { return items{Err: "embeddings-base64: " + err} }
	testItems(t, Embeddings{Base64: true, Dimensions: 2}, []itemsTest{
		{"base64", `{"data":[{"index":0,"embedding":"AACAPwAAAMA="}]}`, 1, items{Vectors: [][]float32{{1, -2}}}},
		{"other dimensions", `{"data":[{"index":0,"embedding":"AACAPw=="}]}`, 1, failed("item 0 has a vector of 1 dimensions: want 2, as asked for")},
		{"cut base64", `{"data":[{"index":0,"embedding":"AACAPwAAA"}]}`, 1, failed(`item 0: 9 bytes of base64 are no vector of 32-bit numbers: "AACAPwAAA"`)},
		{"cut between characters", `{"data":[{"index":0,"embedding":"AACAPwAA"}]}`, 1, failed(`item 0: 8 bytes of base64 are no vector of 32-bit numbers: "AACAPwAA"`)},
		{"NaN", `{"data":[{"index":0,"embedding":"AACAPwAAwH8="}]}`, 1, failed("item 0 has the element NaN: want finite numbers of 32 bits")},
		{"infinity", `{"data":[{"index":0,"embedding":"AACAPwAAgH8="}]}`, 1, failed("item 0 has the element +Inf: want finite numbers of 32 bits")},
		{"numbers", `{"data":[{"index":0,"embedding":[1,2]}]}`, 1, failed(`item 0 has the vector "[1,2]": want base64`)},
	})
}

func TestOtherEmbeddings(t *testing.T) {
	testItems(t, TEIEmbed{}, []itemsTest{
		{"two", " [[1,0],[0,1]]\n", 2, items{Vectors: [][]float32{{1, 0}, {0, 1}}}},
		{"too few", "[[1,0]]", 2, items{Err: "tei-embed: 1 vectors for 2 inputs: want 2"}},
		{"error", `{"error":"Model is overloaded","error_type":"overloaded"}`, 1, items{Fault: "Model is overloaded"}},
	})
	testItems(t, VLLMClassify{}, []itemsTest{
		{"two", `{"id":"x","data":[{"index":0,"label":"a","probs":[0.25,0.75],"num_classes":2},{"index":1,"label":"b","probs":[1,0],"num_classes":2}],"usage":{"prompt_tokens":5}}`,
			2, items{Vectors: [][]float32{{.25, .75}, {1, 0}}, Prompt: 5}},
		{"no probabilities", `{"data":[{"index":0,"label":"a"}]}`, 1, items{Err: "vllm-classify: item 0 has no probs"}},
	})
	testItems(t, OllamaEmbed{}, []itemsTest{
		{"two", `{"model":"m","embeddings":[[1,0],[0,1]],"total_duration":5,"load_duration":2,"prompt_eval_count":8}`, 2, items{Vectors: [][]float32{{1, 0}, {0, 1}}, Prompt: 8}},
		{"error", `{"error":"this model does not support embeddings"}`, 1, items{Fault: "this model does not support embeddings"}},
	})
}

func TestRerank(t *testing.T) {
	failed := func(err string) items { return items{Err: "rerank: " + err} }
	testItems(t, Rerank{}, []itemsTest{
		{"sorted", `{"id":"x","results":[{"index":1,"document":{"text":"b"},"relevance_score":0.9},{"index":0,"relevance_score":-3}],"usage":{"total_tokens":9}}`,
			2, items{Scores: []Score{{1, .9}, {0, -3}}, Prompt: 9}},
		{"Cohere's counts", `{"results":[{"index":0,"relevance_score":1}],"meta":{"billed_units":{"search_units":1},"tokens":{"input_tokens":5}}}`, 1, items{Scores: []Score{{0, 1}}, Prompt: 5}},
		{"equal scores", `{"results":[{"index":1,"relevance_score":1},{"index":0,"relevance_score":1}]}`, 2, items{Scores: []Score{{1, 1}, {0, 1}}}},
		{"not sorted", `{"results":[{"index":0,"relevance_score":0.1},{"index":1,"relevance_score":0.2}]}`, 2,
			failed("item 1 has the score 0.2, and the item before it 0.1: want the highest score first")},
		{"too few", `{"results":[{"index":0,"relevance_score":0.1}]}`, 2, failed("1 scores for 2 inputs: want 2")},
		{"index twice", `{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}`, 2, failed("item 1 has the index 0 again: want each index once")},
		{"no score", `{"results":[{"index":0,"score":1}]}`, 1, failed("item 0 has no relevance_score")},
		{"score is null", `{"results":[{"index":0,"relevance_score":null}]}`, 1, failed(`item 0 has the relevance_score "null": want a finite number`)},
	})
	testItems(t, Rerank{TopN: 2, Unsorted: true}, []itemsTest{
		{"the top", `{"results":[{"index":2,"relevance_score":0.1},{"index":0,"relevance_score":0.2}]}`, 3, items{Scores: []Score{{2, .1}, {0, .2}}}},
		{"fewer documents", `{"results":[{"index":0,"relevance_score":0.2}]}`, 1, items{Scores: []Score{{0, .2}}}},
		{"all documents", `{"results":[{"index":0,"relevance_score":3},{"index":1,"relevance_score":2},{"index":2,"relevance_score":1}]}`, 3, failed("3 scores for 3 inputs: want 2")},
	})
	testItems(t, TEIRerank{}, []itemsTest{
		{"sorted", `[{"index":1,"score":0.9},{"index":0,"score":0.1}]`, 2, items{Scores: []Score{{1, .9}, {0, .1}}}},
	})
	testItems(t, VLLMScore{}, []itemsTest{
		{"not sorted", `{"data":[{"index":0,"object":"score","score":0.1},{"index":1,"object":"score","score":0.9}],"usage":{"prompt_tokens":5}}`, 2, items{Scores: []Score{{0, .1}, {1, .9}}, Prompt: 5}},
	})
}

// TestItemsAreNoStream checks that an event of a stream is an error.
func TestItemsAreNoStream(t *testing.T) {
	for _, d := range itemsDialects {
		p, delta := d.NewParser(), Delta{}
		assert.Error(t, p.Event(sse.Event{Data: []byte(`{"data":[]}`)}, &delta), d.Name()+": a stream: want one JSON document")
		assert.Error(t, p.End(), d.Name()+": a stream: want one JSON document")
	}
}

// fuzzItems parses answers, and checks that what a parser accepts is what the query asked for, and that the
// result does not depend on earlier answers.
func fuzzItems(f *testing.F, family []Dialect, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed, 2)
	}
	var parsers []Parser
	for _, d := range family {
		parsers = append(parsers, d.NewParser())
	}
	f.Fuzz(func(t *testing.T, body string, inputs int) {
		if inputs < 1 || inputs > 1000 {
			return
		}
		for i, p := range parsers {
			name := family[i].Name()
			got := parseItems(p, inputs, body)
			if diff := cmp.Diff(parseItems(family[i].NewParser(), inputs, body), got); diff != "" {
				t.Errorf("%s: %q (-new parser +used parser):\n%s", name, body, diff)
			}
			if got.Err != "" || got.Fault != "" {
				continue
			}
			if n := len(got.Vectors) + len(got.Scores); n != inputs {
				t.Errorf("%s: %q: %d items for %d inputs", name, body, n, inputs)
			}
			for _, v := range got.Vectors {
				if len(v) != len(got.Vectors[0]) || !slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) || slices.ContainsFunc(v, func(x float32) bool { return x-x != 0 }) {
					t.Errorf("%s: %q: vector %v", name, body, v)
				}
			}
			for _, s := range got.Scores {
				if s.Index < 0 || s.Index >= inputs || math.IsNaN(s.Score) || math.IsInf(s.Score, 0) {
					t.Errorf("%s: %q: %+v", name, body, s)
				}
			}
		}
	})
}

func FuzzEmbeddings(f *testing.F) {
	fuzzItems(f, []Dialect{Embeddings{}, Embeddings{Base64: true}, TEIEmbed{}, OllamaEmbed{}, VLLMClassify{}},
		`{"data":[{"index":0,"embedding":[0.6,-8e-1]},{"index":1,"embedding":[1,0]}],"usage":{"prompt_tokens":7}}`,
		`{"data":[{"index":1,"embedding":"AACAPwAAAMA="},{"index":0,"embedding":"AACAPwAAAMA="}]}`,
		`[[1,2],[3,4]]`, `{"embeddings":[[1],[2]],"prompt_eval_count":3}`, `{"error":"no"}`)
}

func FuzzRerank(f *testing.F) {
	fuzzItems(f, []Dialect{Rerank{}, Rerank{Unsorted: true}, TEIRerank{}, VLLMScore{}},
		`{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":-3}],"meta":{"tokens":{"input_tokens":5}}}`,
		`[{"index":1,"score":0.9},{"index":0,"score":0.1}]`, `{"error":{"message":"no"}}`)
}
