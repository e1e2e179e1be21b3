package gatewaytest

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// say returns a finding about an exchange, with the ends of what the upstream wrote and of what the client read.
func (x *exchange) say(rule, format string, args ...any) Finding {
	f := Finding{Rule: rule, Says: fmt.Sprintf(format, args...)}
	if up, ok := x.upstream(); ok {
		f.In = x.k.excerpt(up.message)
	}
	f.Out = x.k.excerpt(x.in)
	return f
}

// maxExcerpt is the length of an excerpt, in bytes.
const maxExcerpt = 200

// excerpt quotes the end of a message. Keys of the options are hidden before it is cut, so that no part of them is left.
func (k *kit) excerpt(m message) string {
	if m.status == 0 {
		return ""
	}
	status := ""
	if m.status != http.StatusOK {
		status = fmt.Sprintf("status %d, ", m.status)
	}
	broken := ""
	if m.err != nil {
		broken = fmt.Sprintf(", then: %v", m.err)
	}
	return status + cut(k.secrets.Remove(string(m.body)), -1) + broken
}

// cut quotes the part of a text around the byte at, or its end if at is -1.
func cut(s string, at int) string {
	from := len(s) - maxExcerpt
	if at >= 0 {
		from = at - maxExcerpt/3
	}
	from = max(from, 0)
	to := min(from+maxExcerpt, len(s))
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	if to < len(s) {
		after = fmt.Sprintf("… (%d bytes)", len(s))
	}
	return before + strconv.Quote(s[from:to]) + after
}

