package llmbench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

// mixed returns a load with three classes: with users, with users who come and leave, and with a rate. Each request has the
// priority of its class in its body, and its name in a header.
func mixed(duration time.Duration) Load {
	out := func(i int) int { return 20 + i*37%100 }
	named := func(name string, priority int, requests []Request) []Request {
		for i := range requests {
			requests[i].Prompt = fmt.Sprintf("%s %s", name, requests[i].Prompt)
			requests[i].Header, requests[i].Body = http.Header{"X-Class": {name}}, fmt.Appendf(nil, `{"priority":%d}`, priority)
		}
		return requests
	}
	l := Load{Duration: duration}
	for i, name := range []string{"chat", "ramp", "rag"} {
		all := endless(10, out)
		c := Class{Name: name, Requests: named(name, i, all.Requests), More: func(pass, part int) ([]Request, error) {
			more, err := all.More(pass, part)
			return named(name, i, more), err
		}}
		switch name {
		case "chat":
			c.Concurrency = 4
		case "ramp":
			c.Users = arrivals.Users{{For: duration / 2, Rate: 1, Ramp: arrivals.Linear, To: 5}, {For: duration - duration/2, Rate: 2}}
		case "rag":
			c.Arrivals, c.More = arrivals.Poisson{Rate: 3, Seed: 5}, nil
			c.Requests = named(name, i, endless(500, out).Requests)
		}
		l.Classes = append(l.Classes, c)
	}
	return l
}

// A received request is what the server got of it.
type received struct {
	class    string
	priority int
	prompt   string
}

// receiver passes requests on to a server, and keeps what came by the ID of the request.
type receiver struct {
	to  http.Handler
	mu  sync.Mutex
	all map[string]received
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	text, _ := io.ReadAll(req.Body)
	var body struct {
		Priority int
		Messages []Message
	}
	json.Unmarshal(text, &body)
	r.mu.Lock()
	r.all[req.Header.Get("X-Request-Id")] = received{req.Header.Get("X-Class"), body.Priority, body.Messages[0].Content}
	r.mu.Unlock()
	req.Body = io.NopCloser(bytes.NewReader(text))
	r.to.ServeHTTP(w, req)
}

// TestClasses compares a load with classes with the server's log: each class has sent the first requests of its own
// sequence with its own header and body, none is lost or counted twice, each has its own loop, and the figures of a class are
// computed from its requests alone.
func TestClasses(t *testing.T) {
	const duration = 20*time.Second + 70*time.Microsecond // no token comes at the end
	for _, warmup := range []time.Duration{0, 3*time.Second + 30*time.Microsecond} {
		l := mixed(duration)
		l.WarmupFor = warmup
		synctest.Test(t, func(t *testing.T) {
			srv, err := mockserver.New(mockserver.Config{TTFT: 200 * ms, PerToken: 10 * ms, Slots: 6})
			assert.NilError(t, err)
			to := &receiver{to: srv, all: map[string]received{}}
			target, stop := inMemory(t, to)
			defer stop()
			samples := onePass(t, target, l)
			log := srv.Log()
			assert.Equal(t, len(log), len(samples))
			assert.Equal(t, len(to.all), len(samples))
			var classes [3][]sample.Sample
			for _, s := range samples {
				class, k := s.Request%3, s.Request/3
				assert.Equal(t, s.Class, l.Classes[class].Name)
				assert.Equal(t, k, len(classes[class]), "%+v", s)
				assert.Equal(t, to.all[s.ID], received{s.Class, class, fmt.Sprintf("%s request %d of many", s.Class, k)})
				assert.Equal(t, s.OutputTokens, 20+k*37%100)
				assert.Assert(t, s.Outcome == sample.OK && s.Until == warmup+duration && s.From == warmup && s.Due < s.Until, "%+v", s)
				assert.Equal(t, s.Scheduled, class == 2)
				classes[class] = append(classes[class], s)
			}
			checked, err := l.check()
			assert.NilError(t, err)
			assert.Equal(t, checked.Concurrency, 9)
			for i, one := range checked.loops() {
				if i < 2 {
					checkUsers(t, &one, classes[i])
					continue
				}
				due, err := arrivals.Schedule(l.Classes[i].Arrivals, 500)
				assert.NilError(t, err)
				assert.Assert(t, due[len(classes[i])] >= warmup+duration)
				for k, s := range classes[i] {
					assert.Equal(t, s.Due, due[k])
				}
			}
			grouped, err := checked.withGroups("mock")
			assert.NilError(t, err)
			figures := grouped.Figures(sample.All(samples...))
			tokens, rate := 0, 0.0
			for i, c := range l.Classes {
				m := sample.Summarize(sample.All(classes[i]...), duration, sample.SLO{}).Metrics
				for _, unit := range []string{"p50-ttft-ns", "p50-e2e-ns", "mean-tpot-ns", "req/s"} {
					assert.Equal(t, figures[c.Name+"-"+unit], m[unit], unit)
				}
				rate += figures[c.Name+"-output-tok/s"]
			}
			start := samples[slices.IndexFunc(samples, func(s sample.Sample) bool { return s.ID == log[0].ID })].Start
			for _, e := range log {
				for _, at := range e.Tokens {
					if at += start - log[0].Accepted; at >= warmup && at < warmup+duration {
						tokens++
					}
				}
			}
			assert.Assert(t, math.Abs(rate*duration.Seconds()-float64(tokens)) < 1e-6, "%v and %d tokens", rate*duration.Seconds(), tokens)
		})
	}
}

