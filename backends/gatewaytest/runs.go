package gatewaytest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// once sends one request with the plan of a case, and returns the exchange.
func (k *kit) once(p plan) *exchange {
	x := k.newExchange(p, k.key(0))
	x.do(context.Background())
	return x
}

// judged runs a case of one exchange.
func judged(k *kit, c testCase) Result {
	x := k.once(c.plan)
	r := Result{Findings: c.judge(x)}
	if n := len(x.tries()); n > 1 {
		r.Facts = append(r.Facts, fmt.Sprintf("the gateway sent the request %d times", n))
	}
	r.Findings = k.shrunk(c, x.plan.tokens, r.Findings)
	return r
}

// shrunk repeats a case with half of the tokens of the answer, with a quarter and so on, as long as that shows the same. It
// returns the last findings that do.
func (k *kit) shrunk(c testCase, tokens int, found []Finding) []Finding {
	same := func(a, b Finding) bool { return a.Rule == b.Rule }
	for i := range found {
		if found[i].Rule == "hang" || found[i].Rule == "held" || k.o.gap(c.id()+"/"+found[i].Rule) != "" { // that takes long, or is known
			return found
		}
	}
	for len(found) > 0 && tokens > 1 {
		c.plan.tokens = tokens / 2
		fewer := c.judge(k.once(c.plan))
		if !slices.EqualFunc(found, fewer, same) {
			break
		}
		found, tokens = fewer, c.plan.tokens
	}
	for i := range found {
		found[i].Tokens = tokens
	}
	return found
}

// stalled runs the case of a stream that stands still. The gateway ends it in time, or the client leaves after the events
// before.
func stalled(k *kit, c testCase) Result {
	p := c.plan
	if k.o.IdleWithin == 0 {
		p.leave = afterEvents
		return Result{Findings: judgeLeft(k.once(p)), Facts: []string{"Options.IdleWithin is 0: whether the gateway ends streams that stand still was not checked"}}
	}
	p.wait = k.o.IdleWithin + k.wait()
	return Result{Findings: judgeEnd(k.once(p))}
}

// leaves runs a case of a client that leaves, and then sends an ordinary request.
func leaves(k *kit, c testCase) Result {
	x := k.once(c.plan)
	r := Result{Findings: judgeLeft(x)}
	if a := x.last(); a != nil && len(r.Findings) == 0 {
		r.Facts = append(r.Facts, fmt.Sprintf("the upstream's request ended %v after its client had left", a.ended.Sub(x.left).Round(time.Millisecond)))
	}
	for _, f := range append(judgeSame(k.once(plan{stream: true})), judgeAlone(x)...) {
		f.Rule, f.Says = "next-"+f.Rule, "after a client had left, the next request went wrong: "+f.Says
		r.Findings = append(r.Findings, f)
	}
	return r
}

// accounted runs a case of usage: the usage in the answer, and what the gateway has accounted.
func accounted(k *kit, c testCase) Result {
	p := c.plan
	if p.config.Engine != nil { // the second of two requests finds the prompt in the cache
		p.server = newServer(p.config, 8)
		k.once(p)
	}
	x := k.once(p)
	var r Result
	if x.plan.leave == stays {
		r.Findings = judgeUsage(x)
	}
	if k.o.Accounted == nil {
		return r
	}
	entry := x.faulty.Log()
	if x.last() == nil || len(entry) == 0 {
		return r
	}
	sent := entry[len(entry)-1]
	client := x.client()
	least := strings.Count(client.text, x.marker) // tokens that the client certainly has
	if client.failure() == "" {
		least = sent.OutputTokens
	}
	deadline := time.Now().Add(k.wait())
	for pause := time.Millisecond; ; pause *= 2 {
		in, out, err := k.o.Accounted(Request{ID: x.marker, Key: x.key, Header: client.header})
		if err == nil && in == sent.PromptTokens && out >= least && out <= sent.OutputTokens {
			return r
		}
		if time.Now().Add(pause).After(deadline) {
			r.Findings = append(r.Findings, x.say("accounted", "the gateway accounted %d input and %d output tokens (error: %v): the upstream had sent %d and %d, of which the client got %d", in, out, err, sent.PromptTokens, sent.OutputTokens, least))
			return r
		}
		time.Sleep(pause)
	}
}

