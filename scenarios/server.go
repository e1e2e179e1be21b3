package scenarios

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/limits"
	"github.com/seed-2b9cec6d/llmbench/scenarios/internal/patient"
)

// A server is a target, together with how to count its tokens and how a scenario has to measure it.
type server struct {
	options Options // completed from the environment
	target  llmbench.Target
	counter
	limits    limits.Server // limits of the server, unless it is simulated or generates no text
	salt      uint64        // salt of random words; 0 means none
	answers   string        // LLMBENCH_ANSWERS
	shares    bool          // prompts of the data set in the options begin alike on purpose
	countsOut bool          // whether tokens also counts the output of a server that reports no usage
}

// connect returns target as a server. lengths says whether prompts must have given lengths, and text whether
// the server generates text. Errors end b.
func connect(b *testing.B, o Options, c config, target llmbench.Target, lengths, text bool) server {
	b.Helper()
	harness.Watch(b)
	s := server{options: o, target: target, salt: target.Salt(), answers: c.Answers, countsOut: text && (o.Tokenizer != nil || c.TokenizerFile != "" && !isServer(c.TokenizerFile))}
	tellTarget(target)
	stop := noteWhile(b, "asking the server how it counts tokens, and for its limits")
	var err error
	s.counter, err = newCounter(harness.Context(b), target, o, c.TokenizerFile, lengths, text, b.Logf)
	tellEstimates(b, s.tokens, target)
	if err == nil && text && !o.Simulated {
		s.limits = limits.Ask(harness.Context(b), target, !s.noProps, !s.noOllama)
	}
	if stop(); err != nil {
		b.Fatal(err)
	}
	return s
}

// mostTold is the largest number of scenarios whose names tellTarget says.
const mostTold = 4

// tellTarget says what is measured, and what comes before the first measured request.
func tellTarget(t llmbench.Target) {
	names := llmbench.Benchmarks()
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, "Benchmark")
	}
	what := strings.Join(names, ", ")
	if len(names) > mostTold {
		what = fmt.Sprintf("%d scenarios", len(names))
	}
	where := cmp.Or(t.URL, "a server")
	if t.Simulated {
		where = "a simulated server"
	}
	if t.Model != "" {
		where += ", model " + t.Model
	}
	if what != "" {
		where += ": " + what
	}
	harness.Tell("measuring " + where + ". Before the first measured request come questions to the server and a warm-up.")
}

// noteWhile prints what a benchmark is waiting for, after five seconds and then every thirty seconds, until
// stop is called. stop must be called before tb ends.
func noteWhile(tb testing.TB, what string) (stop func()) {
	tb.Helper()
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for next := 5 * time.Second; ; next = 30 * time.Second {
			select {
			case <-time.After(next):
				harness.Note(tb, what)
			case <-quit:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(quit); <-ended })
}

// full reports whether the full form is selected.
func (s server) full() bool { return s.options.Full == "1" }

// pick returns ifFull in the full form, and reduced otherwise. The value of quick, if there is one, takes the
// place of reduced on a simulated server.
func pick[T any](s server, ifFull, reduced T, quick ...T) T {
	switch {
	case s.full():
		return ifFull
	case len(quick) > 0 && s.quick():
		return quick[0]
	}
	return reduced
}

// concurrencies returns the concurrencies in the options, or own if there are none.
func (s server) concurrencies(own ...int) []int {
	if len(s.options.Concurrencies) > 0 {
		return s.options.Concurrencies
	}
	return own
}

// perUsers runs measure in a sub-benchmark for each number of users: the numbers in the options, or else own.
func (s server) perUsers(b *testing.B, own []int, measure func(b *testing.B, users int)) {
	all := s.concurrencies(own...)
	harness.Loads(b, len(all))
	for _, users := range all {
		b.Run(fmt.Sprintf("concurrency=%d", users), func(b *testing.B) { measure(b, users) })
	}
}

// requests returns the number of requests in the options, or own if it is not set.
func (s server) requests(own int) int { return cmp.Or(s.options.Requests, own) }