// TestClassPriority checks that the simulated server lets requests with a lower value of the priority go first, so that the classes show what a
// priority does to their TTFTs.
func TestClassPriority(t *testing.T) {
	ttft := func(cfg mockserver.Config, priority string) (chat, batch float64) {
		l := Load{Duration: 20 * time.Second}
		for name, users := range map[string]int{"chat": 2, "batch": 16} {
			all := endless(32, func(int) int { return 20 })
			mark := func(requests []Request) []Request {
				for i := range requests {
					requests[i].Body = json.RawMessage(strings.ReplaceAll(priority, "NAME", map[string]string{"chat": "-1", "batch": "1"}[name]))
				}
				return requests
			}
			l.Classes = append(l.Classes, Class{Name: name, Concurrency: users, Requests: mark(all.Requests), More: func(pass, part int) ([]Request, error) {
				more, err := all.More(pass, part)
				return mark(more), err
			}})
		}
		bubble(t, cfg, l, func(samples []sample.Sample, _ *mockserver.Server) {
			l, err := l.withGroups("mock")
			assert.NilError(t, err)
			figures := l.Figures(sample.All(samples...))
			chat, batch = figures["chat-p50-ttft-ns"], figures["batch-p50-ttft-ns"]
		})
		return chat, batch
	}
	for _, cfg := range []mockserver.Config{
		{TTFT: 100 * ms, PerToken: 10 * ms, Slots: 4},
		{Engine: &engine.Profile{Step: 10_000, Prefill: 20_000, MaxBatch: 4}},
	} {
		chat, batch := ttft(cfg, `{"temperature":0}`)
		first, last := ttft(cfg, `{"priority":NAME}`)
		assert.Assert(t, math.Abs(chat/batch-1) < 0.25, "%v and %v without a priority", chat, batch)
		assert.Assert(t, first < chat/2 && last > batch, "%v and %v with a priority, %v and %v without", first, last, chat, batch)
	}
}

// TestClassEndsSooner checks that a class without further requests ends, and the others go on.
func TestClassEndsSooner(t *testing.T) {
	l := mixed(10 * time.Second)
	l.Classes[0].More = nil
	bubble(t, mockserver.Config{TTFT: 200 * ms, PerToken: 10 * ms}, l, func(samples []sample.Sample, srv *mockserver.Server) {
		n := map[string]int{}
		last := map[string]time.Duration{}
		for _, s := range samples {
			n[s.Class]++
			last[s.Class] = max(last[s.Class], s.Start)
		}
		assert.Equal(t, n["chat"], 10)
		assert.Assert(t, n["ramp"] > 15 && n["rag"] > 20, "%v", n)
		assert.Assert(t, last["chat"] < 5*time.Second && last["ramp"] > 8*time.Second && last["rag"] > 8*time.Second, "%v", last)
	})
}

// TestClassUnits checks the units of classes.
func TestClassUnits(t *testing.T) {
	l := Load{Duration: time.Second, Classes: []Class{{Name: "Chat 1", SLO: sample.SLO{TTFT: time.Second}}, {Name: "batch"}}}
	l, err := l.withGroups("m")
	assert.NilError(t, err)
	var names []string
	for _, u := range l.Units {
		names = append(names, u.Name)
		assert.Assert(t, strings.HasPrefix(u.Means, "Of the requests of class "), u.Means)
	}
	assert.Assert(t, slices.Contains(names, "chat_1-good-req/s") && slices.Contains(names, "batch-p99-ttft-ns"), "%v", names)
	assert.Assert(t, !slices.Contains(names, "batch-good-req/s"), "%v", names)
}

// A twoShards is one of two processes.
type twoShards struct {
	process.Party
	index int
	want  []int // what each request should have, by its index
}