// namesKey runs the case of an upstream whose error names the key that it got, as OpenAI's API does.
func namesKey(k *kit, c testCase) Result {
	if k.o.UpstreamKey == "" {
		return Result{Skipped: "Options.UpstreamKey is not set"}
	}
	p := c.plan
	p.edit = func(b []byte) []byte {
		for _, member := range []string{`"message":"`, `"error":"`} {
			if before, after, found := bytes.Cut(b, []byte(member)); found {
				return slices.Concat(before, []byte(member+"Incorrect API key provided: "+k.o.UpstreamKey+". "), after)
			}
		}
		return b
	}
	return Result{Findings: judgeKeys(k.once(p))}
}

// crowds are the numbers of requests that the cases of isolation send at once. The first number that shows a finding is
// the least of them.
var crowds = []int{2, 8, 32, 100}

// together runs a case of requests at the same time. Each answer must be whole, and have nothing of another request.
func together(k *kit, c testCase) Result {
	return k.crowd(func(int) plan { return c.plan }, judgeSame)
}

// togetherBroken runs a case of streams of which every third breaks, and every third client leaves.
func togetherBroken(k *kit, c testCase) Result {
	return k.crowd(func(i int) plan {
		p := c.plan
		switch i % 3 {
		case 1:
			p.leave, p.config = afterEvents, endless
		case 2:
			p.config.Faults = nil
		}
		return p
	}, func(x *exchange) []Finding {
		if x.plan.leave == stays && x.plan.config.Faults == nil {
			return judgeSame(x)
		}
		return nil
	})
}

// crowd sends requests of different tenants at once, in growing numbers, until one has something of another request. If none
// has, the first other finding counts.
func (k *kit) crowd(planOf func(i int) plan, judge func(*exchange) []Finding) (r Result) {
	for _, n := range crowds {
		all := make([]*exchange, n)
		var wg sync.WaitGroup
		for i := range all {
			all[i] = k.newExchange(planOf(i), k.key(i))
			wg.Go(func() { all[i].do(context.Background()) })
		}
		wg.Wait()
		for _, x := range all {
			if f := judgeAlone(x); f != nil {
				return Result{Findings: beside(n, f)}
			}
		}
		for _, x := range all {
			if f := judge(x); f != nil && r.Findings == nil {
				r.Findings = beside(n, f)
			}
		}
		if x := all[0]; x.hung > 0 {
			break
		}
	}
	return r
}

// beside says how many requests there were.
func beside(n int, findings []Finding) []Finding {
	for i := range findings {
		findings[i].Says += fmt.Sprintf(" (of %d requests at once)", n)
	}
	return findings
}

// deadAll runs a case in which all upstreams refuse connections. The client must get a failure in its API, and an answer
// soon after the upstreams have come back.
func deadAll(k *kit, c testCase) Result {
	for _, u := range k.upstreams {
		u.kill()
	}
	x := k.onceStale(c.plan)
	var r Result
	in := x.client()
	switch {
	case x.hung > 0:
		r.Findings = x.reached()
	case in.failure() == "":
		r.Findings = append(r.Findings, x.say("success", "all upstreams refused connections, and the client got %s", in.outcome()))
	case in.status == http.StatusOK:
		r.Findings = append(r.Findings, x.say("status", "all upstreams refused connections, and the client got status 200: %s", in.failure()))
	case in.status == 0:
		r.Findings = append(r.Findings, x.say("no-answer", "all upstreams refused connections, and the gateway closed the client's connection without an answer: %s", in.failure()))
	case in.status < 500:
		r.Findings = append(r.Findings, x.say("status", "all upstreams refused connections, and the client got status %d, which blames the request", in.status))
	}
	if x.hung == 0 && in.status >= 500 && in.fault == "" {
		r.Findings = append(r.Findings, x.say("error-object", "the gateway's own error, with status %d and content type %q, has no error object of the API", in.status, in.header.Get("Content-Type")))
	}
	return k.recovers(c.plan, r)
}

