package send

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// needed are members that a request cannot leave out.
var needed = []string{"model", "messages", "prompt", "input", "inputs", "stream", "query", "documents", "texts", "contents", "text"}

// refusals are parts of what servers say about a member that they do not know.
var refusals = []string{"unknown", "unrecogni", "unexpected", "unsupported", "not supported", "not support ", "not permitted", "not allowed", "extra ", "extra_", "invalid parameter", "invalid argument", "invalid field"}

// hint returns a hint for the user if text, the body of an error response, says that the server does not know
// members of the request. Otherwise it returns "".
func hint(resp *http.Response, text string) string {
	if resp.StatusCode != http.StatusBadRequest && resp.StatusCode != http.StatusUnprocessableEntity || resp.Request == nil || resp.Request.GetBody == nil {
		return ""
	}
	lower := strings.ToLower(text)
	if !slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(lower, r) }) {
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
	var refused []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(needed, name) && hasWord(text, name) {
			refused = append(refused, `"`+name+`":null`)
		}
	}
	if refused == nil {
		return ""
	}
	return "; LLMBENCH_BODY='{" + strings.Join(refused, ",") + "}' leaves out what the server does not know (Target.Body)"
}

// hasWord reports whether text has word, and no letter, digit or underscore next to it.
func hasWord(text, word string) bool {
	return regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(word) + `(\W|$)`).MatchString(text)
}