// run measures the server under l.
func (s server) run(b *testing.B, l llmbench.Load) *llmbench.Result {
	b.Helper()
	result := llmbench.Run(b, s.target, s.completed(b, l))
	if text := s.limits.Waited(l.Concurrency, result.All()); text != "" {
		b.Log(text)
	}
	return result
}

// completed returns l completed by the options, and notes which limits of the server it exceeds. It ends b if the server
// refuses requests of l because of their length.
func (s server) completed(b *testing.B, l llmbench.Load) llmbench.Load {
	b.Helper()
	if s.countsOut {
		l.Tokenizer = s.tokens
	}
	if s.unknown {
		l = withoutLengths(l)
	}
	l = s.checkFit(b, s.noteLimits(b, l))
	if s.options.MaxFail > 0 {
		l.MaxFail = s.options.MaxFail
	}
	if s.options.MaxShed > 0 {
		l.MaxShed = s.options.MaxShed
	}
	l.CommonTokens = s.template
	l.MeasuresCache = l.MeasuresCache || s.shares
	l.Timeout = cmp.Or(l.Timeout, s.options.Timeout)
	l.IdleTimeout = cmp.Or(l.IdleTimeout, s.options.IdleTimeout)
	return l
}

// noteLimits returns l with a hook that, before the first pass, prints which limits of the server l
// exceeds.
func (s server) noteLimits(b *testing.B, l llmbench.Load) llmbench.Load {
	noted := false
	return changed(l, func(requests []llmbench.Request) ([]llmbench.Request, error) {
		if !noted && len(requests) > 0 {
			noted = true
			for _, text := range s.limits.Exceeded(l.Concurrency, requests) {
				harness.Note(b, text)
			}
		}
		return requests, nil
	})
}

// checkFit ends b if the server certainly refuses requests of the warm-up of l because of their length. The returned load
// checks the requests of passes, too.
func (s server) checkFit(b *testing.B, l llmbench.Load) llmbench.Load {
	b.Helper()
	check := func(requests []llmbench.Request) ([]llmbench.Request, error) {
		if err := s.limits.CheckFit(requests, s.least); err != nil {
			return nil, fmt.Errorf("%s: %w", loadName(b.Name()), err)
		}
		return requests, nil
	}
	for _, requests := range [][]llmbench.Request{l.Warmup, l.Requests} {
		if _, err := check(requests); err != nil {
			b.Fatal(err)
		}
	}
	return changed(l, check)
}

// changed returns l with what change returns for the requests of each pass. An error of change for Requests is
// ignored.
func changed(l llmbench.Load, change func([]llmbench.Request) ([]llmbench.Request, error)) llmbench.Load {
	l.Requests, l.Fresh, l.More = changedRequests(l.Requests, l.Fresh, l.More, change)
	l.Classes = slices.Clone(l.Classes)
	for i := range l.Classes {
		c := &l.Classes[i]
		c.Requests, c.Fresh, c.More = changedRequests(c.Requests, c.Fresh, c.More, change)
	}
	return l
}

// changedRequests does what changed does for the requests of a load or of a class.
func changedRequests(requests []llmbench.Request, fresh func(pass int) ([]llmbench.Request, error), more func(pass, part int) ([]llmbench.Request, error), change func([]llmbench.Request) ([]llmbench.Request, error)) (
	_ []llmbench.Request, changedFresh func(int) ([]llmbench.Request, error), changedMore func(int, int) ([]llmbench.Request, error)) {
	if all, err := change(requests); err == nil {
		requests = all
	}
	if fresh != nil {
		changedFresh = func(pass int) ([]llmbench.Request, error) {
			requests, err := fresh(pass)
			requests, wrong := change(requests)
			return requests, cmp.Or(err, wrong)
		}
	}
	if more != nil {
		changedMore = func(pass, part int) ([]llmbench.Request, error) {
			requests, err := more(pass, part)
			requests, wrong := change(requests)
			return requests, cmp.Or(err, wrong)
		}
	}
	return requests, changedFresh, changedMore
}

// withoutLengths returns l with requests that have no intended prompt length.
func withoutLengths(l llmbench.Load) llmbench.Load {
	forget := func(requests []llmbench.Request) ([]llmbench.Request, error) {
		requests = slices.Clone(requests)
		for i := range requests {
			requests[i].PromptTokens = 0
			requests[i].Then = slices.Clone(requests[i].Then)
			for k := range requests[i].Then {
				requests[i].Then[k].PromptTokens = 0
			}
		}
		return requests, nil
	}
	l.Warmup, _ = forget(l.Warmup)
	return changed(l, forget)
}

