package clients

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/openai/openai-go/v3"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// TestOpenAIEmbeddings sends a batch by OpenAI's client.
func TestOpenAIEmbeddings(t *testing.T) {
	m := serve(t, mockserver.Config{})
	c := sdk(m)
	params := openai.EmbeddingNewParams{
		Model: "mock", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"two words", "three more words"}}, Dimensions: openai.Int(8),
	}
	answer, err := c.Embeddings.New(t.Context(), params)
	assert.NilError(t, err)
	assert.Equal(t, answer.Model, "mock")
	assert.Equal(t, answer.Usage.PromptTokens, int64(5))
	assert.Equal(t, answer.Usage.TotalTokens, int64(5))
	assert.Equal(t, len(answer.Data), 2)
	for i, d := range answer.Data {
		assert.Equal(t, d.Index, int64(i))
		assert.Equal(t, len(d.Embedding), 8)
	}
	e := m.Log()[0]
	assert.Assert(t, e.Path == "/v1/embeddings" && e.PromptTokens == 5 && e.OutputTokens == 0 && e.Status == 200, "Log()[0] = %+v", e)

	one := openai.EmbeddingNewParamsInputUnion{OfString: openai.String("two words")}
	again, err := c.Embeddings.New(t.Context(), openai.EmbeddingNewParams{Model: "mock", Input: one, Dimensions: openai.Int(8)})
	assert.NilError(t, err)
	assert.DeepEqual(t, again.Data[0].Embedding, answer.Data[0].Embedding)
}

// TestOpenAIEmbeddingsBase64 checks vectors in base64. The client does not decode them itself.
func TestOpenAIEmbeddingsBase64(t *testing.T) {
	c := sdk(serve(t, mockserver.Config{}))
	params := openai.EmbeddingNewParams{Model: "mock", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("a b")}}
	numbers, err := c.Embeddings.New(t.Context(), params)
	assert.NilError(t, err)
	params.EncodingFormat = openai.EmbeddingNewParamsEncodingFormatBase64
	encoded, err := c.Embeddings.New(t.Context(), params)
	assert.NilError(t, err)
	text := encoded.Data[0].JSON.Embedding.Raw()
	raw, err := base64.StdEncoding.DecodeString(text[1 : len(text)-1])
	assert.NilError(t, err)
	assert.Equal(t, len(raw), 4*len(numbers.Data[0].Embedding))
	for i, want := range numbers.Data[0].Embedding {
		assert.Equal(t, math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])), float32(want))
	}
}

// TestOpenAIEmbeddingsErrors checks that the client understands errors.
func TestOpenAIEmbeddingsErrors(t *testing.T) {
	params := openai.EmbeddingNewParams{Model: "mock", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("")}}
	c := sdk(serve(t, mockserver.Config{}))
	_, err := c.Embeddings.New(t.Context(), params)
	var refused *openai.Error
	assert.Assert(t, errors.As(err, &refused), "%v", err)
	assert.Equal(t, refused.StatusCode, 400)
	assert.Equal(t, refused.Message, "input[0]: empty: want at least one character")
	assert.Equal(t, refused.Param, "input")
	params.Input = openai.EmbeddingNewParamsInputUnion{OfString: openai.String("a")}
	for _, kind := range []fault.Kind{fault.HTTP429, fault.Truncate, fault.FIN, fault.Reset} {
		c := sdk(spoiled(t, kind, 0))
		_, err := c.Embeddings.New(t.Context(), params)
		assert.Assert(t, err != nil, kind)
	}
}
