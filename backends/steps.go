package backends

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"
)

// A step is something to ask of a server: a command in its container, or an
// HTTP request. Anything but success is an error.
type step struct {
	does   string   // what for, in messages
	exec   []string // a command, or
	method string   // a request of this method
	path   string
	body   string // JSON
	shows  string // in messages instead of the body, if that holds a secret
	// count, if set, is where the server says how often to do it, with %d of
	// the path counting from 0.
	count place
}

// A place is a field of a JSON document that the server serves.
type place struct {
	path  string
	field string // names of nested fields, joined by dots; 0 is a list's first element
}

// String says what the step does.
func (s step) String() string {
	if s.exec != nil {
		return s.does + ": docker exec " + shellquote.Join(s.exec...)
	}
	return strings.TrimSpace(s.does + ": " + s.method + " " + s.path + " " + cmp.Or(s.shows, s.body))
}

// take does steps one after another.
func (r *running) take(ctx context.Context, steps []step) error {
	for _, st := range steps {
		n := 1
		if st.count.path != "" {
			v, err := r.look(ctx, st.count)
			if err == nil {
				n, err = strconv.Atoi(v)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", st.does, err)
			}
		}
		for i := range n {
			one := st
			if st.count.path != "" {
				one.path = fmt.Sprintf(st.path, i)
			}
			if _, err := r.ask(ctx, one); err != nil {
				return fmt.Errorf("%s: %w", st.does, err)
			}
		}
	}
	return nil
}

// look returns a field of a JSON document as text.
func (r *running) look(ctx context.Context, p place) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	body, err := r.ask(ctx, step{method: http.MethodGet, path: p.path})
	if err != nil {
		return "", err
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return "", fmt.Errorf("%s is no JSON: %w", p.path, err)
	}
	for name := range strings.SplitSeq(p.field, ".") {
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
	return "", fmt.Errorf("%s has no field %s", p.path, p.field)
}

// mostAnswer is as much of an answer as is read, in bytes.
const mostAnswer = 16 << 20

// ask does a step once and returns what was answered to it.
func (r *running) ask(ctx context.Context, st step) ([]byte, error) {
	if st.exec != nil {
		out, err := r.box.Exec(ctx, st.exec)
		return []byte(out), err
	}
	return fetch(ctx, st.method, r.target.URL+st.path, st.body, r.target.Header)
}

// direct is for requests beside the measured ones: without a proxy, and on
// connections of their own.
var direct = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// fetch sends a request and returns the answer to it, an error unless its status
// is 2xx.
func fetch(ctx context.Context, method, url, body string, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := direct.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	if err == nil && (res.StatusCode < 200 || res.StatusCode > 299) {
		err = fmt.Errorf("%s %s: %w: %.300s", method, req.URL.Path, statusError{res.StatusCode}, b)
	}
	return b, err
}

// A statusError is an HTTP status that is no success.
type statusError struct{ code int }

func (e statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("status %d %s", e.code, http.StatusText(e.code)))
}