// once sends r, which is similar to the requests that will be measured, and returns the sample of its first
// turn. If the server refuses r temporarily, once sends it again. If the server does not support such
// requests, once skips b. Any other failure ends b with an error.
func (s server) once(b *testing.B, r llmbench.Request) sample.Sample {
	b.Helper()
	var first sample.Sample
	last, err := patient.Send(harness.Context(b), b.Logf, func() (last sample.Sample, err error) {
		first, last, err = s.turns(harness.Context(b), b.Name()+"/asked-once", r)
		return last, err
	})
	if errors.Is(err, errors.ErrUnsupported) {
		harness.Skip(b, err.Error())
	}
	if err != nil {
		b.Fatal(err)
	}
	if last.Outcome != sample.OK {
		switch cmp.Or(last.ErrorStatus, last.Status) {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusNotImplemented:
			harness.Skip(b, fmt.Sprintf("the server refuses such a request: %v", last.Err))
		}
		b.Fatalf("a request that tests whether the server can serve such requests: %s: %v", last.Outcome, last.Err)
	}
	return first
}

// turns sends r, and returns the samples of its first turn and of the last turn that was sent.
func (s server) turns(ctx context.Context, name string, r llmbench.Request) (first, last sample.Sample, err error) {
	result, err := llmbench.Pass(ctx, name, s.target,
		llmbench.Load{Requests: []llmbench.Request{r}, Concurrency: 1, KeepText: true, ClientBound: llmbench.BoundReported})
	if err != nil {
		return first, last, err
	}
	defer result.Close()
	for turn := range result.All() {
		if turn.Turn == 0 {
			first = *turn
		}
		if last = *turn; turn.Outcome != sample.OK {
			break
		}
	}
	return first, last, nil
}

// withConfig returns s with additional configuration lines.
func (s server) withConfig(config map[string]string) server {
	all := map[string]string{}
	maps.Copy(all, s.target.Config)
	maps.Copy(all, config)
	s.target.Config = all
	return s
}

// prompts returns random prompts of in tokens, including the template, that request out tokens.
func (s server) prompts(in, out int, seed uint64) benchdata.Prompts {
	return benchdata.Prompts{Input: in, Output: out, Tokenizer: s.tokens, Template: s.template, Seed: seed, Salt: s.salt}
}

// A drawFunc returns n requests that depend on seed. Texts from a file also depend on target.Salt(seed), so
// that no benchmark finds texts of another benchmark in the server's cache.
type drawFunc func(n int, seed uint64) ([]llmbench.Request, error)

// drawPrompts returns a function that draws random prompts. Each prompt has input tokens, and its request asks
// for output tokens.
func (s server) drawPrompts(input, output int) drawFunc {
	return func(n int, seed uint64) ([]llmbench.Request, error) {
		return s.prompts(input, output, seed).Requests(n)
	}
}

// lengths returns the lengths of prompts and answers in the options, or else the scenario's own.
func (s server) lengths(input, output int) (in, out int) {
	return cmp.Or(s.options.Input, input), cmp.Or(s.options.Output, output)
}

// fresh sets the requests of l: each pass draws n new ones, after a warm-up with other requests; or as many as the time in
// the options needs, if there is one and the loop is closed. The seeds
// depend on the benchmark's name, so that no benchmark finds prompts of another benchmark in the server's
// cache. In the reduced form on a simulated server, the warm-up's answers are short, because only the
// client needs the warm-up.
func (s server) fresh(b *testing.B, l llmbench.Load, n, warmup int, draw drawFunc) llmbench.Load {
	b.Helper()
	seed := func(pass ...any) uint64 { // a hash, so that successive values of Seed have no prompts in common
		hash := fnv.New64a()
		fmt.Fprint(hash, b.Name(), " ", s.options.Seed, " ", fmt.Sprint(pass...))
		return hash.Sum64()
	}
	l, n = s.timed(l, n, func(n, pass, part int) ([]llmbench.Request, error) { return draw(n, seed(pass, " part ", part)) })
	l.Fresh = func(pass int) ([]llmbench.Request, error) { return draw(n, seed(pass)) }
	if warmup > 0 {
		var err error
		if l.Warmup, err = draw(warmup, seed(-1)); err != nil {
			b.Fatal(err)
		}
		if s.quick() {
			shorten(l.Warmup)
		}
	}
	return l
}

