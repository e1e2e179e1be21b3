// Package ask writes and reads requests for text in the APIs of inference servers, so that a request can be compared with
// its translation into another API. It shares no code with package dialect, which writes simpler requests.
//
// It knows the members that all of these APIs have in some form: messages, the system's text, images, tools, their calls and
// results, the limit of tokens, temperature, stop sequences, and whether the answer is a stream. It ignores all others.
package ask

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Request is what a request says, whatever its API.
type Request struct {
	Model       string // only written: gateways may map it
	System      string
	Turns       []Turn
	Tools       []Tool
	Choice      string // AnyTool, the name of the tool that must be called, or "" if the model may choose
	MaxTokens   int    // 0 means none
	Temperature float64
	Stop        []string
	Stream      bool
}

// AnyTool is the Choice that demands a call of any tool.
const AnyTool = "*"

// A Turn is one piece of a conversation: a text, an image, a call of a tool, or its result.
type Turn struct {
	Role string // User or Assistant
	Kind Kind
	Text string // the text, the image in base64, the arguments of the call as JSON, or the result
	Name string // of the tool of a call, or the media type of an image
	// ID joins a call and its result. Read replaces it by the position of the call among all calls, from 0, because a
	// gateway may give calls other IDs. A result that belongs to no call has "?" in place of a position.
	ID string
}

// The roles.
const (
	User      = "user"
	Assistant = "assistant"
)

// A Kind says what a turn is.
type Kind string

// The kinds.
const (
	Text   Kind = "text"
	Image  Kind = "image"
	Call   Kind = "call"
	Result Kind = "result"
)

// A Tool is a function that the model can call.
type Tool struct {
	Name, Description string
	Schema            string // JSON schema of the arguments
}

// A Feature is something that not every API has.
type Feature string

// The features.
const (
	Chat      Feature = "messages"
	Images    Feature = "images"
	Tools     Feature = "tools"
	Choices   Feature = "a choice of tools"
	NamedTool Feature = "a choice of one tool"
	Stops     Feature = "stop sequences"
)

// An api is how an API writes and reads requests, and what it lacks.
type api struct {
	write func(Request) object
	read  func(any) Request
	lacks []Feature
}

// apis are all APIs, by the names that package dialect has for them.
var apis = map[string]api{
	"openai-chat":        {writeChat, readChat, nil},
	"openai-completions": {writeCompletion, readCompletion, []Feature{Chat, Images, Tools, Choices, NamedTool}},
	"openai-responses":   {writeResponses, readResponses, []Feature{Stops}},
	"anthropic-messages": {writeAnthropic, readAnthropic, nil},
	"bedrock-invoke":     {writeInvoke, readAnthropic, nil},
	"bedrock-converse":   {writeConverse, readConverse, nil},
	"gemini":             {writeGemini, readGemini, nil},
	"cohere":             {writeCohere, readCohere, []Feature{NamedTool}},
	"ollama":             {writeOllama, readOllama, []Feature{Choices, NamedTool}},
}

// Lacks reports whether an API has no form for a feature.
func Lacks(name string, f Feature) bool { return slices.Contains(apis[name].lacks, f) }

// Write returns the body of a request. The API must be known, and have all features that the request uses.
func Write(name string, r Request) []byte {
	body, err := json.Marshal(apis[name].write(r))
	if err != nil {
		panic(err) // every value can be written
	}
	return body
}

// Read reads the body of a request to an API, and the path, which says whether the answer is a stream in the APIs of Google
// and Amazon. The error is about JSON: a member of another form than the API documents counts as missing.
func Read(name, path string, body []byte) (Request, error) {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return Request{}, fmt.Errorf("%s: %w", name, err)
	}
	r := apis[name].read(v)
	r.Stream = r.Stream || strings.Contains(path, "stream") && strings.ContainsAny(path, ":-")
	r.join()
	return r, nil
}

// Of returns the name of the API that a path, with or without a query, belongs to, or "" if it is of none.
func Of(path string) string {
	path, _, _ = strings.Cut(path, "?")
	for _, p := range []struct{ end, name string }{
		{"/chat/completions", "openai-chat"}, {"/completions", "openai-completions"}, {"/responses", "openai-responses"},
		{"/messages", "anthropic-messages"}, {":generateContent", "gemini"}, {":streamGenerateContent", "gemini"},
		{"/v2/chat", "cohere"}, {"/api/chat", "ollama"}, {"/converse", "bedrock-converse"}, {"/converse-stream", "bedrock-converse"},
		{"/invoke", "bedrock-invoke"}, {"/invoke-with-response-stream", "bedrock-invoke"},
	} {
		if strings.HasSuffix(path, p.end) {
			return p.name
		}
	}
	return ""
}