// differ returns the index of the first byte in which two texts differ.
func differ(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// cutBoth quotes the parts of two canonical documents around their first difference.
func cutBoth(a, b string) (in, out string) {
	a, b = canonicalNumber.ReplaceAllString(a, "$1"), canonicalNumber.ReplaceAllString(b, "$1")
	at := differ(a, b)
	return cut(a, at), cut(b, at)
}

// reached returns a finding if the exchange did not take place: the gateway hung, or asked no upstream.
func (x *exchange) reached() []Finding {
	if x.hung > 0 {
		return []Finding{x.say("hang", "the gateway did not end the answer within %v", x.hung)}
	}
	if x.last() == nil {
		return []Finding{x.say("no-upstream", "the gateway answered without asking the upstream: %s", x.clientOutcome())}
	}
	return nil
}

func (x *exchange) clientOutcome() string {
	r := x.client()
	return r.outcome()
}

// judgeSame says what the client did not get as the upstream wrote it. The upstream's answer must be complete.
func judgeSame(x *exchange) []Finding {
	if f := x.reached(); f != nil {
		return f
	}
	up, _ := x.upstream()
	in := x.client()
	if up.status >= http.StatusBadRequest {
		return []Finding{x.say("refused", "the upstream refused the request that the gateway had made of the client's: status %d", up.status)}
	}
	if why := up.failure(); why != "" {
		return []Finding{x.say("upstream-left", "the gateway left before the upstream's answer was complete: %s", why)}
	}
	if why := in.failure(); why != "" {
		return []Finding{x.say("failed", "the upstream's answer was complete, and the client got a failure: %s", why)}
	}
	translated := x.translated()
	exact := !x.k.o.Rewrites && !translated
	if f := sameText(x, up, in); f != nil {
		return f
	}
	if f := judgeUsage(x); f != nil {
		return f
	}
	if up.finish != in.finish && !(translated && (sameFinish(up.finish, in.finish) || x.ollamaCall(up, in))) {
		return []Finding{x.say("finish", "the gateway changed the finish reason: it has %q where the upstream wrote %q", in.finish, up.finish)}
	}
	if exact {
		if f := sameBytes(x, up, in); f != nil {
			return f
		}
	}
	if h := x.held; h != nil {
		return []Finding{x.say("held", "the gateway held text back: the upstream had written %d bytes of text and waited, and after %v the client had %d of them", h.sent, h.after, h.got)}
	}
	return nil
}

// sameText compares all generated text.
func sameText(x *exchange, up, in reading) []Finding {
	for _, part := range []struct{ rule, what, up, in string }{
		{"text", "the text of the answer", up.text, in.text},
		{"reasoning", "the reasoning", up.reasoning, in.reasoning},
		{"tool-call", "the name of the tool call", up.name, in.name},
		{"tool-call", "the arguments of the tool call", canonical(up.call), canonical(in.call)},
	} {
		if part.up == part.in {
			continue
		}
		at := differ(part.up, part.in)
		how := "changed"
		switch {
		case part.in == "":
			how = "lost"
		case at == len(part.in):
			how = "lost the end of"
		case at == len(part.up):
			how = "added something to"
		}
		f := x.say(part.rule, "the gateway %s %s, from byte %d of %d on", how, part.what, at, len(part.up))
		f.In, f.Out = cut(part.up, at), cut(part.in, at)
		return []Finding{f}
	}
	return nil
}

// sameBytes compares events or documents, and header fields.
func sameBytes(x *exchange, up, in reading) []Finding {
	if a, b := mediaType(up.header), mediaType(in.header); a != b {
		f := x.say("content-type", "the gateway changed the content type: it is %q where the upstream wrote %q", in.header.Get("Content-Type"), up.header.Get("Content-Type"))
		f.In, f.Out = "Content-Type: "+up.header.Get("Content-Type"), "Content-Type: "+in.header.Get("Content-Type")
		return []Finding{f}
	}
	if !x.plan.stream {
		if a, b := canonical(string(up.body)), canonical(string(in.body)); a != b {
			f := x.say("body", "the gateway changed the JSON of the answer, though not its text")
			f.In, f.Out = cutBoth(a, b)
			return []Finding{f}
		}
		return nil
	}
	return sameEvents(x, up.events, in.events)
}

// sameEvents compares events, of which none may be lost, added, repeated, changed or moved.
func sameEvents(x *exchange, up, in []event) []Finding {
	i := 0
	for i < min(len(up), len(in)) && up[i].meaning == in[i].meaning {
		i++
	}
	if i == len(up) && i == len(in) {
		return nil
	}
	has := func(list []event, e event) bool {
		return slices.ContainsFunc(list, func(o event) bool { return o.meaning == e.meaning })
	}
	at := func(list []event, i int) (e event) {
		if i >= 0 && i < len(list) {
			e = list[i]
		}
		return e
	}
	var says string
	switch {
	case i == len(in):
		says = fmt.Sprintf("the gateway lost the last %d of %d events", len(up)-i, len(up))
	case !has(up, in[i]) && (i == len(up) || has(in, up[i])):
		says = fmt.Sprintf("event %d came out of the gateway and had not gone in", i+1)
	case !has(up, in[i]):
		says = fmt.Sprintf("the gateway changed event %d of %d", i+1, len(up))
	case has(up[:i], in[i]):
		says = fmt.Sprintf("the gateway repeated an event, as event %d", i+1)
	case !has(in, at(up, i)):
		says = fmt.Sprintf("the gateway lost event %d of %d", i+1, len(up))
	default:
		says = fmt.Sprintf("the gateway changed the order of events, from event %d on", i+1)
	}
	f := x.say("events", "%s", says)
	a, b := at(up, i).data, at(in, i).data
	f.In, f.Out = cut(a, differ(a, b)), cut(b, differ(a, b))
	return []Finding{f}
}

// judgeUsage compares the usage in the answer.
func judgeUsage(x *exchange) []Finding {
	if f := x.reached(); f != nil {
		return f
	}
	up, _ := x.upstream()
	in := x.client()
	if up.failure() != "" || in.failure() != "" {
		return nil
	}
	sent, got := up.usage, in.usage
	if x.translated() && got.CachedTokens == 0 {
		sent.CachedTokens, sent.CachedStated, got.CachedStated = 0, false, false // not every API has it
	}
	if x.translated() && slices.Contains(noReasoningCount, x.k.api.Name()) {
		sent.ReasoningTokens = 0
	}
	var wrong []string
	for _, c := range []struct {
		name     string
		sent, in int
	}{
		{"input tokens", sent.PromptTokens, got.PromptTokens}, {"output tokens", sent.OutputTokens, got.OutputTokens},
		{"cached tokens", sent.CachedTokens, got.CachedTokens}, {"reasoning tokens", sent.ReasoningTokens, got.ReasoningTokens},
	} {
		if c.sent != c.in {
			wrong = append(wrong, fmt.Sprintf("%d %s where the upstream wrote %d", c.in, c.name, c.sent))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return []Finding{x.say("usage", "the usage in the answer is not the upstream's: %s", strings.Join(wrong, ", "))}
}

// noReasoningCount are the APIs whose usage does not tell reasoning tokens apart from other output tokens.
var noReasoningCount = []string{"bedrock-converse", "cohere", "ollama"}

// judgeEnd says what is wrong with the end of an answer whose upstream failed.
func judgeEnd(x *exchange) (all []Finding) {
	if f := x.reached(); f != nil {
		return f
	}
	up, _ := x.upstream()
	in := x.client()
	why := up.failure()
	add := func(rule, format string, args ...any) { all = append(all, x.say(rule, format, args...)) }
	if f := x.retried(); f != nil {
		all = append(all, f...)
	}
	if why == "" { // a complete answer, such as one of another content type, may fail, and is whole otherwise
		if in.failure() == "" {
			all = append(all, sameText(x, up, in)...)
		}
		return all
	}
	if in.failure() == "" {
		add("success", "the upstream's answer failed (%s), and the client got %s", why, in.outcome())
		return all
	}
	if up.status >= 400 {
		return append(all, sameRefusal(x, up, in)...)
	}
	if up.err != nil && in.status == http.StatusOK && in.err == nil && in.fault == "" {
		add("clean-end", "the upstream's answer broke off, and the gateway ended the client's answer as if it were whole: without an error object, and without breaking off. Only a client that misses the end marker notices")
	}
	if up.fault != "" && in.fault == "" && in.status == http.StatusOK {
		add("error-object", "the gateway lost the upstream's error object %.80q", up.fault)
	}
	if !strings.HasPrefix(up.text, in.text) {
		f := x.say("text", "the text before the end is not what the upstream wrote, from byte %d on", differ(up.text, in.text))
		f.In, f.Out = cut(up.text, differ(up.text, in.text)), cut(in.text, differ(up.text, in.text))
		all = append(all, f)
	}
	return all
}

// sameRefusal compares the answers to a request that the upstream refused.
func sameRefusal(x *exchange, up, in reading) (all []Finding) {
	add := func(rule, format string, args ...any) { all = append(all, x.say(rule, format, args...)) }
	switch {
	case up.status < 500 && in.status != up.status:
		add("status", "the gateway changed status %d of the upstream to %d: clients treat them differently", up.status, in.status)
	case up.status >= 500 && in.status < 500:
		add("status", "the gateway changed status %d of the upstream to %d: a failure of the server is not one of the request", up.status, in.status)
	}
	if after := up.header.Get("Retry-After"); after != "" && in.header.Get("Retry-After") == "" {
		add("retry-after", "the gateway lost the field Retry-After: %s", after)
	}
	if up.fault != "" {
		if in.fault == "" {
			add("error-object", "the error has no error object of the API, and the upstream's had one")
		} else if !strings.Contains(in.fault, up.fault) {
			add("error-message", "the error object lost the upstream's message %.100q: it has %.100q", up.fault, in.fault)
		}
	}
	return all
}

// retried says whether the gateway asked an upstream again after the client had text of the answer. Only a lockstep shows it.
func (x *exchange) retried() []Finding {
	if slices.ContainsFunc(x.tries(), func(a *attempt) bool { return a.again }) {
		return []Finding{x.say("retried", "the gateway sent the request again after the client had the first text of the answer")}
	}
	return nil
}

// judgeLeft says whether the upstream's request ended with its client.
func judgeLeft(x *exchange) []Finding {
	if x.hung > 0 {
		return x.reached()
	}
	if !x.hasLeft() {
		return []Finding{x.say("no-events", "the client did not get the first %d events of a stream, and so could not leave after them: %s", leaveEvents, x.clientOutcome())}
	}
	for _, a := range x.tries() {
		a.mu.Lock()
		late, n := a.late, len(a.out)
		a.mu.Unlock()
		if late {
			return []Finding{x.say("goes-on", "the client left, and the gateway still read the upstream's answer %v later: %d bytes had been written", x.k.o.LeaveWithin, n)}
		}
	}
	return nil
}

// judgeRequest says whether the upstream got the client's request.
func judgeRequest(x *exchange) []Finding {
	a := x.last()
	if a == nil || x.k.o.Rewrites || x.translated() {
		return nil
	}
	sent, got := canonical(string(x.body)), canonical(string(a.body))
	if sent == got {
		return nil
	}
	f := x.say("request", "the gateway changed the body of the request")
	f.In, f.Out = cutBoth(sent, got)
	return []Finding{f}
}

// judgeHop says whether a field that the field Connection names went on to the next connection (RFC 9110, 7.6.1).
func judgeHop(x *exchange) (all []Finding) {
	if f := judgeSame(x); f != nil {
		return f
	}
	for _, side := range []struct {
		rule, from, to string
		header         http.Header
	}{{"answer", "upstream", "client", x.in.header}, {"request", "client", "upstream", x.last().header}} {
		if v := side.header.Get(hopField); v != "" {
			all = append(all, Finding{Rule: "hop-" + side.rule, Says: fmt.Sprintf("the gateway passed a field of the %s on to the %s, though the field Connection names it: it belongs to one connection (RFC 9110, 7.6.1)", side.from, side.to),
				In: "Connection: " + hopField + ", " + hopField + ": " + v, Out: hopField + ": " + v})
		}
	}
	return all
}

// judgeAlone says whether an answer has something of another exchange.
func judgeAlone(x *exchange) []Finding {
	look := func(where string, text []byte) []Finding {
		for _, at := range markers.FindAllIndex(text, -1) {
			found := string(text[at[0]:at[1]])
			if at[1] == len(text) && strings.HasPrefix(x.marker, found) { // the text broke off within the marker
				continue
			}
			if found != x.marker {
				f := x.say("foreign", "the %s of request %s has bytes of request %s", where, x.marker, found)
				f.Out = cut(string(text), at[0])
				return []Finding{f}
			}
		}
		return nil
	}
	if f := look("answer", x.in.body); f != nil {
		return f
	}
	for _, a := range x.tries() {
		if f := look("body at the upstream", a.body); f != nil {
			return f
		}
		if tenant := x.k.tenant(a.header); tenant != "" && tenant != x.key {
			return []Finding{{Rule: "foreign-key", Says: "the gateway sent the request of one tenant with the key of another", In: x.key, Out: tenant}}
		}
	}
	return nil
}

// judgeKeys says whether keys went where they do not belong.
func judgeKeys(x *exchange) (all []Finding) {
	if f := x.reached(); f != nil {
		return f
	}
	if name := fieldWith(x.last().header, x.key); name != "" {
		all = append(all, Finding{Rule: "tenant-key", Says: "the gateway sent the tenant's key to the upstream, in the field " + name, In: "(from the client) " + x.key, Out: name + ": " + x.last().header.Get(name)})
	}
	if key := x.k.o.UpstreamKey; key != "" {
		if name := fieldWith(x.in.header, key); name != "" || bytes.Contains(x.in.body, []byte(key)) {
			all = append(all, x.say("upstream-key", "the upstream's key came to the client, in %s", cmp.Or(name, "the body")))
		}
	}
	return all
}

// fieldWith returns the name of a field whose value has key, or "".
func fieldWith(h http.Header, key string) string {
	for name, values := range h {
		for _, v := range values {
			if hasKey(v, key) {
				return name
			}
		}
	}
	return ""
}

// hasKey reports whether a text has a key, and not only a longer key of which the key is a part: "Bearer key-10" does not
// have "key-1".
func hasKey(text, key string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], key)
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(key)
		if (begin == 0 || !inKeys(text[begin-1])) && (end == len(text) || !inKeys(text[end])) {
			return true
		}
		from = begin + 1
	}
}