// onceStale sends a request after an upstream was killed, and another one if the gateway closed the client's connection without
// an answer. It may do so once: it has sent the request on a connection that the upstream had just closed, and only then
// learns that the upstream is dead.
func (k *kit) onceStale(p plan) *exchange {
	x := k.once(p)
	if x.hung == 0 && x.client().status == 0 {
		x = k.once(p)
	}
	return x
}

// recovers brings dead upstreams back, and waits until the gateway uses them again.
func (k *kit) recovers(p plan, r Result) Result {
	for _, u := range k.upstreams {
		if u.stop == nil {
			if err := u.listen(); err != nil {
				r.Skipped = fmt.Sprintf("the address of an upstream cannot be used again: %v", err)
				return r
			}
		}
	}
	began := time.Now()
	used := map[int]bool{}
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		x := k.once(p)
		f := judgeSame(x)
		if a := x.last(); a != nil && f == nil {
			used[a.upstream.index] = true
		}
		if len(used) == len(k.upstreams) {
			r.Facts = append(r.Facts, fmt.Sprintf("the gateway used all upstreams again after %v", time.Since(began).Round(time.Millisecond)))
			return r
		}
		if time.Since(began) > k.o.RecoverWithin {
			says := x.say("recovery", "%v after the upstreams had come back, the gateway still did not use them all: %s", k.o.RecoverWithin, x.clientOutcome())
			r.Findings = append(r.Findings, says)
			return r
		}
		time.Sleep(pause)
	}
}

// rounds is the number of requests that the cases of fail-over send, so that each upstream gets some.
const rounds = 12

// deadOne runs the case of two upstreams of which the first refuses connections: no request needs to fail.
func deadOne(k *kit, c testCase) Result {
	k.upstreams[0].kill()
	var r Result
	failed := 0
	for i := range rounds {
		once := k.once
		if i == 0 {
			once = k.onceStale
		}
		x := once(c.plan)
		f := judgeSame(x)
		if in := x.client(); x.hung == 0 && in.failure() != "" {
			f = []Finding{x.say("failed", "the client got %s", in.outcome())}
		}
		if f != nil {
			if failed++; failed == 1 {
				r.Findings = f[:1]
			}
		}
	}
	if failed > 0 {
		r.Findings[0].Says = fmt.Sprintf("%d of %d requests went wrong while one of two upstreams refused connections: %s", failed, rounds, r.Findings[0].Says)
	}
	return k.recovers(c.plan, r)
}

// faultyOne runs a case of two upstreams of which the first has a fault. A client gets the answer of one of them, token by
// token, or a failure.
func faultyOne(k *kit, c testCase) Result {
	var r Result
	p := c.plan
	p.faulty = func(upstream int) bool { return upstream == 0 }
	failed, again := 0, 0
	for range rounds {
		x := k.once(p)
		in := x.client()
		if len(x.tries()) > 1 {
			again++
		}
		if in.failure() != "" {
			failed++
		}
		f := append(x.reached(), x.retried()...)
		if in.failure() == "" && f == nil {
			f = tokenByToken(x, in)
		}
		if f != nil {
			r.Findings = f
			return r
		}
	}
	r.Facts = append(r.Facts, fmt.Sprintf("of %d requests %d failed, and %d were sent again", rounds, failed, again))
	return r
}

// tokenByToken compares an answer with the text that every upstream has for the prompt.
func tokenByToken(x *exchange, in reading) []Finding {
	want := strings.Fields(answerOf(x.marker, x.plan.tokens))
	seen := map[string]int{}
	for word := range strings.FieldsSeq(in.text) {
		seen[word]++
	}
	lost, repeated := 0, 0
	for _, word := range want {
		switch n := seen[word]; {
		case n == 0:
			lost++
		case n > 1:
			repeated += n - 1
		}
	}
	if lost == 0 && repeated == 0 && strings.Join(want, " ") == in.text {
		return nil
	}
	return []Finding{x.say("tokens", "the client got a complete answer that is not the upstreams': of %d tokens %d are lost, and %d come again", len(want), lost, repeated)}
}