// The least number of requests that a load for a time draws at once. A file is read again for each part.
const (
	leastPart     = 256
	leastFilePart = 4096
)

// timed returns l, which has a concurrency if it is a closed loop, for the time in the options, and how many requests the
// first part of a pass has: n, or more. The function draw draws n requests of a further part, which is from 1 on.
func (s server) timed(l llmbench.Load, n int, draw func(n, pass, part int) ([]llmbench.Request, error)) (llmbench.Load, int) {
	if !s.options.isTimed() || l.Concurrency == 0 {
		return l, n
	}
	l.Duration, l.WarmupFor = cmp.Or(s.options.Duration, l.Users.Duration()), s.options.WarmupFor
	if s.options.Requests == 0 {
		if !l.CutSessions { // sessions are many requests each
			n = max(n, leastPart)
		}
		if _, path, _ := strings.Cut(s.options.Dataset, ":"); path != "" {
			n = max(n, leastFilePart)
		}
		l.More = func(pass, part int) ([]llmbench.Request, error) { return draw(n, pass, part) }
	}
	return l, n
}

// due returns how many requests of an open loop of a constant rate are due within the time in the options, at most as
// many as the options have.
func (s server) due(rate float64) int {
	n := dueWithin(rate, s.options.Duration)
	if most := s.options.Requests; most > 0 {
		n = min(n, most)
	}
	return n
}

// isTimed reports whether the options say how long a closed loop is.
func (o Options) isTimed() bool { return o.Duration > 0 || len(o.Users) > 0 }

// quick reports whether a scenario should take no longer than its results need. That is the case in the
// reduced form on a simulated server, because such a server's speed does not vary, unless the options say how long it is.
func (s server) quick() bool {
	return s.options.Simulated && s.options.Full == "" && !s.options.isTimed()
}

// fewest returns the number of requests for a closed loop. If the scenario need not be quick, it returns n.
// Otherwise it returns a smaller number if that is possible: each user sends at least rounds requests, all
// users send the same number, and all percentiles that can be computed from n requests can still be
// computed.
func (s server) fewest(n, users, rounds int) int {
	if !s.quick() || s.options.Requests > 0 || users == 0 {
		return n
	}
	least := max(3, rounds*users)
	for _, s := range []sample.Statistic{sample.P99, sample.P99Bound} {
		for s.Enough(n) && !s.Enough(least) {
			least += users
		}
	}
	return min(n, (least+users-1)/users*users)
}

// shorten shortens the answers to the requests of a warm-up.
func shorten(warmup []llmbench.Request) {
	for i := range warmup {
		warmup[i].MaxTokens = min(warmup[i].MaxTokens, 8)
	}
}

// toleratedCached is the tolerated share of the prompts' tokens that come from a cache, if prompts are
// meant to be new to the server.
const toleratedCached = 0.1

// checkCached returns an error if the server took a larger share of the prompts' tokens from its cache than
// toleratedCached.
func checkCached(samples iter.Seq[*sample.Sample], template int) error {
	if share := cachedShare(samples, template); share > toleratedCached {
		return fmt.Errorf("%.0f%% of the prompts' tokens were in the server's cache: want prompts that are new to the server: change LLMBENCH_SEED, or unset LLMBENCH_SALT", 100*share)
	}
	return nil
}

// cachedShare returns the share of the prompts' tokens that the server reports as cached. Tokens of the
// template, which all prompts have in common, do not count as cached.
func cachedShare(samples iter.Seq[*sample.Sample], template int) float64 {
	cached, all := 0, 0
	for s := range samples {
		if s.Outcome == sample.OK {
			cached += max(0, s.CachedTokens-template)
			all += s.PromptTokens
		}
	}
	return float64(cached) / float64(max(all, 1))
}
