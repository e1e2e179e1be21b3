package llmbench

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/mergepatch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/prefix"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A plan holds the checked requests of a pass. The post of a request holds the path and the body of the
// HTTP request that sends it. Posts are built shortly before they are sent, so that only a limited number
// exist at once.
type plan struct {
	load     *Load
	target   Target
	duration time.Duration // for how long a closed loop sends requests, with its warm-up; 0 means until none is left

	requests int                   // number of requests; if more can be drawn, of those that were drawn
	samples  int                   // number of samples of these requests: one for each turn
	turns    []int                 // number of turns of each request; nil if each has one
	width    int                   // the largest width of a request
	bytes    int                   // size of the bodies of these requests
	largest  int                   // size of the largest body, at least 1
	digest   string                // identifies the requests; "" in a process that measures alone
	build    func(i int) send.Post // builds the post of a request
	unsent   func(i int) send.Post // like build, but without a body, for a request that is not sent
	source   source                // makes the requests
	parts    *parts                // the source, if more requests can be drawn; else nil
	due      []time.Duration       // when the requests of an open loop are due
	offered  int                   // number of requests of an open loop, of which some may be due after its time
	classes  []*plan               // of the classes of the load; nil if it has none
	openings []prefix.Opening      // the beginning of the prompt of each turn; at most maxOpenings
}

// maxOpenings is the maximum number of openings in a plan.
const maxOpenings = 1 << 20

const (
	// maxWaiting is the maximum number of posts that wait to be sent.
	maxWaiting = 1024
	// maxWaitingBytes is the maximum total size of the bodies of waiting posts. A single larger body is
	// allowed.
	maxWaitingBytes = 64 << 20
)

// newPlan returns the plan for requests. It builds each body once, so that a request that the dialect
// cannot express is an error before the pass begins.
func newPlan(l *Load, t Target, requests []Request) (*plan, error) {
	return planOf(l, t, sourceOf(requests))
}

// A source makes requests one by one. Before a pass, each request is made to check it, and again shortly before it is
// sent, so that the requests need not all be in memory.
type source struct {
	n  int                 // number of requests
	at func(i int) Request // makes the request with index i, from 0 to n-1; called by one goroutine at a time
}

// sourceOf returns the source of requests that are in memory.
func sourceOf(requests []Request) source {
	return source{len(requests), func(i int) Request { return requests[i] }}
}

// planOf is like newPlan, for requests of a source.
func planOf(l *Load, t Target, requests source) (*plan, error) {
	pl := &plan{load: l, target: t, largest: 1}
	if l.Arrivals != nil {
		var err error
		if pl.due, err = l.due(requests.n); err != nil {
			return nil, err
		}
		pl.offered, requests.n = requests.n, len(pl.due)
	}
	pl.source = requests
	var digest digest
	if l.digest {
		digest.hash = sha256.New()
	}
	if err := pl.take(requests.n, digest); err != nil {
		return nil, err
	}
	leaves := planLeaves(l.Cancel, requests)
	pl.digest = digest.sum(leaves)
	pl.build = func(i int) send.Post { return pl.post(i, requests.at(i), leaves[i]) }
	pl.unsent = func(i int) send.Post {
		r := requests.at(i)
		return send.Post{Request: i, Turn: r.Skip, Model: r.Model, Turns: turns(r.Then)}
	}
	return pl, nil
}

// take checks the requests of the source from the last one that was taken to the n-th one, and takes them.
func (pl *plan) take(n int, digest digest) error {
	for i := pl.requests; i < n; i++ {
		r := pl.source.at(i)
		p, err := checkRequest(pl.load, pl.target, r)
		if err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
		pl.largest, pl.bytes = max(pl.largest, len(p.Body)), pl.bytes+len(p.Body)
		if pl.turns == nil && len(r.Then) > 0 {
			pl.turns = slices.Repeat([]int{1}, i)
		}
		if pl.turns != nil {
			pl.turns = append(pl.turns, r.samples())
		}
		pl.samples += r.samples()
		pl.width = max(pl.width, r.width())
		digest.add(i, p, r)
		pl.addOpenings(r)
		pl.requests++
	}
	return nil
}

