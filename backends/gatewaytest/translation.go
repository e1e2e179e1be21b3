package gatewaytest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/gatewaytest/internal/ask"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// A saying is something that a request says, and that must come to the upstream, also in another API.
type saying struct {
	name, does string
	needs      ask.Feature // what both APIs must have, or ""
	ask        func(text string) ask.Request
	differs    func(sent, got ask.Request) (says string, in, out any) // what the gateway did, or ""
}

// translationCases are the cases of requests and of answers. What else an answer says is checked in fidelity and usage, whose
// cases compare the meaning of answers if the upstream has another API.
func translationCases() (all []testCase) {
	for _, s := range sayings {
		p := plan{ask: s.ask, stream: s.name == "stream"}
		all = append(all, testCase{class: "translation", name: s.name, does: s.does, plan: p, run: s.run})
	}
	all = append(all,
		testCase{class: "translation", name: "length", does: "an answer that the limit of tokens ends", plan: plan{limit: 5, tokens: 9}, judge: judgeSame},
		testCase{class: "translation", name: "length-stream", does: "a stream that the limit of tokens ends", plan: plan{stream: true, limit: 5, tokens: 9}, judge: judgeSame})
	for _, kind := range []fault.Kind{fault.HTTP400, fault.HTTP401, fault.HTTP404, fault.HTTP413, fault.HTTP429, fault.HTTP500, fault.HTTP503} {
		status := strings.TrimPrefix(string(kind), "http-")
		all = append(all, testCase{class: "translation", name: "error-" + status, does: "the type of an error with status " + status, plan: plan{config: failing(kind)}, judge: judgeErrorType})
	}
	return all
}

// picture is an image of one pixel, in base64.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// offered are the tools of requests.
var offered = []ask.Tool{
	{Name: "look_up", Description: "finds a city", Schema: `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`},
	{Name: "get_forecast", Description: "weather of a city", Schema: `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"units":{"type":"string","enum":["metric","imperial"]}},"required":["city","days"]}`},
}

var sayings = []saying{
	{"system", "a request with a text of the system", ask.Chat,
		func(text string) ask.Request {
			return ask.Request{System: "You are a lighthouse keeper. Answer in one sentence.", Turns: says(text)}
		},
		func(sent, got ask.Request) (string, any, any) {
			return unless(strings.Contains(got.System, sent.System), "the gateway lost the text of the system, or its role", sent.System, got)
		}},
	{"turns", "a conversation", ask.Chat,
		func(text string) ask.Request {
			return ask.Request{Turns: []ask.Turn{{Role: ask.User, Kind: ask.Text, Text: "first " + text}, {Role: ask.Assistant, Kind: ask.Text, Text: "second é"}, {Role: ask.User, Kind: ask.Text, Text: `third "世界"`}}}
		},
		func(sent, got ask.Request) (string, any, any) {
			a, b := joined(sent.Turns), joined(got.Turns)
			return unless(slices.Equal(a, b), "the gateway changed the messages of the conversation, their order or their roles", a, b)
		}},
	{"tools", "a request with two tools", ask.Tools,
		func(text string) ask.Request { return ask.Request{Turns: says(text), Tools: offered} },
		func(sent, got ask.Request) (string, any, any) {
			same := slices.EqualFunc(sent.Tools, got.Tools, func(a, b ask.Tool) bool {
				return a.Name == b.Name && a.Description == b.Description && within(parsed(a.Schema), parsed(b.Schema))
			})
			return unless(same, "the gateway changed the tools: their names, descriptions, schemas or order", sent.Tools, got.Tools)
		}},
	{"tool-choice", "a request that demands a call of the second of two tools", ask.NamedTool,
		func(text string) ask.Request {
			return ask.Request{Turns: says(text), Tools: offered, Choice: offered[1].Name}
		},
		func(sent, got ask.Request) (string, any, any) {
			return unless(got.Choice == sent.Choice, "the gateway lost which tool must be called", sent.Choice, got.Choice)
		}},
	{"tool-results", "two calls of tools, and their results in another order", ask.Tools,
		func(text string) ask.Request {
			return ask.Request{Tools: offered, Turns: append(says(text),
				ask.Turn{Role: ask.Assistant, Kind: ask.Call, ID: "call_a1", Name: "look_up", Text: `{"city":"Rome"}`},
				ask.Turn{Role: ask.Assistant, Kind: ask.Call, ID: "call_b2", Name: "get_forecast", Text: `{"city":"Oslo \"ø\"","days":3}`},
				ask.Turn{Role: ask.User, Kind: ask.Result, ID: "call_b2", Text: "snow in Oslo"},
				ask.Turn{Role: ask.User, Kind: ask.Result, ID: "call_a1", Text: "Rome is in Italy"})}
		}, sameCalls},
	{"max-tokens", "a request with a limit of 77 tokens", "",
		func(text string) ask.Request { return ask.Request{Turns: says(text), MaxTokens: 77} },
		func(sent, got ask.Request) (string, any, any) {
			return unless(got.MaxTokens == sent.MaxTokens, fmt.Sprintf("the gateway changed the limit of %d tokens to %d (0: none)", sent.MaxTokens, got.MaxTokens), nil, nil)
		}},
	{"temperature", "a request with temperature 0.25", "",
		func(text string) ask.Request { return ask.Request{Turns: says(text), Temperature: 0.25} },
		func(sent, got ask.Request) (string, any, any) {
			return unless(got.Temperature == sent.Temperature, fmt.Sprintf("the gateway changed temperature %v to %v (0: perhaps none)", sent.Temperature, got.Temperature), nil, nil)
		}},
	{"stop", "a request with two stop sequences", ask.Stops,
		func(text string) ask.Request { return ask.Request{Turns: says(text), Stop: []string{"END", "###"}} },
		func(sent, got ask.Request) (string, any, any) {
			return unless(slices.Equal(got.Stop, sent.Stop), "the gateway changed the stop sequences", sent.Stop, got.Stop)
		}},
	{"stream", "a request for a stream", "",
		func(text string) ask.Request { return ask.Request{Turns: says(text)} },
		func(sent, got ask.Request) (string, any, any) {
			return unless(got.Stream, "the client asked for a stream, and the gateway did not ask the upstream for one", nil, nil)
		}},
	{"image", "a request with an image", ask.Images,
		func(text string) ask.Request {
			return ask.Request{Turns: append(says(text), ask.Turn{Role: ask.User, Kind: ask.Image, Name: "image/png", Text: picture})}
		},
		func(_, got ask.Request) (string, any, any) {
			has := slices.ContainsFunc(got.Turns, func(t ask.Turn) bool { return t.Kind == ask.Image && t.Text == picture })
			return unless(has, "the gateway left the image out, and did not tell the client", nil, got.Turns)
		}},
}

