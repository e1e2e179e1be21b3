package gatewaytest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/gatewaytest/internal/ask"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// A kit is a gateway between simulated upstreams and a client.
type kit struct {
	o         Options
	secrets   redact.Secrets // keys of the options, which findings do not show
	api       dialect.Dialect
	upstreams []*upstream
	plain     *mockserver.Server // answers requests that are not of the kit
	url       string             // of the gateway
	client    *http.Client
	tag       string // of all markers
	count     atomic.Int64
	exchanges sync.Map     // *exchange by marker
	hangs     atomic.Int64 // requests that hung
	holds     atomic.Int64 // streams that the gateway held back
	load      load

	unmeasured sync.Once // the fact that Options.Measure is nil
}

// newKit starts the upstreams, at the given addresses or at free ports. The options have their defaults. The caller must
// call close.
func newKit(o Options, addrs []string) (*kit, error) {
	secrets := redact.New(append(slices.Clone(o.Keys), o.UpstreamKey))
	k := &kit{o: o, secrets: secrets, plain: newServer(mockserver.Config{}, 1), tag: strconv.FormatUint(o.Seed, 36)}
	k.load.k = k
	k.api, _ = dialect.ByName(o.API) // checked
	// One transport for all requests, so that connections to the gateway are used again. It asks for no compression.
	k.client = &http.Client{
		Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for i := range o.Upstreams {
		u := &upstream{k: k, index: i, addr: "127.0.0.1:0"}
		if i < len(addrs) {
			u.addr = addrs[i]
		}
		if err := u.listen(); err != nil {
			k.close()
			return nil, fmt.Errorf("gatewaytest: upstream %d: %w", i+1, err)
		}
		k.upstreams = append(k.upstreams, u)
	}
	return k, nil
}

// urls returns the base URLs of the upstreams.
func (k *kit) urls() (urls []string) {
	for _, u := range k.upstreams {
		urls = append(urls, u.url)
	}
	return urls
}

// close stops the upstreams and closes connections.
func (k *kit) close() {
	k.load.stop()
	k.client.CloseIdleConnections()
	for _, u := range k.upstreams {
		u.kill()
	}
}

// The numbers of requests that have hung after which the kit waits less, and does not go on.
const (
	fewHangs  = 3
	manyHangs = 8
)

// wait returns the time in which a request must end.
func (k *kit) wait() time.Duration {
	if k.hangs.Load() >= fewHangs {
		return min(k.o.Wait, 2*longPause)
	}
	return k.o.Wait
}

// patience returns the time in which text must come through the gateway.
func (k *kit) patience() time.Duration {
	if k.holds.Load() >= fewHangs {
		return min(k.o.HoldWithin, longPause/4)
	}
	return k.o.HoldWithin
}

// key returns the key of a tenant.
func (k *kit) key(tenant int) string {
	if n := len(k.o.Keys); n > 0 {
		return k.o.Keys[tenant%n]
	}
	return fmt.Sprintf("key-of-tenant-%s-%d", k.tag, tenant)
}

// madeUp matches keys that the kit has made up.
var madeUp = regexp.MustCompile(`key-of-tenant-[0-9a-z]+-[0-9]+`)

// tenant returns the key of a tenant in a header, or "".
func (k *kit) tenant(h http.Header) string {
	for _, key := range k.o.Keys {
		if fieldWith(h, key) != "" {
			return key
		}
	}
	for _, values := range h {
		if key := madeUp.FindString(strings.Join(values, " ")); key != "" {
			return key
		}
	}
	return ""
}

// dialectOf returns the API of the request that came to an upstream.
func (k *kit) dialectOf(a *attempt) dialect.Dialect {
	if d, err := dialect.ByName(ask.Of(a.uri)); err == nil {
		return d
	}
	return k.api
}

// translated reports whether the gateway translates requests into another API.
func (x *exchange) translated() bool {
	a := x.last()
	return a != nil && x.k.dialectOf(a).Name() != x.k.api.Name()
}

// ready waits until the gateway answers, and returns a finding if it does not answer the simplest requests.
func (k *kit) ready() *Finding {
	deadline := time.Now().Add(k.o.Wait)
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		var why [2]string
		for i, stream := range []bool{false, true} {
			x := k.newExchange(plan{stream: stream}, k.key(0))
			x.do(context.Background())
			in := x.client()
			if why[i] = in.failure(); in.status == http.StatusOK {
				return nil
			}
			if time.Now().After(deadline) {
				f := x.say("no-answer", "the gateway did not answer the simplest request within %v: not streamed: %s; streamed: %s. No case was run", k.o.Wait, why[0], cmp.Or(why[1], "not tried"))
				f.Class, f.Case, f.Seed = started, "answers", k.o.Seed
				k.hideKeys(&f)
				return &f
			}
		}
		time.Sleep(pause)
	}
}

// run runs a case: alone, and if nothing is wrong then, beside streams.
func (k *kit) run(c testCase) Result {
	began := time.Now()
	waited := k.usable()
	r := k.beside(c, 0)
	if waited > time.Second {
		r.Facts = append(r.Facts, fmt.Sprintf("after the case before, the gateway answered an ordinary request only after %v", waited.Round(time.Millisecond)))
	}
	if !r.Failed() && r.Skipped == "" && !c.alone {
		for streams := k.o.Streams; streams > 0; streams /= 2 {
			loaded := k.beside(c, streams)
			if !loaded.Failed() {
				r.Findings = append(r.Findings, loaded.Findings...) // which gaps declare
				break
			}
			r = loaded
		}
	}
	r.Class, r.Case, r.Does, r.Took = c.class, c.name, c.does, time.Since(began)
	return r
}