// addOpenings adds the beginnings of the prompts of all turns of r. A conversation begins as its first turn does.
func (pl *plan) addOpenings(r Request) {
	all := []prefix.Opening{r.opening()}
	for i, t := range r.Then {
		if t.Whole {
			all = append(all, t.request(t.messages()).opening())
		} else {
			all = append(all, all[t.after(i + 1)[0]])
		}
	}
	all = all[r.Skip:]
	pl.openings = append(pl.openings, all[:min(len(all), maxOpenings-len(pl.openings))]...)
}

// post returns the post of a request that was taken.
func (pl *plan) post(i int, r Request, l send.Leave) send.Post {
	p, err := newPost(pl.load, pl.target, r)
	if err != nil {
		panic(fmt.Sprintf("llmbench: request %d was valid before the pass: %v", i, err))
	}
	p.Request, p.Leave = i, l
	return p
}

// ahead returns how many of n posts are built and wait to be sent, at most.
func (pl *plan) ahead(n int) int { return min(n, maxWaiting, max(1, maxWaitingBytes/pl.largest)) }

// samplesOf returns the number of samples of a request.
func (pl *plan) samplesOf(i int) int {
	if pl.turns == nil {
		return 1
	}
	return pl.turns[i]
}

// loops returns the plans of the classes, or pl itself if its load has none.
func (pl *plan) loops() []*plan {
	if pl.classes == nil {
		return []*plan{pl}
	}
	return pl.classes
}

// ended reports whether no request can be drawn. An open loop has ended if its last request is due more than two intervals before
// the end of its time.
func (pl *plan) ended() bool {
	if n := len(pl.due); n > 0 {
		last := pl.due[n-1]
		return n > 1 && n == pl.offered && pl.load.until-last > 2*last/time.Duration(n-1)
	}
	return pl.parts == nil || pl.parts.ended
}

// pass returns the pass that this process makes of a plan for l, with its part of the requests.
func (pl *plan) pass(part shard.Part, l *Load) *send.Pass {
	if pl.duration == 0 && l.Duration > 0 { // a warm-up: all users send its requests, until none is left
		untimed := *l
		untimed.WarmupFor, untimed.Duration, untimed.Users, untimed.Classes = 0, 0, nil, nil
		untimed.Concurrency = max(1, l.Concurrency) // all classes may be open loops
		l = &untimed
	}
	p := &send.Pass{
		Options:    l.options(),
		Shard:      part.Index,
		Limit:      l.PassTimeout,
		MostFailed: int(l.MaxFail * float64(pl.samples)),
		From:       l.WarmupFor,
		For:        pl.duration,
		MaxFail:    l.MaxFail,
		MaxShed:    l.MaxShed,

		CutSessions: l.CutSessions && pl.duration > 0,
	}
	for i, c := range pl.loops() {
		if pl.classes == nil {
			p.Classes = append(p.Classes, c.class(part, l, func(p send.Post) send.Post { return p }))
			continue
		}
		class := c.class(part, c.load, func(p send.Post) send.Post {
			p.Request = p.Request*len(pl.classes) + i
			return p
		})
		class.Name = l.Classes[i].Name
		p.Classes = append(p.Classes, class)
	}
	return p
}

// class returns this process's part of the requests, for a loop as l says. The function number gives a post the index of its request in the pass.
func (pl *plan) class(part shard.Part, l *Load, number func(send.Post) send.Post) send.Class {
	workers := l.Concurrency + l.MaxInFlight
	index := func(k int) int { return part.Request(k, workers) } // among the requests of all processes
	own := part.Requests(pl.requests, workers)
	c := send.Class{
		Posts: send.Posts{
			N:      own,
			Ahead:  pl.ahead(own),
			Build:  func(k int) send.Post { return number(pl.build(index(k))) },
			Unsent: func(k int) send.Post { return number(pl.unsent(index(k))) },
		},
		Stays:       l.partStays(part),
		MaxInFlight: part.Workers(l.MaxInFlight),
		Width:       func() int { return pl.width },
	}
	if pl.parts != nil && own > 0 {
		c.Posts.More = func() (int, error) {
			for n := own; own == n; own = part.Requests(pl.requests, workers) { // a small part may have none for this process
				if more, err := pl.draw(); err != nil || !more {
					return own, err
				}
			}
			return own, nil
		}
	}
	if pl.due != nil {
		c.Due = make([]time.Duration, own)
		for k := range own {
			c.Due[k] = pl.due[index(k)]
		}
	}
	return c
}

