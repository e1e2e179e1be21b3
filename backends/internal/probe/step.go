package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A Server is a server that can be probed.
type Server struct {
	Target llmbench.Target
	// Exec runs a command in the server's container and returns the output. It may
	// be nil if no step has a command.
	Exec func(ctx context.Context, command []string) (output string, err error)
}

// A Step is one action on a server: a command in its container, or an HTTP
// request.
type Step struct {
	Purpose string   // for messages, such as "load the model"
	Exec    []string // a command; nil means that the step is a request
	Method  string   // method of the request
	Path    string
	Body    string // JSON, or ""
	Shown   string // shown in messages instead of a body that contains a secret; "" shows the body
	// Success, if not "", is a boolean field of the answer that tells whether the step has succeeded; the
	// status is 200 in any case. The request is repeated until the field is true, for at most
	// successTimeout.
	Success string
	// Needs says what the server needs to support the step, if not every server does. It is part of the error of a
	// server that does not.
	Needs string
	// Count, if its Path is not "", is a field in which the server reports how many times the request has
	// to be sent. Path then contains %d, which is replaced with 0, 1, 2 and so on.
	Count Field
}

// A Field is a field of a JSON document that a server provides.
type Field struct {
	Path string // path of the document
	Name string // names of nested fields, joined by dots; 0 is the first element of a list
}

// String describes the step, for a person who wants to repeat it by hand.
func (s Step) String() string {
	if s.Exec != nil {
		return s.Purpose + ": docker exec " + shellquote.Join(s.Exec...)
	}
	return strings.TrimSpace(s.Purpose + ": " + s.Method + " " + s.Path + " " + cmp.Or(s.Shown, s.Body))
}

// Take performs the steps in order, and stops at the first error.
func (s Server) Take(ctx context.Context, steps []Step) error {
	for _, step := range steps {
		err := s.take(ctx, step)
		switch {
		case err != nil && step.Needs != "" && errors.Is(err, errors.ErrUnsupported):
			return fmt.Errorf("%s: %w; %s", step.Purpose, err, step.Needs)
		case err != nil:
			return fmt.Errorf("%s: %w", step.Purpose, err)
		}
	}
	return nil
}

// take performs one step, as often as its Count says.
func (s Server) take(ctx context.Context, step Step) error {
	if step.Exec != nil {
		_, err := s.Exec(ctx, step.Exec)
		return err
	}
	if step.Success != "" {
		return s.untilSuccess(ctx, step)
	}
	if step.Count.Path == "" {
		_, err := Fetch(ctx, s.Target, step.Method, step.Path, step.Body)
		return err
	}
	text, err := s.Field(ctx, step.Count)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	for i := range n {
		if _, err := Fetch(ctx, s.Target, step.Method, fmt.Sprintf(step.Path, i), step.Body); err != nil {
			return err
		}
	}
	return nil
}

// successTimeout limits how long a step is repeated that the server refuses. A server may refuse to empty
// its cache until it has noticed that the clients of its last requests have gone.
const successTimeout = 30 * time.Second

// untilSuccess repeats a step until the answer says that the step has succeeded. An empty answer counts as
// success, because some versions of the server send no body.
func (s Server) untilSuccess(ctx context.Context, step Step) error {
	ctx, cancel := context.WithTimeout(ctx, successTimeout)
	defer cancel()
	return Poll(ctx, func() (again bool, err error) {
		body, err := Fetch(ctx, s.Target, step.Method, step.Path, step.Body)
		if err != nil || len(bytes.TrimSpace(body)) == 0 {
			return false, err
		}
		var answer map[string]json.RawMessage
		if err := json.Unmarshal(body, &answer); err != nil {
			return false, fmt.Errorf("%s %s: the answer is not a JSON object: %s", step.Method, step.Path, s.Target.Excerpt(string(body), 300))
		}
		if string(answer[step.Success]) == "true" {
			return false, nil
		}
		return true, fmt.Errorf("%s %s: the server refuses it: %s", step.Method, step.Path, s.Target.Excerpt(string(body), 300))
	})
}

// Get returns the body of the answer to GET path.
func (s Server) Get(ctx context.Context, path string) ([]byte, error) {
	return Fetch(ctx, s.Target, http.MethodGet, path, "")
}

// Field reads a string or a number from a JSON document of the server, and returns it as text. It takes at
// most [Timeout].
func (s Server) Field(ctx context.Context, f Field) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	body, err := s.Get(ctx, f.Path)
	if err != nil {
		return "", err
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return "", fmt.Errorf("%s is not JSON: %w", f.Path, err)
	}
	for name := range strings.SplitSeq(f.Name, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			if v = nil; name == "0" && len(x) > 0 {
				v = x[0]
			}
		default:
			v = nil
		}
	}
	switch x := v.(type) {
	case string:
		return x, nil
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64), nil
	}
	return "", fmt.Errorf("%s has no field %s", f.Path, f.Name)
}
