package dialect

import "encoding/json"

// MindIEInfer is the native API of Huawei's MindIE (/infer). The other endpoints of
// MindIE offer [OpenAIChat], [TGI], [Triton] and [MindIEVLLM].
type MindIEInfer struct{}

// Name returns "mindie-infer".
func (MindIEInfer) Name() string { return "mindie-infer" }

// Path returns "/infer".
func (MindIEInfer) Path(Query) string { return "/infer" }

// Body returns the JSON body for q, which must not be a conversation. FixedOutput
// only sets the limit, see [TGI.Body].
func (d MindIEInfer) Body(q Query) ([]byte, error) {
	if err := checkPrompt(d.Name(), q); err != nil {
		return nil, err
	}
	b := newTGIBody(q)
	b.Stream = q.Stream
	return json.Marshal(b)
}

// NewParser returns a parser for the answers of this dialect.
func (d MindIEInfer) NewParser() Parser { return newTGIParser(d.Name()) }

// MindIEVLLM is MindIE's version of [VLLMDemo] (/generate). Each document ends with
// a NUL and has only the new text. The content type is text/event-stream although
// the format is not.
type MindIEVLLM struct{}

// Name returns "mindie-vllm".
func (MindIEVLLM) Name() string { return "mindie-vllm" }

// Path returns "/generate".
func (MindIEVLLM) Path(Query) string { return "/generate" }

// Body returns the JSON body for q, which must not be a conversation.
func (d MindIEVLLM) Body(q Query) ([]byte, error) { return generateBody(d.Name(), q, false) }

// NewParser returns a parser for the answers of this dialect.
func (d MindIEVLLM) NewParser() Parser { return newTextsParser(d.Name(), false) }
