package wire

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

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
		Encode: func(a Answer) Encoder { return newConverse(a) }, ErrorBody: awsError,
	}
	invoke = &Dialect{
		ContentType: "application/vnd.amazon.eventstream", DocumentEnd: frame.Chunks, Unmarked: true, AWSService: "bedrock",
		Decode: decodeAnthropic,
		Encode: func(a Answer) Encoder { return newInvocation(a) }, ErrorBody: awsError,
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
	system, fail := 0, (*Error)(nil)
	if !absent(w.System) { // first, because a prompt begins with the system's text
		system, fail = in.CountMessages("system", []Message{{Content: w.System}})
	}
	if fail == nil {
		r.Prompt, fail = in.CountMessages("messages", w.Messages)
	}
	r.Prompt += system
	if fail == nil {
		r.script, fail = in.converseScript()
	}
	return r.planned(limits{name: "maxTokens", max: w.Config.MaxTokens, stops: w.Config.StopSequences}, in, fail)
}

// converseScript returns the output in the format that the body asks for, or nil if it asks for no
// format. If the body has tools, the output is a call if toolChoice requires a call.
func (in Input) converseScript() (*script, *Error) {
	if in.Shape.NoFormat {
		return nil, nil
	}
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

// awsException returns the name of the exception that Bedrock throws for an error.
func awsException(e *Error) string {
	switch e.Status {
	case http.StatusForbidden: // of a signature
		return e.kind
	case http.StatusUnauthorized:
		return "AccessDeniedException"
	case http.StatusNotFound:
		return "ResourceNotFoundException"
	case http.StatusTooManyRequests:
		return "ThrottlingException"
	case http.StatusInternalServerError:
		return "InternalServerException"
	case http.StatusServiceUnavailable, StatusOverloaded:
		return "ServiceUnavailableException"
	}
	return "ValidationException"
}

// awsError returns the body of an error. AWS names the exception in a header; its clients accept
// the name in the body too (https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html).
func awsError(e *Error) string {
	message := e.message
	if e.maxContext > 0 {
		message = fmt.Sprintf("Input is too long for requested model: %d tokens, want at most %d.", e.prompt, e.maxContext)
	}
	return `{"__type":"` + awsException(e) + `","message":` + jsontext.Quote(message) + `}`
}

// awsFailed renders the message of an exception in a stream. named says that the model failed and
// not the service.
func awsFailed(f *frame.Framer, e *Error, named bool) {
	exception := "internalServerException"
	if named {
		exception = "modelStreamErrorException"
	}
	f.BeginException(exception)
	f.Add(`{"message":`, jsontext.Quote(e.message), `}`)
	f.End()
}

// An invocation is the encoder of one answer of Anthropic's API in invoke.
type invocation struct{ *message }

func newInvocation(a Answer) invocation {
	m := newMessage(a)
	m.bedrock = true
	return invocation{m}
}

func (i invocation) Failed(e *Error, named bool) { awsFailed(i.Framer, e, named) }

// metrics renders the member that Bedrock adds to the last event.
func (m *message) metrics() {
	m.Add(`,"amazon-bedrock-invocationMetrics":{"inputTokenCount":`)
	m.AddInt(m.Request.Prompt)
	m.Add(`,"outputTokenCount":`)
	m.AddInt(m.Request.Output)
	m.Add(`,"invocationLatency":`)
	m.AddInt(int(m.latency().Milliseconds()))
	m.Add(`,"firstByteLatency":`)
	m.AddInt(int((*m.Queued + m.prefillTime()).Milliseconds()))
	m.Add(`}`)
}

// latency returns the time from the arrival of the request to the deadline of the last token.
func (a *Answer) latency() time.Duration {
	return *a.Queued + a.prefillTime() + a.decodeTime(a.Request.Output)
}
