package send

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// needed are members that a request cannot leave out.
var needed = []string{"model", "messages", "prompt", "input", "inputs", "stream", "query", "documents", "texts", "contents", "text"}

// refusals are parts of what servers say about a member that they do not know.
var refusals = []string{"unknown", "unrecogni", "unexpected", "unsupported", "not supported", "not support ", "not permitted", "not allowed", "extra ", "extra_", "invalid parameter", "invalid argument", "invalid field"}

// containers are members whose own members are settings. A request cannot leave a container out.
var containers = []string{"parameters", "options", "sampling_params", "generationConfig", "inferenceConfig"}

// hint returns a hint for the user if text, the body of an error response, says that the server does not know
// members of the request, or does not accept their values. Otherwise it returns "".
func hint(resp *http.Response, text string) string {
	if resp.StatusCode != http.StatusBadRequest && resp.StatusCode != http.StatusUnprocessableEntity || resp.Request == nil || resp.Request.GetBody == nil {
		return ""
	}
	body, err := resp.Request.GetBody()
	if err != nil {
		return ""
	}
	var members map[string]json.RawMessage
	if json.NewDecoder(body).Decode(&members) != nil {
		return ""
	}
	why, named := "accept", func(name string) bool { // the limit of output tokens is not left out because it is too large
		return !strings.HasPrefix(strings.ToLower(name), "max") && (resp.StatusCode == http.StatusUnprocessableEntity && quotes(text, name) || isParam(text, name))
	}
	if lower := strings.ToLower(text); slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(lower, r) }) {
		why, named = "know", func(name string) bool { return hasWord(text, name) }
	}
	refused := without(members, named)
	if len(refused) == 0 {
		return ""
	}
	patch, err := json.Marshal(refused)
	if err != nil {
		return ""
	}
	return "; LLMBENCH_BODY='" + string(patch) + "' leaves out what the server does not " + why + " (Target.Body)"
}

// without returns a merge patch that removes the members that are named.
func without(members map[string]json.RawMessage, named func(string) bool) map[string]any {
	patch := map[string]any{}
	for name, value := range members {
		var own map[string]json.RawMessage
		switch isContainer := slices.Contains(containers, name); {
		case isContainer && json.Unmarshal(value, &own) == nil:
			if inside := without(own, named); len(inside) > 0 {
				patch[name] = inside
			}
		case !isContainer && !slices.Contains(needed, name) && named(name):
			patch[name] = nil
		}
	}
	return patch
}

// quotes reports whether text has name in quotation marks, as errors of pydantic and others name a member.
func quotes(text, name string) bool {
	return regexp.MustCompile("[\"'`]" + regexp.QuoteMeta(name) + "\\\\?[\"'`]").MatchString(text)
}

// isParam reports whether text is an error in OpenAI's format about the member name
// (https://platform.openai.com/docs/api-reference/responses-streaming/error).
func isParam(text, name string) bool {
	var e struct{ Error struct{ Param string } }
	return json.Unmarshal([]byte(text), &e) == nil && e.Error.Param == name
}

// hasWord reports whether text has word, and no letter, digit or underscore next to it.
func hasWord(text, word string) bool {
	return regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(word) + `(\W|$)`).MatchString(text)
}
