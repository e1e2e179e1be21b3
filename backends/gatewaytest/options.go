package gatewaytest

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// Options say what a gateway is and what it may do. The zero value is for a gateway that passes on the requests and
// answers of OpenAI's chat API to one upstream.
type Options struct {
	// API is the API of the gateway's clients and of its upstreams, a name of package dialect; empty means "openai-chat".
	API string
	// Model is the model that requests name; empty means "mock". The upstreams accept any name.
	Model string
	// Keys are the keys of tenants, which the gateway accepts. Each request has one of them in the field in which its
	// API has a key. Without Keys, requests have keys that the kit has made up. Findings do not show keys of eight bytes or
	// more, nor such an UpstreamKey.
	Keys []string
	// UpstreamKey is the key that the gateway sends to upstreams. It must not come back to clients. Empty means that it
	// is not known, and that this is not checked.
	UpstreamKey string
	// Header has further fields of each request.
	Header http.Header
	// Upstreams is the number of upstreams that the gateway can have: 1 or 2. 0 means 1. With 2, the loss of one of two is
	// checked, too. The gateway must then spread the requests of one tenant over both.
	Upstreams int
	// Rewrites says that the gateway reads answers and writes its own. Events and members may then differ, and only the
	// meaning of the whole answer is compared: text, reasoning, tool calls, finish reason and usage.
	Rewrites bool
	// Accounted returns the tokens that the gateway has accounted for a request, as its log, metrics or bill has them. It
	// is called after the end of each request of the class usage, until it returns what was sent or Wait is over. nil
	// means that only the usage in answers is checked.
	Accounted func(Request) (input, output int, err error)

	// Classes are the classes to check, such as "end", or cases of them, such as "end/reset". A name may be a pattern of
	// [path.Match]. Empty means all classes.
	Classes []string
	// Gaps declare what the gateway is known to do wrong: classes, cases such as "end/reset", and rules such as
	// "end/reset/clean-end", also as patterns of [path.Match]. A finding that a gap declares is not a failure. A gap that
	// no longer occurs is one.
	Gaps []string
	// Seed determines random draws, such as where writes are divided. 0 means 1.
	Seed uint64
	// Streams is the number of streams that run beside each case. A finding is then repeated with fewer streams, and shown
	// with the fewest that show it.
	Streams int

	// Wait is the time in which each request must end. 0 means 10 s. After three requests that do not end, it is at most 2 s, and
	// after eight no further case runs.
	Wait time.Duration
	// HoldWithin is the time in which text must come through the gateway while the upstream waits. 0 means 5 s. After three
	// streams that were held back, it is at most 250 ms.
	HoldWithin time.Duration
	// LeaveWithin is the time in which the upstream's request must end after its client has left. 0 means 5 s.
	LeaveWithin time.Duration
	// IdleWithin is the time after which the gateway ends a stream that stands still. 0 means that it does not end such
	// streams, and that this is not checked.
	IdleWithin time.Duration
	// Measure returns what the gateway occupies now, such as [MeasureSelf] for a gateway in this process, and the function of
	// [MeasureProcess] for another process. It is not called at the same time as itself. nil means that leaks are not
	// looked for, and that the class limits only checks what clients and upstreams see.
	Measure func() (Footprint, error)
	// GrowWithin is the memory, in bytes, by which the gateway may grow because of a request or an answer without end. The
	// kit sends twice as much of it. 0 means 48 MiB.
	GrowWithin int64

	// RecoverWithin is the time in which the gateway must use an upstream again that was dead. 0 means 15 s.
	RecoverWithin time.Duration
}

// A Request is one request, as [Options.Accounted] gets it.
type Request struct {
	ID     string      // value of X-Request-Id in the request
	Key    string      // key of the tenant
	Header http.Header // header of the answer; nil if there was no answer
}