// usable waits until the gateway passes an ordinary request on, because a circuit breaker may keep upstreams out of use after
// a case in which they failed. It returns how long that took, at most RecoverWithin.
func (k *kit) usable() time.Duration {
	began := time.Now()
	for pause := 5 * time.Millisecond; time.Since(began) < k.o.RecoverWithin && k.hangs.Load() == 0; pause = min(2*pause, 500*time.Millisecond) {
		x := k.once(plan{})
		if in := x.client(); in.status == http.StatusOK {
			break
		}
		time.Sleep(pause)
	}
	return time.Since(began)
}

// beside runs a case once, while streams run.
func (k *kit) beside(c testCase, streams int) Result {
	k.load.start(streams)
	r := k.try(c)
	r.Findings = k.file(c.class, c.name, append(r.Findings, k.load.stop()...), streams)
	return r
}

// file completes findings of a case that was checked beside streams.
func (k *kit) file(class, name string, findings []Finding, streams int) []Finding {
	for i := range findings {
		f := &findings[i]
		f.Class, f.Case, f.Seed, f.Streams = class, name, k.o.Seed, streams
		f.Gap = k.o.gap(f.ID())
		k.hideKeys(f)
		if f.Rule == "hang" {
			k.hangs.Add(1)
		}
	}
	return findings
}

// hideKeys removes the keys of the options from a finding, which logs of CI show.
func (k *kit) hideKeys(f *Finding) {
	for _, text := range []*string{&f.Says, &f.In, &f.Out} {
		*text = k.secrets.Remove(*text)
	}
}

// try runs a case once.
func (k *kit) try(c testCase) Result {
	switch {
	case c.upstreams > len(k.upstreams):
		return Result{Skipped: fmt.Sprintf("it needs %d upstreams: Options.Upstreams is %d", c.upstreams, len(k.upstreams))}
	case k.hangs.Load() >= manyHangs:
		return Result{Skipped: fmt.Sprintf("the gateway hung in %d earlier cases", manyHangs)}
	}
	if why := k.unsupported(c.plan); why != "" {
		return Result{Skipped: why}
	}
	if c.run != nil {
		return c.run(k, c)
	}
	return judged(k, c)
}

// unsupported says why the API cannot have requests with a plan, or returns "".
func (k *kit) unsupported(p plan) string {
	x := &exchange{k: k, plan: p}
	if _, err := k.api.Body(x.query()); err != nil {
		return err.Error()
	}
	return ""
}

// stale returns the gaps that did not occur although all of their cases ran. ran has the results by the name of the case.
func (o Options) stale(results []Result) (stale []string) {
	for _, g := range o.Gaps {
		occurs, all := false, true
		for _, c := range cases {
			concerned := covers(caseOf(g), c.id())
			ran := false
			for _, r := range results {
				if r.Class+"/"+r.Case == c.id() {
					ran = r.Skipped == ""
					for _, f := range r.Findings {
						occurs = occurs || covers(g, f.ID())
					}
				}
			}
			all = all && (ran || !concerned)
		}
		if all && !occurs {
			stale = append(stale, g)
		}
	}
	return stale
}

// A load is streams that run beside a case.
type load struct {
	k      *kit
	cancel context.CancelFunc // nil while nothing runs
	wg     sync.WaitGroup
	mu     sync.Mutex
	found  []Finding // the first of each rule
}

// start starts n streams, each followed by another one.
func (l *load) start(n int) {
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	p := plan{stream: true, tokens: 24, config: mockserver.Config{PerToken: 3 * time.Millisecond}}
	for i := range n {
		first := l.k.newExchange(p, l.k.key(i))
		ended := make(chan struct{}) // the first stream
		l.wg.Go(func() {
			for x := first; ; x = l.k.newExchange(p, l.k.key(i)) {
				x.do(context.Background())
				l.add(append(judgeAlone(x), judgeSame(x)...))
				if x == first {
					close(ended)
				}
				if ctx.Err() != nil {
					return
				}
			}
		})
		select { // the case begins when all streams run
		case <-first.arrived:
		case <-ended:
		}
	}
}

// add keeps the first finding of each rule.
func (l *load) add(findings []Finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
next:
	for _, f := range findings {
		for _, o := range l.found {
			if o.Rule == "beside-"+f.Rule {
				continue next
			}
		}
		f.Rule, f.Says = "beside-"+f.Rule, "beside this case, an ordinary stream went wrong: "+f.Says
		l.found = append(l.found, f)
	}
}

// take returns what was wrong with the streams since the last call.
func (l *load) take() (found []Finding) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, l.found = l.found, nil
	return found
}

// stop ends the streams, and returns what was wrong with them.
func (l *load) stop() []Finding {
	if l.cancel == nil {
		return nil
	}
	l.cancel()
	l.wg.Wait()
	l.cancel = nil
	return l.take()
}