// says returns the turns of a user who says a text.
func says(text string) []ask.Turn { return []ask.Turn{{Role: ask.User, Kind: ask.Text, Text: text}} }

// unless returns what the gateway did, unless all is well.
func unless(well bool, says string, in, out any) (string, any, any) {
	if well {
		return "", nil, nil
	}
	return says, in, out
}

// joined returns the texts of turns with their roles. Neighbours of one role are one text.
func joined(turns []ask.Turn) (all []string) {
	for i, t := range turns {
		if i > 0 && t.Role == turns[i-1].Role {
			all[len(all)-1] += " " + strings.TrimSpace(t.Text)
			continue
		}
		all = append(all, t.Role+": "+strings.TrimSpace(t.Text))
	}
	return all
}

// sameCalls compares calls of tools, and to which call each result belongs.
func sameCalls(sent, got ask.Request) (string, any, any) {
	pick := func(turns []ask.Turn, kind ask.Kind) (all []ask.Turn) {
		for _, t := range turns {
			if t.Kind == kind {
				t.Role = ""
				all = append(all, t)
			}
		}
		return all
	}
	a, b := pick(sent.Turns, ask.Call), pick(got.Turns, ask.Call)
	if !slices.EqualFunc(a, b, func(a, b ask.Turn) bool { return a.Name == b.Name && canonical(a.Text) == canonical(b.Text) }) {
		return "the gateway changed calls of tools: their names, arguments or order", a, b
	}
	a, b = pick(sent.Turns, ask.Result), pick(got.Turns, ask.Result)
	for _, results := range [][]ask.Turn{a, b} {
		slices.SortStableFunc(results, func(x, y ask.Turn) int { return strings.Compare(x.ID, y.ID) })
	}
	same := slices.EqualFunc(a, b, func(a, b ask.Turn) bool { return a.ID == b.ID && strings.Contains(b.Text, a.Text) })
	return unless(same, "the gateway changed results of tools, or the calls that they belong to", a, b)
}

// parsed returns a JSON document as a value.
func parsed(text string) (v any) {
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil
	}
	return v
}

// within reports whether a JSON value has all that another value has. Gateways may add members to a schema, and Google's
// older form of schemas has types in upper case.
func within(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		o, is := got.(map[string]any)
		for name, v := range want {
			is = is && within(v, o[name])
		}
		return is
	case []any:
		all, is := got.([]any)
		return is && slices.EqualFunc(want, all, within)
	case string:
		s, is := got.(string)
		return is && strings.EqualFold(want, s)
	}
	return want == got
}