// withDefaults returns the options with defaults applied, or an error that names the option.
func (o Options) withDefaults() (Options, error) {
	o.API, o.Model = cmp.Or(o.API, "openai-chat"), cmp.Or(o.Model, "mock")
	o.Upstreams, o.Seed = cmp.Or(o.Upstreams, 1), cmp.Or(o.Seed, 1)
	o.Wait, o.HoldWithin = cmp.Or(o.Wait, 10*time.Second), cmp.Or(o.HoldWithin, 5*time.Second)
	o.LeaveWithin, o.RecoverWithin = cmp.Or(o.LeaveWithin, 5*time.Second), cmp.Or(o.RecoverWithin, 15*time.Second)
	o.GrowWithin = cmp.Or(o.GrowWithin, 48<<20)
	if _, err := dialect.ByName(o.API); err != nil || !slices.Contains(apis, o.API) {
		return o, fmt.Errorf("API: %q: want one of %s", o.API, strings.Join(apis, ", "))
	}
	if o.Upstreams < 1 || o.Upstreams > maxUpstreams {
		return o, fmt.Errorf("%s: %d: want 1 or %d", "Upstreams", o.Upstreams, maxUpstreams)
	}
	if o.Streams < 0 {
		return o, fmt.Errorf("%s: %d: want 0 or more", "Streams", o.Streams)
	}
	if o.GrowWithin < 0 {
		return o, fmt.Errorf("%s: %d: want 0 or more", "GrowWithin", o.GrowWithin)
	}
	if o.Measure != nil {
		if _, err := o.Measure(); err != nil {
			return o, fmt.Errorf("%s: %w", "Measure", err)
		}
	}
	for _, limit := range []struct {
		name string
		time time.Duration
	}{{"Wait", o.Wait}, {"HoldWithin", o.HoldWithin}, {"LeaveWithin", o.LeaveWithin}, {"RecoverWithin", o.RecoverWithin}, {"IdleWithin", o.IdleWithin}} {
		if limit.time < 0 {
			return o, fmt.Errorf("%s: %v: want 0 or more", limit.name, limit.time)
		}
	}
	if slices.Contains(o.Keys, "") {
		return o, fmt.Errorf(`%s: "": want a key`, "Keys")
	}
	for _, name := range o.Classes {
		if err := matchesCase(name); err != nil {
			return o, fmt.Errorf("%s: %q %w", "Classes", name, err)
		}
	}
	for _, name := range o.Gaps {
		if err := matchesCase(caseOf(name)); err != nil {
			return o, fmt.Errorf("%s: %q %w", "Gaps", name, err)
		}
	}
	return o, nil
}

// matchesCase returns an error if a name, which may be a pattern, stands for no case.
func matchesCase(name string) error {
	if slices.ContainsFunc(cases, func(c testCase) bool { return covers(name, c.id()) }) {
		return nil
	}
	return fmt.Errorf("matches no case: want a class (%s), or a case, as Cases lists them", strings.Join(classes(), ", "))
}

// caseOf returns the name of a gap without the rule.
func caseOf(gap string) string {
	if strings.Count(gap, "/") == 2 {
		return path.Dir(gap)
	}
	return gap
}

// maxUpstreams is the largest number of upstreams.
const maxUpstreams = 2

// apis are the APIs that the kit knows.
var apis = []string{
	"openai-chat", "openai-completions", "openai-responses", "anthropic-messages", "gemini", "cohere", "bedrock-converse", "bedrock-invoke", "ollama",
}

// covers reports whether a name, which may be a pattern, stands for id or for something above it: "end" and "end/*" cover
// "end/reset/clean-end".
func covers(name, id string) bool {
	for ; id != "." && id != "/"; id = path.Dir(id) {
		if ok, _ := path.Match(name, id); ok {
			return true
		}
	}
	return false
}

// gap returns the gap that declares a finding, or "".
func (o Options) gap(id string) string {
	for _, g := range o.Gaps {
		if covers(g, id) {
			return g
		}
	}
	return ""
}

// wants reports whether a case is to be checked.
func (o Options) wants(c testCase) bool {
	return len(o.Classes) == 0 || slices.ContainsFunc(o.Classes, func(name string) bool { return covers(name, c.id()) })
}
