package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ParseNames reads the names of a server's metrics from a JSON object, as in
//
//	{"path": "/metrics", "requests": "my_requests_total", "ttft": ["my_ttft_seconds", "my_old_ttft"]}
//
// A key is the name of a field of [Names] in lower case, with hyphens between its words, and its value one name or
// the [Alternatives]. There is no key for OpenRequests. The path is /metrics unless the object has one. The error
// says which key or value is wrong and what is allowed.
func ParseNames(text []byte) (Names, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return Names{}, fmt.Errorf("not a JSON object: %w", err)
	}
	n := Names{Path: "/metrics"}
	named := false
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch value := object[key]; key {
		case "path":
			if err := json.Unmarshal(value, &n.Path); err != nil || !strings.HasPrefix(n.Path, "/") {
				return Names{}, fmt.Errorf("path: %s: want a path like \"/metrics\"", value)
			}
		case "digits":
			if err := json.Unmarshal(value, &n.Digits); err != nil || n.Digits < 0 {
				return Names{}, fmt.Errorf("digits: %s: want the number of significant digits that the server prints, or 0 for all", value)
			}
		default:
			names, err := parseAlternatives(value)
			if err != nil {
				return Names{}, fmt.Errorf("%s: %w", key, err)
			}
			field := n.field(key)
			if field == nil {
				return Names{}, fmt.Errorf("%q: want path, digits, %s", key, strings.Join(keys(), ", "))
			}
			*field, named = names, true
		}
	}
	if !named {
		return Names{}, fmt.Errorf("no name of a metric: want at least one of %s", strings.Join(keys(), ", "))
	}
	return n, nil
}

// parseAlternatives reads one name or a list of names.
func parseAlternatives(value []byte) (Alternatives, error) {
	names := Alternatives{""}
	if json.Unmarshal(value, &names[0]) != nil {
		if err := json.Unmarshal(value, &names); err != nil || len(names) == 0 {
			return nil, errors.New("want the name of a metric, or a list of names")
		}
	}
	for _, name := range names {
		if _, err := parseSelector(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// A keyed is a field of [Names] with its key for [ParseNames].
type keyed struct {
	key   string
	names *Alternatives
}

func (n *Names) keyed() []keyed {
	return []keyed{
		{"requests", &n.Requests}, {"prompt-tokens", &n.PromptTokens}, {"output-tokens", &n.OutputTokens},
		{"cache-hits", &n.CacheHits}, {"cache-queries", &n.CacheQueries}, {"cache-misses", &n.CacheMisses}, {"cache-hit-rate", &n.CacheHitRate},
		{"preemptions", &n.Preemptions}, {"kv-usage", &n.KVUsage}, {"queue-time", &n.QueueTime}, {"waiting", &n.Waiting},
		{"ttft", &n.TTFT}, {"itl", &n.ITL}, {"e2e", &n.E2E}, {"prefill-time", &n.PrefillTime}, {"prefill-tokens", &n.PrefillTokens},
		{"computed-tokens", &n.ComputedTokens}, {"reused-tokens", &n.ReusedTokens}, {"transferred-tokens", &n.TransferredTokens},
		{"drafts", &n.Drafts}, {"draft-tokens", &n.DraftTokens}, {"accepted", &n.Accepted}, {"accept-length", &n.AcceptLength},
	}
}

// Rename replaces every name with what rename returns for it.
func (n *Names) Rename(rename func(name string) string) {
	for _, f := range n.keyed() {
		renamed := slices.Clone(*f.names)
		for i, name := range renamed {
			renamed[i] = rename(name)
		}
		*f.names = renamed
	}
}

// field returns the field with a key, or nil.
func (n *Names) field(key string) *Alternatives {
	for _, f := range n.keyed() {
		if f.key == key {
			return f.names
		}
	}
	return nil
}

// keys returns the keys of all names.
func keys() (all []string) {
	for _, f := range new(Names).keyed() {
		all = append(all, f.key)
	}
	return all
}
