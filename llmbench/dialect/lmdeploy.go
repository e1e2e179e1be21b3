package dialect

import "encoding/json"

// LMDeploy is the own API of LMDeploy (/generate, https://lmdeploy.readthedocs.io):
// its events look like SGLang's, but have only the text that is new.
type LMDeploy struct{}

// Name returns "lmdeploy".
func (LMDeploy) Name() string { return "lmdeploy" }

// Path returns "/generate".
func (LMDeploy) Path(Query) string { return "/generate" }

// Body returns the JSON to post for q, which must not be a conversation.
func (d LMDeploy) Body(q Query) ([]byte, error) { return generateBody(d.Name(), q) }

// generateBody is what the servers of /generate take whose fields are named like
// those of a sampler in vLLM.
func generateBody(dialect string, q Query) ([]byte, error) {
	if err := promptOnly(dialect, q); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Prompt      string  `json:"prompt"`
		MaxTokens   int     `json:"max_tokens"`
		IgnoreEOS   bool    `json:"ignore_eos,omitempty"`
		Temperature float64 `json:"temperature"`
		Stream      bool    `json:"stream"`
	}{Prompt: q.Prompt, MaxTokens: q.MaxTokens, IgnoreEOS: q.FixedOutput, Stream: q.Stream})
}

// NewParser returns a parser of answers.
func (d LMDeploy) NewParser() Parser { return newGenerateParser(d.Name(), fresh) }
