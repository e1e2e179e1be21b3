package dialect

import "encoding/json"

// MindIEInfer is the own API of Huawei's MindIE (/infer). Its other endpoints
// speak [OpenAIChat], [TGI] and [Triton].
type MindIEInfer struct{}

// Name returns "mindie-infer".
func (MindIEInfer) Name() string { return "mindie-infer" }

// Path returns "/infer".
func (MindIEInfer) Path(Query) string { return "/infer" }

// Body returns the JSON to post for q, which must not be a conversation. As to
// FixedOutput, see [TGI].
func (d MindIEInfer) Body(q Query) ([]byte, error) {
	if err := promptOnly(d.Name(), q); err != nil {
		return nil, err
	}
	b := newTGIBody(q)
	b.Stream = q.Stream
	return json.Marshal(b)
}

// NewParser returns a parser of answers.
func (d MindIEInfer) NewParser() Parser { return newTGIParser(d.Name()) }

// MindIEVLLM is MindIE's version of [VLLMDemo] (/generate): documents end with a
// NUL, have only the text that is new, and come under the name of
// text/event-stream.
type MindIEVLLM struct{}

// Name returns "mindie-vllm".
func (MindIEVLLM) Name() string { return "mindie-vllm" }

// Path returns "/generate".
func (MindIEVLLM) Path(Query) string { return "/generate" }

// Body returns the JSON to post for q, which must not be a conversation.
func (d MindIEVLLM) Body(q Query) ([]byte, error) { return generateBody(d.Name(), q) }

// NewParser returns a parser of answers.
func (d MindIEVLLM) NewParser() Parser { return newTextsParser(d.Name(), false) }
