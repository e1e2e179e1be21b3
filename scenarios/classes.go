package scenarios

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A class is an element of [Options].Classes.
type class struct {
	name    string
	users   int     // of a closed loop; or 0
	rate    float64 // of an open loop; or 0
	dataset string  // with the lengths as parameters
	body    json.RawMessage
	header  http.Header
	slo     sample.SLO
}

// classKeys describes the keys of a class.
const classKeys = "users=NUMBER or rate=NUMBER, and at most input=TOKENS, output=TOKENS, dataset=DATASET, body=JSON, header=NAME: VALUE, ttft=TIME, tpot=TIME and e2e=TIME"

// classAll is the name of the row of all classes, which no class may have.
const classAll = "all"

// parseClasses reads classes in the form of LLMBENCH_CLASSES. Its errors do not show values of headers or bodies.
func parseClasses(text string) (all []class, err error) {
	elements, err := splitOutside(text, ';')
	if err != nil {
		return nil, err
	}
	for _, element := range elements {
		if element == "" && len(all) > 0 { // after the last semicolon
			continue
		}
		name, list, found := strings.Cut(element, ":")
		c := class{name: strings.TrimSpace(name), header: http.Header{}}
		same := func(o class) bool { return llmbench.NameValue(o.name) == llmbench.NameValue(c.name) }
		switch {
		case !found || c.name == "" || strings.ContainsAny(c.name, "=,"):
			return nil, fmt.Errorf("class %s: want NAME:KEY=VALUE,KEY=VALUE with %s", shownPart(element, len(all) > 0 && all[len(all)-1].mayHide()), classKeys)
		case llmbench.NameValue(c.name) == classAll || slices.ContainsFunc(all, same):
			return nil, fmt.Errorf("class %s: want another name than %s, and names that differ in letters, digits, dots, hyphens and underscores", c.name, classAll)
		}
		if unit := otherUnit(llmbench.NameValue(c.name)); unit != "" {
			return nil, fmt.Errorf("class %s: want another name: %s is a unit of all requests", c.name, unit)
		}
		if err := c.parse(list); err != nil {
			return nil, fmt.Errorf("class %s: %w", c.name, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// otherUnit returns a unit of the catalogue that has the name of a unit of a class, or "" if there is none.
func otherUnit(class string) string {
	for _, u := range llmbench.Units() {
		if rest, is := strings.CutPrefix(u.Name, class+"-"); is {
			if _, is = sample.Find(sample.Units, rest); is {
				return u.Name
			}
		}
	}
	return ""
}

// mayHide reports whether the class has a header or a body, of which an element after it may be a part that has a comma or a
// semicolon outside of quotation marks.
func (c *class) mayHide() bool { return len(c.header)+len(c.body) > 0 }

// shownPart returns the beginning of an element for an error, unless it may be secret.
func shownPart(element string, hidden bool) string {
	if hidden {
		return "[not shown]"
	}
	return fmt.Sprintf("%.40q", element)
}

// parse reads the keys of a class.
func (c *class) parse(list string) error {
	parts, err := splitOutside(list, ',')
	if err != nil {
		return err
	}
	values := map[string]string{}
	for _, part := range parts {
		key, value, found := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch _, again := values[key]; {
		case !found || !slices.Contains([]string{"users", "rate", "input", "output", "dataset", "body", "header", "ttft", "tpot", "e2e"}, key):
			return fmt.Errorf("key %s: want %s", shownPart(key, c.mayHide() || values["body"] != ""), classKeys)
		case key == "header":
			h, err := env.ParseHeader(value)
			if err != nil {
				return errors.New("header: want NAME: VALUE, with no comma or semicolon outside of quotation marks")
			}
			for name, v := range h {
				c.header[name] = append(c.header[name], v...)
			}
		case again:
			return fmt.Errorf("key %s comes twice: want it once", key)
		case value == "":
			return fmt.Errorf("%s=: want a value", key)
		}
		values[key] = value
	}
	return c.set(values)
}

// set sets the fields of a class from the values of its keys.
func (c *class) set(values map[string]string) (err error) {
	if v := values["users"]; v != "" {
		if c.users, err = env.AtLeast(1)(v); err != nil {
			return fmt.Errorf("users=%s: want a whole number, at least 1", v)
		}
	}
	if v := values["rate"]; v != "" {
		if c.rate, err = env.Positive(v); err != nil || !isRate(c.rate) {
			return fmt.Errorf("rate=%s: want a number of requests per second, above 0 and at most %.0f", v, mostRate)
		}
	}
	if (c.users > 0) == (c.rate > 0) {
		return errors.New("want users=NUMBER or rate=NUMBER")
	}
	if c.dataset, _, err = benchdata.Separate(cmp.Or(values["dataset"], "random")); err != nil { // its parameters are after a question mark then
		return err
	}
	for _, name := range drawable {
		if v := values[name]; v != "" {
			c.dataset = withParameter(c.dataset, name, v)
		}
	}
	if err := c.checkDataset(); err != nil {
		return err
	}
	if v := values["body"]; v != "" {
		c.body = json.RawMessage(v)
	}
	if err := (llmbench.Target{URL: "http://any", Header: c.header, Body: c.body}).Check(); err != nil { // their secrets are known then
		return errors.New(strings.TrimPrefix(err.Error(), "target: "))
	}
	var limits []string
	for _, name := range []string{"ttft", "tpot", "e2e"} {
		if values[name] != "" {
			limits = append(limits, name+"="+values[name])
		}
	}
	if len(limits) > 0 {
		if c.slo, err = sample.ParseSLO(strings.Join(limits, ",")); err != nil {
			return fmt.Errorf("%s: want limits like ttft=500ms,tpot=50ms,e2e=10s", strings.Join(limits, ","))
		}
	}
	return nil
}

// checkDataset returns an error unless the class's data set can be used, and has no arrivals of its own.
func (c *class) checkDataset() error {
	o, err := c.options(Options{Seed: 1})
	if err != nil {
		return err
	}
	w, err := benchdata.Open(o.Dataset, benchdata.Options{Input: o.Input, Output: o.Output})
	if _, isTrace := w.(benchdata.Trace); isTrace && err == nil {
		return fmt.Errorf("dataset %q is a trace, which has arrivals of its own: want another data set", c.dataset)
	}
	return err
}

// options returns the options of a scenario that sends the class alone.
func (c *class) options(o Options) (Options, error) {
	hash := fnv.New64a()
	hash.Write([]byte(c.name))
	o.Seed += hash.Sum64() // other words than another class has
	o.Dataset, o.Input, o.Output, o.Requests, o.Limits = c.dataset, 0, 0, 0, c.slo
	o, err := o.separated()
	return o.withServeDefaults(), err
}

// load returns the part of the benchmark's name that has the load.
func (c *class) load() string {
	if c.users > 0 {
		return fmt.Sprintf("concurrency=%d", c.users)
	}
	return fmt.Sprintf("rate=%g", c.rate)
}

// arrivals returns the arrivals of an open loop, and how many of its requests are due within a time.
func (c *class) arrivals(seed uint64, within time.Duration) (arrivals.Process, int) {
	return arrivals.Poisson{Rate: c.rate, Seed: seed}, dueWithin(c.rate, within)
}

// splitOutside splits a text at each separator that is outside of brackets and of quotation marks, and trims the elements.
func splitOutside(text string, at rune) (elements []string, err error) {
	var open []rune // the brackets that close the open ones
	quoted, escaped := false, false
	begin := 0
	for i, c := range text {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case strings.ContainsRune("([{", c):
			open = append(open, map[rune]rune{'(': ')', '[': ']', '{': '}'}[c])
		case strings.ContainsRune(")]}", c):
			if len(open) == 0 || open[len(open)-1] != c {
				return nil, fmt.Errorf("%s has no partner: want pairs of brackets", strconv.QuoteRune(c))
			}
			open = open[:len(open)-1]
		case c == at && len(open) == 0:
			elements = append(elements, strings.TrimSpace(text[begin:i]))
			begin = i + 1
		}
	}
	if len(open) > 0 || quoted {
		return nil, errors.New("a bracket or a quotation mark has no partner: want pairs")
	}
	return append(elements, strings.TrimSpace(text[begin:])), nil
}