func (l *twoShards) Part() shard.Part { return shard.Part{Index: l.index, Count: 2} }
func (l *twoShards) Leads() bool      { return l.index == 0 }
func (l *twoShards) Verify(_ iter.Seq[*sample.Sample], n int, want func(int) int) error {
	for i := range n {
		l.want = append(l.want, want(i))
	}
	return nil
}

// TestVerifyClasses checks which requests the leader expects of the classes, and that it draws only those that it verifies: a slow
// class may have long prompts.
func TestVerifyClasses(t *testing.T) {
	draws := map[string]int{}
	l := Load{Duration: time.Second}
	for _, name := range []string{"fast", "slow"} {
		all := endless(2, func(int) int { return 20 })
		l.Classes = append(l.Classes, Class{Name: name, Concurrency: 2, Requests: all.Requests, More: func(pass, part int) ([]Request, error) {
			draws[name]++
			return all.More(pass, part)
		}})
	}
	l, err := l.check()
	assert.NilError(t, err)
	pl, err := passPlan(&l, Target{URL: "http://mem", Model: "m"}, 0)
	assert.NilError(t, err)
	var samples []sample.Sample
	var want []int
	for k := range 1000 { // request k of fast is request 2k of the pass
		samples = append(samples, sample.Sample{Request: 2 * k})
		want = append(want, 1, 0)
	}
	for k := range 3 {
		samples = append(samples, sample.Sample{Request: 2*k + 1})
		want[2*k+1] = 1
	}
	party := &twoShards{}
	m := &measurement{load: l, party: party}
	assert.NilError(t, m.verify(pl, sample.All(samples...)))
	assert.DeepEqual(t, party.want, want[:1999])
	assert.Assert(t, draws["fast"] > 10 && draws["slow"] < 3, "%v", draws)
}

// TestEndOfClasses checks that a process says which class had no further requests, and nothing of a class of which it has no user.
func TestEndOfClasses(t *testing.T) {
	l := Load{Duration: time.Second, Classes: []Class{{Name: "one", Concurrency: 1, Requests: words(4, 4)}, {Name: "two", Concurrency: 2, Requests: words(4, 4)}}}
	l, err := l.check()
	assert.NilError(t, err)
	pl, err := passPlan(&l, Target{URL: "http://mem", Model: "m"}, 0)
	assert.NilError(t, err)
	for n, want := range []string{1: "", 2: "pass 0: there were no requests of class two after the first 4, of which the last was sent after 1ms of 1s"} {
		var samples []sample.Sample
		for k := range n {
			samples = append(samples, sample.Sample{Shard: 1, Request: 2*(2*k+1) + 1, Start: time.Duration(k) * ms})
		}
		r := &run{measurement: &measurement{load: l, party: &twoShards{index: 1}}}
		r.tellEnd(0, pl, passResult{samples: sample.All(samples...)})
		var texts []string
		for _, note := range r.end.Notes {
			texts = append(texts, note.Text)
		}
		assert.Equal(t, strings.Join(texts, "; "), want)
	}
}

// TestUnreadClasses checks that figures of classes are withheld as the figures of all requests are, if answers may have text that was
// not read: also the rate of requests within a limit of the TTFT, and rates of tokens that the client counted.
func TestUnreadClasses(t *testing.T) {
	for _, tokens := range []int{0, 4} { // 0 means that the server does not count them
		var withheld []string
		l := Load{Duration: time.Minute, ClientBound: BoundWithheld, Withheld: func(units []string, why error) {
			if why == ErrUnread {
				withheld = units
			}
		}}
		for name, slo := range map[string]sample.SLO{"chat": {TTFT: time.Minute}, "batch": {E2E: time.Minute}} {
			l.Classes = append(l.Classes, Class{Name: name, Requests: words(20, 4), Concurrency: 1, SLO: slo})
		}
		result, err := Pass(t.Context(), "unread", chatServer(t, "stop", tokens, musing...), l)
		assert.Assert(t, result != nil && err != nil, "%v", err)
		assert.NilError(t, result.Close())
		for unit, want := range map[string]bool{"chat-p50-ttft-ns": true, "chat-good-req/s": true, "batch-good-req/s": false, "chat-req/s": false, "chat-output-tok/s": tokens == 0} {
			assert.Equal(t, slices.Contains(withheld, unit), want, "%d tokens, %s: %q", tokens, unit, withheld)
		}
	}
}

