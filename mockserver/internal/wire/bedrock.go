package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/frame"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
)

// converse and invoke are two APIs of Amazon Bedrock. Their streams are binary messages. In
// converse, the API is the same for all models
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html). In
// invoke, the bodies are the model's own, and here the model is one of Anthropic's
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html).
var (
	converse = &Dialect{
		ContentType: "application/vnd.amazon.eventstream", DocumentEnd: frame.Messages, Unmarked: true, AWSService: "bedrock",
		Decode: decodeConverse,
		Encode: func(a Answer) Encoder { return &converseEncoder{newChat(a)} }, ErrorBody: awsError,
	}
	invoke = &Dialect{
		ContentType: "application/vnd.amazon.eventstream", DocumentEnd: frame.Chunks, Unmarked: true, AWSService: "bedrock",
		Decode: decodeAnthropic,
		Encode: func(a Answer) Encoder { return invocation{&message{newChat(a), true}} }, ErrorBody: awsError,
	}
)

// bedrockRoute returns the route of a path /model/M/OPERATION.
func bedrockRoute(path string) (Route, bool) {
	rest, found := strings.CutPrefix(path, "/model/")
	at := strings.LastIndex(rest, "/") // the ARN of a model may have slashes
	if !found || at < 1 {
		return Route{}, false
	}
	r := Route{Model: rest[:at], stream: notAtAll}
	switch rest[at+1:] {
	case "converse":
		r.Dialect = converse
	case "converse-stream":
		r.Dialect, r.stream = converse, always
	case "invoke":
		r.Dialect = invoke
	case "invoke-with-response-stream":
		r.Dialect, r.stream = invoke, always
	default:
		return Route{}, false
	}
	return r, true
}

func decodeConverse(in Input) (Request, *Error) {
	var w struct {
		System   json.RawMessage `json:"system"`
		Messages []Message       `json:"messages"`
		Config   struct {
			MaxTokens     *int            `json:"maxTokens"`
			StopSequences json.RawMessage `json:"stopSequences"`
		} `json:"inferenceConfig"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return Request{}, BadBody(err)
	}
	r := Request{chat: true}
	var fail *Error
	r.Prompt, fail = in.countChat(w.System, w.Messages)
	return r.planned(limits{name: "maxTokens", max: w.Config.MaxTokens, stops: w.Config.StopSequences}, in, in.converseScript, fail)
}

// converseScript returns the output in the format that the body asks for, or nil if it asks for no
// format. If the body has tools, the output is a call if toolChoice requires a call.
func (in Input) converseScript() (*script, *Error) {
	var w struct {
		ToolConfig struct {
			Tools []struct {
				Spec struct {
					Name   string `json:"name"`
					Schema struct {
						JSON json.RawMessage `json:"json"`
					} `json:"inputSchema"`
				} `json:"toolSpec"`
			} `json:"tools"`
			Choice struct {
				Any  *struct{} `json:"any"`
				Tool *struct {
					Name string `json:"name"`
				} `json:"tool"`
			} `json:"toolChoice"`
		} `json:"toolConfig"`
		OutputConfig struct {
			TextFormat *struct {
				Structure struct {
					JSONSchema struct {
						Schema string `json:"schema"`
					} `json:"jsonSchema"`
				} `json:"structure"`
			} `json:"textFormat"`
		} `json:"outputConfig"`
	}
	if err := json.Unmarshal(in.Body, &w); err != nil {
		return nil, BadBody(err)
	}
	choice, format := w.ToolConfig.Choice, w.OutputConfig.TextFormat
	switch {
	case choice.Any != nil || choice.Tool != nil:
	case format != nil:
		return newScript("outputConfig.textFormat", "", json.RawMessage(format.Structure.JSONSchema.Schema))
	default:
		return nil, nil
	}
	for _, t := range w.ToolConfig.Tools {
		if t.Spec.Name != "" && (choice.Tool == nil || t.Spec.Name == choice.Tool.Name) {
			return newScript("toolConfig", t.Spec.Name, t.Spec.Schema.JSON)
		}
	}
	return nil, BadRequest("toolConfig", "toolConfig: want tools with names, and a toolChoice that names one of them")
}

// awsExceptions has the name of the exception that Bedrock throws for each status. The name for any other status
// is ValidationException.
var awsExceptions = map[int]string{
	http.StatusUnauthorized:        "AccessDeniedException",
	http.StatusNotFound:            "ResourceNotFoundException",
	http.StatusTooManyRequests:     "ThrottlingException",
	http.StatusInternalServerError: "InternalServerException",
	http.StatusServiceUnavailable:  "ServiceUnavailableException",
	StatusOverloaded:               "ServiceUnavailableException",
}

// awsError returns the body of an error. AWS names the exception in a header; its clients accept
// the name in the body too (https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html).
func awsError(e *Error) string {
	message := e.message
	if e.maxContext > 0 {
		message = fmt.Sprintf("Input is too long for requested model: %d tokens: want at most %d.", e.prompt, e.maxContext)
	}
	exception := cmp.Or(awsExceptions[e.Status], "ValidationException")
	if e.Status == http.StatusForbidden { // of a signature
		exception = e.kind
	}
	return `{"__type":"` + exception + `","message":` + jsontext.Quote(message) + `}`
}

// An invocation is the encoder of one answer of Anthropic's API in invoke.
type invocation struct{ *message }

func (i invocation) Failed(e *Error, named bool) { awsFailed(i.Framer, e, named) }