// join replaces the IDs of calls and results by positions. APIs without IDs join them by names, and else by their order.
func (r *Request) join() {
	var calls []Turn
	taken := map[int]bool{}
	for i, t := range r.Turns {
		switch t.Kind {
		case Call:
			r.Turns[i].ID = fmt.Sprint(len(calls))
			calls = append(calls, t)
		case Result:
			at := slices.IndexFunc(calls, func(c Turn) bool { return t.ID != "" && c.ID == t.ID })
			for j := 0; at < 0 && t.ID == "" && j < len(calls); j++ {
				if !taken[j] && (t.Name == "" || t.Name == calls[j].Name) {
					at = j
				}
			}
			r.Turns[i].ID, r.Turns[i].Name = "?", ""
			if at >= 0 {
				taken[at] = true
				r.Turns[i].ID = fmt.Sprint(at)
			}
		}
	}
}

// groups divides turns where the role changes, and where calls end and results begin.
func (r Request) groups() (all [][]Turn) {
	for i, t := range r.Turns {
		if i == 0 || t.Role != r.Turns[i-1].Role {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], t)
	}
	return all
}

// choice returns nil if the model may choose, the value some if it must call any tool, and otherwise the value one.
func (r Request) choice(some, one any) any {
	switch r.Choice {
	case "":
		return nil
	case AnyTool:
		return some
	}
	return one
}

// function returns a tool as an object whose member schema has the schema of the arguments.
func (t Tool) function(schema string) object {
	return object{"name": t.Name, "description": t.Description, schema: raw(t.Schema)}
}

// addTool adds the tool of such an object. The schema is the first of the members that is there.
func (r *Request) addTool(v any, schema ...string) {
	r.Tools = append(r.Tools, Tool{str(at(v, "name")), str(at(v, "description")), text(at(v, schema...))})
}

// An object is a JSON object.
type object = map[string]any

// set sets the members that have a value.
func set(o object, members object) object {
	for name, v := range members {
		switch v := v.(type) {
		case string:
			if v == "" {
				continue
			}
		case []string:
			if len(v) == 0 {
				continue
			}
		case []any:
			if len(v) == 0 {
				continue
			}
		case object:
			if len(v) == 0 {
				continue
			}
		case nil:
			continue
		}
		o[name] = v
	}
	return o
}

// raw is JSON that is written as it is.
func raw(text string) json.RawMessage { return json.RawMessage(text) }

// at returns the first of the members of an object that is there, or nil.
func at(v any, names ...string) any {
	o, _ := v.(object)
	for _, name := range names {
		if m, has := o[name]; has && m != nil {
			return m
		}
	}
	return nil
}

// in returns a member of a member, and so on, or nil.
func in(v any, names ...string) any {
	for _, name := range names {
		v = at(v, name)
	}
	return v
}

// list returns the elements of an array.
func list(v any) []any {
	all, _ := v.([]any)
	return all
}

// str returns a string, or "".
func str(v any) string {
	s, _ := v.(string)
	return s
}

// number returns a number, or 0.
func number(v any) float64 {
	n, _ := v.(float64)
	return n
}

// text returns JSON in its canonical form, or "" for nothing. Strings that have JSON, as the arguments of calls, are JSON.
func text(v any) string {
	if s, is := v.(string); is && json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	if v == nil {
		return ""
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// stops reads one stop sequence or several.
func stops(v any) (all []string) {
	if s := str(v); s != "" {
		return []string{s}
	}
	for _, s := range list(v) {
		all = append(all, str(s))
	}
	return all
}

// leaves joins all strings of a value: a result may be a string, an array of parts, or an object around them.
func leaves(v any) string {
	switch v := v.(type) {
	case string:
		var inner any
		if json.Unmarshal([]byte(v), &inner) == nil && inner != nil {
			if s := leaves(inner); s != "" {
				return s
			}
		}
		return v
	case []any:
		var all []string
		for _, e := range v {
			if s := leaves(e); s != "" {
				all = append(all, s)
			}
		}
		return strings.Join(all, " ")
	case object:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if s := leaves(v[name]); s != "" && name != "type" && name != "status" {
				all = append(all, s)
			}
		}
		return strings.Join(all, " ")
	}
	return ""
}

// dataURL writes an image as a URL (RFC 2397), and ofDataURL reads it.
func dataURL(t Turn) string { return "data:" + t.Name + ";base64," + t.Text }

func ofDataURL(role, url string) Turn {
	mediaType, data, _ := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	return Turn{Role: role, Kind: Image, Name: mediaType, Text: data}
}