// inKeys reports whether keys have the character c beside others.
func inKeys(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// finishKinds are the finish reasons of all APIs that mean the same. Package dialect names their sources.
var finishKinds = [...][]string{
	{"stop", "end_turn", "STOP", "COMPLETE", "completed", "stop_sequence", "STOP_SEQUENCE"},
	{"length", "max_tokens", "MAX_TOKENS", "max_output_tokens"},
	{"tool_calls", "tool_use", "TOOL_CALL", "function_call"},
}

// sameFinish reports whether finish reasons of two APIs mean the same. Gemini and the Responses API have none of their own
// for a tool call.
func sameFinish(a, b string) bool {
	kind := func(reason string) int {
		return slices.IndexFunc(finishKinds[:], func(kind []string) bool { return slices.Contains(kind, reason) })
	}
	ka, kb := kind(a), kind(b)
	return ka >= 0 && ka == kb || ka == 0 && kb == 2 && plainStop(a) || ka == 2 && kb == 0 && plainStop(b)
}

// ollamaCall reports whether one side has the API of Ollama, whose finish reason of a tool call is stop.
func (x *exchange) ollamaCall(up, in reading) bool {
	return up.call != "" && (x.k.dialectOf(x.last()).Name() == "ollama" && up.finish == "stop" && sameFinish(in.finish, "tool_calls") ||
		x.k.api.Name() == "ollama" && in.finish == "stop" && sameFinish(up.finish, "tool_calls"))
}

// plainStop reports whether an API uses the reason for tool calls, too.
func plainStop(reason string) bool { return reason == "STOP" || reason == "completed" }
