// Package about asks a running server what it is: which program and version, which model, and the settings that its speed
// depends on. It asks only what the servers document, and nothing that a server did not say is guessed.
package about

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// limit limits one question. After a question without an answer, no other is asked.
const limit = 5 * time.Second

// mostValue is the maximum length of a value in a configuration line, in bytes.
const mostValue = 200

// Facts are what a server said about itself.
type Facts struct {
	// Lines are configuration lines: server, server-version, model-root, context, slots, block-size and others. A line that
	// the server said nothing about is missing.
	Lines map[string]string
	// Refuses is the number of tokens, prompt and output together, above which the server refuses a request; 0 means unknown.
	// It is 0 for a server that ends or cuts longer requests, and if the target's Body may change their lengths.
	Refuses int
	// Silent says why questions were left out, or is "".
	Silent string
}

// Ask asks the server at t, whose model must be loaded. The source is where its metrics are; without Addresses they are not
// asked. Ask has no error: a server that answers nothing has no facts. No question takes longer than limit, and after the first
// one without an answer no other is asked.
func Ask(ctx context.Context, t llmbench.Target, source metrics.Source) Facts {
	a := &asker{ctx: ctx, target: t, source: source, facts: Facts{Lines: map[string]string{}}}
	a.ask()
	return a.facts
}

// AddTo adds the lines to a target's configuration, except those that it has already and those that are left out.
func (f Facts) AddTo(config map[string]string, leftOut ...string) {
	for name, value := range f.Lines {
		if _, has := config[name]; !has && !slices.Contains(leftOut, name) {
			config[name] = value
		}
	}
}

// An asker asks one server.
type asker struct {
	ctx    context.Context
	target llmbench.Target
	source metrics.Source
	facts  Facts
	header http.Header // of the answer with the list of models
	model  probe.Model // the model of requests in the server's list, if it is there
	// refuses says that the server refuses requests whose prompt and output are longer than its context.
	refuses bool
}

// ask asks what every server may know, and then what the engine that it belongs to knows.
func (a *asker) ask() {
	list, listed := a.models()
	a.adapters(list)
	a.router()
	e, known := a.engine(listed)
	a.set("server", e.name)
	if e.ask != nil {
		e.ask(a)
	}
	if n, err := strconv.Atoi(a.facts.Lines["context"]); err == nil && a.refuses && !changesLength(a.target.Body) {
		a.facts.Refuses = n
	}
	if a.facts.Lines["server-version"] == "" && (known && e.fingerprints || !listed) {
		a.readFingerprint()
	}
}

// changesLength reports whether a patch of requests may change which of them are too long: their model, the limit of their
// output, or what is cut off their prompts.
func changesLength(body json.RawMessage) bool {
	var members map[string]json.RawMessage
	if len(body) == 0 || json.Unmarshal(body, &members) != nil {
		return false
	}
	for name := range members {
		if name == "model" || name == "parameters" || strings.HasPrefix(name, "max_") || strings.HasPrefix(name, "truncat") {
			return true
		}
	}
	return false
}

// models reads the list of models, and takes from it what it says about the model of requests.
func (a *asker) models() (list []probe.Model, listed bool) {
	if !a.question("GET /v1/models", func(ctx context.Context) (err error) {
		list, a.header, err = probe.Server{Target: a.target}.List(ctx, "/v1/models")
		return err
	}) {
		return nil, false
	}
	named := func(id string) (m probe.Model) {
		if i := slices.IndexFunc(list, func(m probe.Model) bool { return m.ID == id }); i >= 0 {
			m = list[i]
		}
		return m
	}
	a.model = named(a.target.Model)
	if a.model.ID == "" && len(list) > 0 { // an engine that takes any name
		a.model.OwnedBy = list[0].OwnedBy
	}
	if n := cmp.Or(a.model.MaxModelLen, named(a.model.Parent).MaxModelLen); n > 0 { // vLLM states it of the model and not of its adapters
		a.set("context", strconv.Itoa(n))
	}
	if a.model.Root != a.model.ID {
		a.set("model-root", a.model.Root)
	}
	return list, true
}

// metrics reads the metrics, for settings among them. They are empty if there are none.
func (a *asker) metrics() (info metrics.Info) {
	if len(a.source.Addresses) > 0 && a.source.Names.Path != "" {
		a.question("metrics", func(ctx context.Context) (err error) {
			info, err = a.source.Info(ctx)
			return err
		})
	}
	return info
}

// adapters sets the line lora to the names of the adapters in a list of models.
func (a *asker) adapters(list []probe.Model) {
	var names []string
	for _, m := range list {
		if m.Parent != "" && m.Parent != m.ID {
			names = append(names, m.ID)
		}
	}
	a.set("lora", sorted(names))
}

// question asks one question, and reports whether it was answered. If no answer comes in time, no other question is asked.
func (a *asker) question(what string, ask func(ctx context.Context) error) bool {
	if a.facts.Silent != "" || a.ctx.Err() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(a.ctx, limit)
	defer cancel()
	err := ask(ctx)
	if err != nil && ctx.Err() != nil && a.ctx.Err() == nil {
		a.facts.Silent = fmt.Sprintf("%s: no answer in %v", what, limit)
	}
	return err == nil
}

// document reads the JSON document at a path. It is nil if there is none.
func (a *asker) document(path string) (d document) {
	a.question("GET "+path, func(ctx context.Context) error {
		body, err := probe.Fetch(ctx, a.target, http.MethodGet, path, "")
		if err != nil {
			return err
		}
		return json.Unmarshal(body, &d.value)
	})
	return d
}

// first returns the first of the documents that exists.
func (a *asker) first(paths ...string) (d document, path string) {
	for _, path := range paths {
		if d := a.document(path); d.value != nil {
			return d, path
		}
	}
	return document{}, ""
}

// set sets a line, unless the value is "" or the line is set. Secrets of this
// process that a server repeats are hidden.
func (a *asker) set(line, value string) {
	if value = strings.Join(strings.Fields(value), " "); value != "" && a.facts.Lines[line] == "" {
		a.facts.Lines[line] = a.target.Excerpt(plain(value), mostValue)
	}
}

// plain returns value without the user, the password and the query, if it is a URL, such as the address of a model's files.
func plain(value string) string {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		return value
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// A document is a JSON document of a server.
type document struct{ value any }

// at returns the value of nested members, whose names are joined by dots. 0 is the first element of a list. It returns nil if
// there is none.
func (d document) at(path string) any {
	v := d.value
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			if v = nil; name == "0" && len(x) > 0 {
				v = x[0]
			}
		default:
			return nil
		}
	}
	return v
}

// text returns a text or a positive number at a path, or "".
func (d document) text(path string) string {
	switch x := d.at(path).(type) {
	case string:
		return x
	case float64:
		if x > 0 {
			return strconv.FormatFloat(x, 'f', -1, 64)
		}
	}
	return ""
}

// onOff returns "on" or "off" for a boolean at a path, or "".
func (d document) onOff(path string) string {
	switch d.at(path) {
	case true:
		return "on"
	case false:
		return "off"
	}
	return ""
}

// opposite returns the opposite of a value of onOff.
func opposite(onOff string) string {
	return map[string]string{"on": "off", "off": "on"}[onOff]
}
