package tokenizer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// NewOllama returns the tokenizer of the model that the Ollama server at t serves. It reads the
// vocabulary of the model's GGUF file from /api/show
// (https://docs.ollama.com/api#show-model-information). Later it sends no requests. It supports
// byte-level byte-pair encodings with the pre-tokenizers of GPT-2, Llama 3, Qwen 2, Phi 4, Mistral
// NeMo and GPT-OSS, and byte-pair encodings of SentencePiece. The error wraps [ErrNoEndpoint] if the
// server is not Ollama or the vocabulary is not supported.
func NewOllama(ctx context.Context, t llmbench.Target) (*HuggingFace, error) {
	base, client, err := t.Client()
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	answer, err := post(ctx, client, t, base+"/api/show", map[string]any{"model": t.Model, "verbose": true})
	if _, refused := errors.AsType[*refusal](err); refused {
		return nil, fmt.Errorf("tokenizer: %w: /api/show of Ollama: %w", ErrNoEndpoint, err)
	}
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	var show struct {
		Info *ggufVocabulary `json:"model_info"`
	}
	if err := json.Unmarshal(answer, &show); err != nil {
		return nil, fmt.Errorf("tokenizer: %w: /api/show of Ollama: %w", ErrNoEndpoint, err)
	}
	if show.Info == nil {
		return nil, fmt.Errorf("tokenizer: %w: /api/show of Ollama has no model_info", ErrNoEndpoint)
	}
	tok, err := show.Info.tokenizer()
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w: read the vocabulary in /api/show of Ollama: %w", ErrNoEndpoint, err)
	}
	return tok, nil
}