// options returns how the client asks for answers and reads them.
func (l *Load) options() send.Options {
	return send.Options{Stream: !l.NoStream, Timeout: l.Timeout, IdleTimeout: l.IdleTimeout, KeepText: l.KeepText, Tokenizer: l.Tokenizer, Compared: l.tokenized}
}

// A digest is a hash of everything that all processes of a measurement must agree to send: the path and the
// body of each request, its further turns, which turns are checked, and when its client leaves. The zero
// digest is for a process that measures alone, and hashes nothing.
type digest struct{ hash hash.Hash }

// add adds the request with index i to the hash.
func (d digest) add(i int, p send.Post, r Request) {
	if d.hash == nil {
		return
	}
	fmt.Fprintf(d.hash, "%d %d %s %d %s %t %v %q\n", i, r.Skip, p.Path, len(p.Body), p.Body, p.Check != nil, p.Header, r.Reply) // fmt sorts the names
	for i, t := range r.Then {
		fmt.Fprintf(d.hash, "%q %t %v %q %d %t %v %v %t\n", t.messages(), t.Whole, t.after(i+1), t.Reply, t.MaxTokens, t.FixedOutput, t.Think, t.Every, t.Check != nil)
	}
}

// sum adds the clients that leave, and returns the hash.
func (d digest) sum(leaves map[int]send.Leave) string {
	if d.hash == nil {
		return ""
	}
	for _, i := range slices.Sorted(maps.Keys(leaves)) {
		fmt.Fprintf(d.hash, "%d %+v\n", i, leaves[i])
	}
	return hex.EncodeToString(d.hash.Sum(nil)[:8])
}

// newPost returns the post that sends r.
func newPost(l *Load, t Target, r Request) (send.Post, error) {
	if r.Skip > 0 {
		p, err := newPost(l, t, r.turn(r.Skip, noReply))
		p.Turn = r.Skip
		return withTurns(p, l, t, r), err
	}
	if len(r.Then) > 0 {
		r.Messages = r.conversation()
	}
	d := t.dialect()
	q := dialect.Query{
		Model:       cmp.Or(r.Model, t.Model),
		Prompt:      r.Prompt,
		Messages:    r.Messages,
		Inputs:      r.Inputs,
		MaxTokens:   r.MaxTokens,
		FixedOutput: r.FixedOutput,
		Stream:      !l.NoStream,
		Tools:       r.Tools,
		Schema:      r.Schema,
	}
	body, err := d.Body(q)
	patched := false
	for _, patch := range []json.RawMessage{t.Body, r.Body} {
		if patched = patched || len(patch) > 0; err == nil && len(patch) > 0 {
			body, err = mergepatch.Apply(body, patch)
		}
	}
	if err == nil && patched && l.NoStream {
		body, err = mergepatch.Apply(body, withoutStream)
	}
	p := send.Post{Path: d.Path(q), Body: body, Chars: r.chars(), PromptTokens: r.PromptTokens, MaxTokens: r.MaxTokens, FixedOutput: r.FixedOutput, Inputs: len(r.Inputs), Check: r.Check, Model: r.Model}
	if len(r.Header)+len(r.Body) > 0 {
		_, members := mergepatch.Hide(r.Body, env.IsSecret)
		p.Header, p.Secrets = r.Header, redact.New(append(credentials(r.Header), members...))
	}
	return withTurns(p, l, t, r), err
}

// withTurns returns the post of the first turn of r that is sent with the further turns of r.
func withTurns(p send.Post, l *Load, t Target, r Request) send.Post {
	if len(r.Then) > 0 {
		p.Turns = turns(r.Then)
		p.Next = func(i int, replyTo func(int) string) (send.Post, error) { return newPost(l, t, r.turn(i, replyTo)) }
	}
	return p
}

// withoutStream is a patch for the body of a request that is not streamed. Target.Body may set options of streams, with
// which servers refuse such a request (https://platform.openai.com/docs/api-reference/chat/create: "only set this when
// you set stream: true").
var withoutStream = []byte(`{"stream_options":null}`)