// run runs the case of a saying.
func (s saying) run(k *kit, c testCase) (r Result) {
	if ask.Lacks(k.o.API, s.needs) {
		return Result{Skipped: fmt.Sprintf("%s has no form for %s", k.o.API, s.needs)}
	}
	x := k.once(c.plan)
	a, in := x.last(), x.client()
	if s.name == "image" && a == nil && in.status >= http.StatusBadRequest && in.status < http.StatusInternalServerError {
		return Result{Facts: []string{fmt.Sprintf("the gateway refused the image with status %d", in.status)}}
	}
	if f := x.reached(); f != nil {
		return Result{Findings: f}
	}
	upstream := k.dialectOf(a).Name()
	if s.needs != ask.Images && ask.Lacks(upstream, s.needs) {
		return Result{Skipped: fmt.Sprintf("the API of the upstream, %s, has no form for %s", upstream, s.needs)}
	}
	sent, err := ask.Read(k.o.API, x.uri, x.body)
	if err != nil {
		panic(err) // the kit wrote it
	}
	got, err := ask.Read(upstream, a.uri, a.body)
	if err != nil {
		return Result{Findings: []Finding{x.say("request", "the request that the gateway sent is not of the API: %v", err)}}
	}
	if says, in, out := s.differs(sent, got); says != "" {
		f := Finding{Rule: "request", Says: says, In: quoted(in, x.body), Out: quoted(out, a.body)}
		r.Findings = []Finding{f}
	}
	return r
}

// quoted returns a value as JSON, or the end of a body if there is no value.
func quoted(v any, body []byte) string {
	if v == nil {
		return cut(string(body), -1)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// An errorTypes says where the error objects of an API have a type, and which type each status has.
type errorTypes struct {
	of    func(h http.Header, body any) string
	types map[int][]string
}

// errorTables has the APIs whose documentation names the type of each status. OpenAI's names statuses only
// (https://platform.openai.com/docs/guides/error-codes).
var errorTables = map[string]errorTypes{
	// https://platform.claude.com/docs/en/api/errors
	"anthropic-messages": {func(_ http.Header, body any) string { return member(body, "error", "type") }, map[int][]string{
		400: {"invalid_request_error"}, 401: {"authentication_error"}, 403: {"permission_error"}, 404: {"not_found_error"}, 413: {"request_too_large"},
		429: {"rate_limit_error"}, 500: {"api_error"}, 502: {"api_error"}, 503: {"api_error", "overloaded_error"}, 504: {"timeout_error", "api_error"}, 529: {"overloaded_error"},
	}},
	// https://cloud.google.com/apis/design/errors#handling_errors
	"gemini": {func(_ http.Header, body any) string { return member(body, "error", "status") }, map[int][]string{
		400: {"INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE"}, 401: {"UNAUTHENTICATED"}, 403: {"PERMISSION_DENIED"}, 404: {"NOT_FOUND"},
		429: {"RESOURCE_EXHAUSTED"}, 500: {"INTERNAL", "UNKNOWN", "DATA_LOSS"}, 503: {"UNAVAILABLE"}, 504: {"DEADLINE_EXCEEDED"},
	}},
	"bedrock-converse": bedrockErrors,
	"bedrock-invoke":   bedrockErrors,
}

// bedrockErrors are of https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors.
// The type is in a header field or in the body
// (https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html#operation-error-serialization).
var bedrockErrors = errorTypes{
	func(h http.Header, body any) string {
		kind, _, _ := strings.Cut(h.Get("X-Amzn-Errortype"), ":")
		return cmp.Or(kind, member(body, "__type"), member(body, "code"))
	}, map[int][]string{
		400: {"ValidationException"}, 403: {"AccessDeniedException", "UnrecognizedClientException", "InvalidSignatureException"}, 404: {"ResourceNotFoundException"}, 408: {"ModelTimeoutException"},
		424: {"ModelErrorException"}, 429: {"ThrottlingException", "ModelNotReadyException"}, 500: {"InternalServerException"}, 503: {"ServiceUnavailableException"},
	},
}

// member returns a string in a JSON value, or "".
func member(v any, names ...string) string {
	for _, name := range names {
		o, _ := v.(map[string]any)
		v = o[name]
	}
	s, _ := v.(string)
	return s
}

// judgeErrorType says whether the type of an error is the one that the client's API documents for its status. Programs of
// clients decide by it whether they try again.
func judgeErrorType(x *exchange) []Finding {
	if f := x.reached(); f != nil {
		return f
	}
	in := x.client()
	if in.failure() == "" {
		return []Finding{x.say("success", "the upstream refused the request, and the client got %s", in.outcome())}
	}
	table := errorTables[x.k.api.Name()]
	want := table.types[in.status]
	if want == nil {
		return nil
	}
	if got := table.of(in.header, parsed(string(in.body))); !slices.Contains(want, got) {
		return []Finding{x.say("error-type", "an error with status %d has type %q: the API documents %s", in.status, got, strings.Join(want, " or "))}
	}
	return nil
}
