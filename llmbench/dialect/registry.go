package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// dialects lists the dialects of the package that generate text.
var dialects = []Dialect{
	OpenAIChat{}, OpenAICompletions{}, OpenAIResponses{},
	TGI{}, LlamaCPP{}, Ollama{}, OllamaGenerate{}, SGLang{}, LMDeploy{}, Triton{},
	VLLMDemo{}, MindIEInfer{}, MindIEVLLM{}, AnthropicMessages{}, Gemini{}, Vertex{},
	BedrockConverse{}, BedrockInvoke{}, Cohere{},
}

// itemsDialects lists the dialects of the package whose answers have an item for each input of a query.
var itemsDialects = []ItemsDialect{
	Embeddings{}, Embeddings{Base64: true}, TEIEmbed{}, OllamaEmbed{}, VLLMClassify{}, Rerank{}, Rerank{V2: true}, TEIRerank{}, VLLMScore{},
}

// aliases maps alternative names to names of dialects.
var aliases = map[string]string{
	"ollama-chat":       Ollama{}.Name(),
	"sglang-generate":   SGLang{}.Name(),
	"lmdeploy-generate": LMDeploy{}.Name(),
}

// all lists the dialects of both lists.
func all() []Dialect {
	all := slices.Clone(dialects)
	for _, d := range itemsDialects {
		all = append(all, d)
	}
	return all
}

// Names returns the names of all dialects of the package, without aliases.
func Names() []string {
	var names []string
	for _, d := range all() {
		names = append(names, d.Name())
	}
	return names
}

// ByName returns the dialect with the given name. Three dialects have an alias
// that includes the endpoint: "ollama-chat" for "ollama", "sglang-generate" for
// "sglang" and "lmdeploy-generate" for "lmdeploy". The error for an unknown name
// lists all names.
func ByName(name string) (Dialect, error) {
	known := cmp.Or(aliases[name], name)
	for _, d := range all() {
		if d.Name() == known {
			return d, nil
		}
	}
	return nil, fmt.Errorf("dialect: %q is none of %s", name, strings.Join(Names(), ", "))
}