// checkRequest returns the post that sends r, or an error if r is invalid. It checks the further turns of a
// session without the replies, which are not known yet.
func checkRequest(l *Load, t Target, r Request) (send.Post, error) {
	if len(r.Then) > 0 && (len(r.Tools) > 0 || len(r.Schema) > 0 || len(r.Inputs) > 0) {
		return send.Post{}, errors.New("a session with tools, a schema or inputs; its replies are texts")
	}
	if err := checkHeader(r.Header); err != nil {
		return send.Post{}, err
	}
	if len(r.Body) > 0 {
		if err := mergepatch.Check(r.Body); err != nil {
			return send.Post{}, fmt.Errorf("body: %w", err)
		}
	}
	if err := t.checkContext(r.Model, r.MaxTokens); err != nil {
		return send.Post{}, err
	}
	for i, turn := range r.Then {
		if err := turn.check(l, t, r, i+1); err != nil {
			return send.Post{}, fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	if err := r.checkSkip(); err != nil {
		return send.Post{}, err
	}
	return newPost(l, t, r)
}

// check returns an error if turn i of the session of r is invalid.
func (t Turn) check(l *Load, target Target, r Request, i int) error {
	if err := target.checkContext(r.Model, t.MaxTokens); err != nil {
		return err
	}
	switch {
	case t.Think < 0:
		return fmt.Errorf("think time %v: want at least 0", t.Think)
	case t.Every < 0 || t.Every > 0 && t.Think > 0:
		return fmt.Errorf("every %v, with a think time of %v: want at least 0, and one of the two", t.Every, t.Think)
	case t.After != nil && len(t.After) == 0 && !t.Whole:
		return errors.New("it waits for no turn: want Whole, or nil for the turn before")
	case t.Prompt != "" && len(t.Messages) > 0:
		return errors.New("both Prompt and Messages are set: want only one")
	}
	for k, before := range t.After {
		if before < 0 || before >= i {
			return fmt.Errorf("it waits for turn %d: want a turn from 0 to %d", before, i-1)
		}
		if slices.Contains(t.After[:k], before) {
			return fmt.Errorf("it waits for turn %d twice: want it once", before)
		}
	}
	messages := t.messages()
	if !t.Whole {
		messages = append(append(slices.Clip(r.conversation()), Message{Role: "assistant"}), messages...)
	}
	_, err := newPost(l, target, t.request(beginnings(messages)))
	return err
}

// beginnings returns messages with the beginnings of their texts, which show as well whether a dialect can express them. The
// conversations of a long session have many megabytes.
func beginnings(messages []Message) []Message {
	messages = slices.Clone(messages)
	for i := range messages {
		text := messages[i].Content
		end := min(len(text), 64)
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end--
		}
		messages[i].Content = text[:end]
	}
	return messages
}

// checkContext returns an error if the server refuses every request of a model for an output of this many tokens. Context is
// about the target's model.
func (t Target) checkContext(model string, maxTokens int) error {
	if t.Context > 0 && maxTokens >= t.Context && cmp.Or(model, t.Model) == t.Model {
		return fmt.Errorf("an output of %d tokens, and %s refuses requests of more than %d tokens, prompt and output together: want a shorter output, or a server with a larger context", maxTokens, t.Where(), t.Context)
	}
	return nil
}

// planLeaves draws which clients leave, and when. The result is keyed by the index of the client's request.
func planLeaves(c Cancel, requests source) map[int]send.Leave {
	leaves := map[int]send.Leave{}
	if c.Share == 0 {
		return leaves
	}
	r := rand.New(rand.NewPCG(c.Seed, 0x6c6566742d656172))
	n := int(math.Round(c.Share * float64(requests.n)))
	for _, i := range r.Perm(requests.n)[:n] {
		leaves[i] = c.draw(r, requests.at(i))
	}
	return leaves
}

// draw draws when the client of a request leaves.
func (c Cancel) draw(r *rand.Rand, of Request) send.Leave {
	l := send.Leave{Turn: of.Skip + r.IntN(of.samples())}
	if c.Deltas > 0 {
		l.Deltas = 1 + r.IntN(c.Deltas)
	} else {
		l.After = 1 + time.Duration(r.Int64N(int64(c.Time)))
	}
	return l
}

// turns converts the further turns of a session for package send.
func turns(then []Turn) (all []send.Turn) {
	for i, t := range then {
		all = append(all, send.Turn{After: t.after(i + 1), Think: t.Think, Every: t.Every, Check: t.Check})
	}
	return all
}
