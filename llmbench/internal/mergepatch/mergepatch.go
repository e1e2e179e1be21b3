// Package mergepatch changes the bodies of requests with JSON merge patches (RFC 7386).
package mergepatch

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// An object is a JSON object.
type object map[string]jsontext.Value

// Check returns an error if patch cannot be applied to a request: it is not a JSON object, an object has a
// duplicate name, or the patch sets something that the load decides. The error does not show values.
func Check(patch []byte) error {
	var members object
	if err := json.Unmarshal(patch, &members); err != nil || members == nil {
		return errors.New(`not a JSON object without duplicate names: want an object such as {"temperature":0.7}`)
	}
	for _, name := range []string{"stream", "n"} {
		if v, has := members[name]; has {
			if name == "n" && (v.Kind() == 'n' || string(v) == "1") {
				continue
			}
			return fmt.Errorf("member %q; it must stay as it is: the load decides whether answers are streamed, and one answer is read for each request", name)
		}
	}
	return nil
}

// Apply returns the JSON document body, changed by patch. Members of objects are replaced one by one, null
// removes a member, and anything else is replaced as a whole.
func Apply(body, patch []byte) ([]byte, error) {
	merged, err := merge(body, patch)
	if err != nil {
		return nil, fmt.Errorf("merge patch of the body: %w", err)
	}
	return merged, nil
}

// merge is the function MergePatch of RFC 7386, section 2. A target that does not exist is an empty value.
func merge(target, patch jsontext.Value) (jsontext.Value, error) {
	if patch.Kind() != '{' {
		return patch, nil
	}
	members, err := membersOf(target)
	if err != nil {
		return nil, err
	}
	changes, err := membersOf(patch)
	if err != nil {
		return nil, err
	}
	for name, change := range changes {
		if change.Kind() == 'n' {
			delete(members, name)
		} else if members[name], err = merge(members[name], change); err != nil {
			return nil, err
		}
	}
	return json.Marshal(members, json.Deterministic(true))
}

// membersOf returns the members of a JSON object. For any other value it returns no members.
func membersOf(v jsontext.Value) (object, error) {
	members := object{}
	if v.Kind() != '{' {
		return members, nil
	}
	return members, json.Unmarshal(v, &members)
}

// Hide returns a patch in one line, with each credential replaced by "[secret]", and the list of
// credentials. A string in the patch is a credential if isSecret returns true for it and the name of a
// member that contains it, directly or indirectly.
func Hide(patch []byte, isSecret func(name, text string) bool) (shown string, secrets []string) {
	var v any
	if json.Unmarshal(patch, &v) != nil {
		return "", nil
	}
	v = hide(v, nil, func(names []string, text string) bool {
		found := slices.ContainsFunc(names, func(name string) bool { return isSecret(name, text) })
		if found {
			secrets = append(secrets, text)
		}
		return found
	})
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return "", nil
	}
	return string(b), secrets
}

// hide returns v with its credentials replaced. The members with the given names contain v.
func hide(v any, names []string, isSecret func(names []string, text string) bool) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			v[name] = hide(x, append(names, name), isSecret)
		}
	case []any:
		for i, x := range v {
			v[i] = hide(x, names, isSecret)
		}
	case string:
		if isSecret(names, v) {
			return "[secret]"
		}
	}
	return v
}