func TestInvalidClasses(t *testing.T) {
	one := []Request{{Prompt: "a", MaxTokens: 1}}
	chat := Class{Name: "chat", Requests: one, Concurrency: 1}
	for _, tt := range []struct {
		load Load
		err  string
	}{
		{Load{Classes: []Class{chat}}, "load: classes, duration 0s, warm-up of 0s: want a duration above 0, for which all classes are sent, and a warm-up of 0 or more"},
		{Load{Classes: []Class{chat}, Duration: 1, Requests: one}, "load: Classes, and Requests, Fresh or More beside them: want requests in the classes alone"},
		{Load{Classes: []Class{chat}, Duration: 1, Concurrency: 2}, "load: Classes, and Concurrency, Users, Arrivals or MaxInFlight beside them: want these in the classes alone"},
		{Load{Classes: []Class{{Requests: one, Concurrency: 1}}, Duration: 1}, `load: class "": want names that differ in letters, digits, dots, hyphens and underscores`},
		{Load{Classes: []Class{chat, {Name: "Chat", Requests: one, Concurrency: 1}}, Duration: 1}, `load: class "Chat": want names that differ in letters, digits, dots, hyphens and underscores`},
		{Load{Classes: []Class{{Name: "a", Concurrency: 1}}, Duration: 1}, "class a: load: no requests"},
		{Load{Classes: []Class{{Name: "a", Requests: one}}, Duration: 1}, "class a: load: neither Concurrency nor Users nor Arrivals is set: want one"},
		{Load{Classes: []Class{{Name: "a", Requests: one, Concurrency: 1, Arrivals: arrivals.Poisson{Rate: 1}}}, Duration: 1}, "class a: load: Arrivals are set, and so is Concurrency or Users: want only one of them"},
		{Load{Classes: []Class{{Name: "a", Requests: one, Concurrency: 2}}, Duration: 1}, "class a: load: 1 requests at concurrency 2: want at least as many"},
		{Load{Classes: []Class{{Name: "a", Requests: one, Users: ramp("1:2s")}}, Duration: time.Second}, "class a: load: users 1:2s, concurrency 1, duration 1s: want only users, who are at most 1 for 2s"},
		{Load{Classes: []Class{{Name: "a", Requests: one, Arrivals: arrivals.Poisson{Rate: 1}, More: func(int, int) ([]Request, error) { return nil, nil }}}, Duration: 1}, "class a: load: More and Arrivals: want More with Concurrency or Users"},
		{Load{Classes: []Class{{Name: "a", Requests: one, Concurrency: 1, SLO: sample.SLO{TTFT: 1}}}, Duration: 1, NoStream: true}, "class a: load: SLO ttft=1ns; answers that are not streamed have no TTFT and no TPOT"},
	} {
		_, err := tt.load.check()
		assert.Error(t, err, tt.err)
	}
	late := Load{Classes: []Class{{Name: "a", Requests: one, Arrivals: arrivals.Replay{At: []time.Duration{time.Second}}}}, Duration: time.Millisecond}
	late, err := late.check()
	assert.NilError(t, err)
	_, err = passPlan(&late, Target{URL: "http://mem", Model: "m"}, 0)
	assert.Error(t, err, "class a: load: no request is due before 1ms: want a higher rate, or a longer duration")
}

// TestRequestBody checks that the body of one request changes after the target's, by the same rules.
func TestRequestBody(t *testing.T) {
	target := Target{URL: "http://mem", Model: "m", Body: json.RawMessage(`{"priority":5,"temperature":0.5}`)}
	r := Request{Prompt: "a", MaxTokens: 1, Body: json.RawMessage(`{"priority":1,"stream_options":{"x":1}}`), Then: []Turn{{Prompt: "b", MaxTokens: 1}}}
	for _, l := range []Load{{}, {NoStream: true}} {
		p, err := checkRequest(&l, target, r)
		assert.NilError(t, err)
		next, err := p.Next(1, func(int) string { return "reply" })
		assert.NilError(t, err)
		for _, body := range [][]byte{p.Body, next.Body} {
			var members map[string]any
			assert.NilError(t, json.Unmarshal(body, &members))
			assert.Equal(t, members["priority"], 1.0)
			assert.Equal(t, members["temperature"], 0.5)
			_, has := members["stream_options"]
			assert.Equal(t, has, !l.NoStream)
		}
	}
	r.Body = json.RawMessage(`{"stream":true}`)
	_, err := checkRequest(&Load{}, target, r)
	assert.Error(t, err, `body: member "stream"; it must stay as it is: the load decides whether answers are streamed, and one answer is read for each request`)
	r.Body = json.RawMessage(`{"user_token":"sk-a-secret-of-a-tenant"}`)
	p, err := checkRequest(&Load{}, target, r)
	assert.NilError(t, err)
	assert.Equal(t, p.Secrets.Hide("invalid sk-a-secret-of-a-tenant"), "invalid [redacted]")
}
