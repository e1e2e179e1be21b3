package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
)

// prepareServe completes o by the defaults, and opens the data set to check that it can be used.
func prepareServe(o Options, _ config) (Options, error) {
	o = o.withServeDefaults()
	s := server{options: o}
	data, err := s.dataset(0, 0)
	if err != nil {
		return o, err
	}
	if o.MaxInFlight < 0 || o.MaxInFlight > 0 && o.closedLoop(data) {
		return o, fmt.Errorf("LLMBENCH_MAX_IN_FLIGHT=%d: want at least 1, with LLMBENCH_RATE or a trace: a closed loop keeps LLMBENCH_CONCURRENCY requests in flight", o.MaxInFlight)
	}
	if o.WarmupFor > 0 && len(o.Rates)+len(o.Stages) == 0 && !o.closedLoop(data) {
		return o, fmt.Errorf("LLMBENCH_WARMUP=%v: want a number of requests: the replay of a trace without LLMBENCH_CONCURRENCY is an open loop", o.WarmupFor)
	}
	if most := slices.Max(o.serveUsers()); o.closedLoop(data) && o.Requests > 0 && o.Requests < most {
		return o, fmt.Errorf("LLMBENCH_REQUESTS=%d: want at least %d, the largest concurrency", o.Requests, most)
	}
	return o, nil
}

// closedLoop reports whether Serve sends data in a closed loop. Without a concurrency, a trace has its own arrivals.
func (o Options) closedLoop(data benchdata.Workload) bool {
	_, isTrace := data.(benchdata.Trace)
	return len(o.Rates) == 0 && len(o.Stages) == 0 && (!isTrace || len(o.Concurrencies)+len(o.Users) > 0)
}

// serveUsers returns the concurrencies in the options. If there are none, it returns those of 1, 4, 16 and 64 for which
// there are enough requests.
func (o Options) serveUsers() []int {
	if len(o.Concurrencies) > 0 {
		return o.Concurrencies
	}
	users := []int{1, 4, 16, 64}
	for o.Requests > 0 && len(users) > 1 && o.Requests < users[len(users)-1] {
		users = users[:len(users)-1]
	}
	return users
}

// quadrupleGain is the gain at which quadrupling the users no longer raises the throughput: that of two doublings that each
// gain saturationGain.
const quadrupleGain = (1+saturationGain)*(1+saturationGain) - 1

// serve measures the load that the options describe: a closed loop at each of the concurrencies, an open
// loop at each of the rates or in stages, or the replay of a trace.
func serve(b *testing.B, s server) {
	o := s.options
	s = s.withConfig(configLines(o))
	b.Run(fmt.Sprintf("workload=%s/stream=%t", workloadName(o), !o.NoStream), func(b *testing.B) {
		data, err := s.dataset(0, 0)
		if err != nil {
			b.Fatal(err)
		}
		switch {
		case len(o.Users) > 0:
			s.serveUsers(b)
		case o.closedLoop(data):
			s.serveClosedLoop(b)
		case len(o.Stages) > 0:
			s.serveStages(b)
		case len(o.Rates) > 0:
			harness.Loads(b, len(o.Rates))
			for _, rate := range o.Rates {
				b.Run(fmt.Sprintf("rate=%g", rate), func(b *testing.B) { s.serveRate(b, rate) })
			}
		default:
			t := data.(benchdata.Trace)
			b.Run(fmt.Sprintf("speed=%g", cmp.Or(t.Speed, 1)), func(b *testing.B) { s.serveTrace(b, t) })
		}
	})
}

// serveClosedLoop measures closed loops. If the options have no concurrencies, it skips those at which a server that is not
// simulated would only let more users wait, except in a comparison.
func (s server) serveClosedLoop(b *testing.B) {
	stops := len(s.options.Concurrencies) == 0 && !s.options.Simulated && os.Getenv(env.Comparison) == ""
	w := &sweeper{points: map[int][]point{}}
	s.perUsers(b, s.options.serveUsers(), func(b *testing.B, users int) {
		// The points of a repetition of -count are no reason to skip the next repetition.
		if stops && w.points[users] == nil && w.saturated(quadrupleGain) {
			last := w.loads[len(w.loads)-1]
			all := strings.ReplaceAll(strings.Trim(fmt.Sprint(s.options.serveUsers()), "[]"), " ", ",")
			harness.Skip(b, fmt.Sprintf("%d users got less than %.0f %% more output-tok/s than %d, so that more users would only wait; LLMBENCH_CONCURRENCY=%s measures them, too",
				last, 100*quadrupleGain, w.loads[len(w.loads)-2], all))
		}
		l := s.serveLoad(b, llmbench.Load{Concurrency: users}, s.requests(s.fewest(max(16, 8*users), users, 4)), 2*users)
		w.add(users, s.run(b, l))
	})
}

// serveRate measures an open loop.
func (s server) serveRate(b *testing.B, rate float64) {
	n := s.requests(max(16, int(8*rate)))
	if s.options.Duration > 0 {
		n = s.due(rate)
	}
	l := s.serveLoad(b, llmbench.Load{Arrivals: arrivals.Poisson{Rate: rate, Seed: s.options.Seed}}, n, 2)
	if shape := s.options.Burstiness; shape != 1 {
		l.Arrivals = arrivals.Gamma{Rate: rate, Shape: shape, Seed: s.options.Seed}
	}
	s.run(b, l)
}

// serveUsers measures a closed loop whose number of users changes. The benchmark's name ends with the largest number.
func (s server) serveUsers(b *testing.B) {
	users := s.options.Users
	most := users.Most()
	b.Run(fmt.Sprintf("stages=%s/concurrency=%d", stagesName(users), most), func(b *testing.B) {
		s.run(b, s.serveLoad(b, llmbench.Load{Concurrency: most, Users: users}, max(16, 8*most), 2*most))
	})
}

// stagesName returns the value of stages= in the benchmark's name.
func stagesName(stages []arrivals.Stage) string {
	var parts []string
	for _, stage := range stages {
		parts = append(parts, llmbench.NameValue(stage.String()))
	}
	return strings.Join(parts, "-")
}

// serveStages measures an open loop whose rate changes. The benchmark's name ends with the mean rate.
func (s server) serveStages(b *testing.B) {
	o := s.options
	staged := arrivals.Stages{Stages: o.Stages, Shape: o.Burstiness, Seed: o.Seed}
	n, err := staged.Requests()
	if err != nil {
		b.Fatal(err)
	}
	b.Run(fmt.Sprintf("stages=%s/rate=%.4g", stagesName(o.Stages), staged.MeanRate()), func(b *testing.B) {
		s.run(b, s.serveLoad(b, llmbench.Load{Arrivals: staged}, s.requests(n), 2))
	})
}

// serveTrace replays a trace.
func (s server) serveTrace(b *testing.B, t benchdata.Trace) {
	n := s.requests(64)
	if s.options.Duration > 0 {
		n = s.options.Requests // 0 means all
	}
	replay, err := t.Replay(n)
	if err != nil {
		b.Fatal(fmt.Errorf("LLMBENCH_DATASET: %w", err))
	}
	if d := s.options.Duration; d > 0 {
		n = 0
		for n < len(replay.At) && float64(replay.At[n])/cmp.Or(t.Speed, 1) < float64(d) {
			n++
		}
		replay.At = replay.At[:n]
	}
	s.run(b, s.serveLoad(b, llmbench.Load{Arrivals: replay}, n, 2))
}

// workloadName returns the value of workload= in the benchmark's name.
func workloadName(o Options) string {
	if o.Dataset == "random" {
		return fmt.Sprintf("random-%dx%d", o.Input, o.Output)
	}
	return kindOf(o.Dataset)
}

// dataset opens the data set in the options.
func (s server) dataset(seed, salt uint64) (benchdata.Workload, error) {
	o := s.options
	open := func(input, output int) (benchdata.Workload, error) {
		return benchdata.Open(o.Dataset, benchdata.Options{
			Input: input, Output: output, FixedOutput: output > 0, Seed: seed, Salt: salt, Template: s.template, Tokenizer: s.tokens,
		})
	}
	w, err := open(o.Input, o.Output)
	switch d := w.(type) { // the same drawn lengths in all loads and passes, with other words
	case benchdata.Drawn:
		d.Seed, d.Salt = o.Seed, salt^seed
		w = d
	case benchdata.Random:
		d.Seed, d.Salt = o.Seed, salt^seed
		w = d
	}
	if err == nil {
		return w, nil
	}
	name := "LLMBENCH_DATASET"
	if _, other := open(0, o.Output); other == nil {
		name = "LLMBENCH_INPUT"
	} else if _, other := open(o.Input, 0); other == nil {
		name = "LLMBENCH_OUTPUT"
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

// serveLoad returns l, which has a concurrency or arrivals, with all else that the options describe. n and warmup are the
// numbers of requests; the options may set another warmup, or a time.
func (s server) serveLoad(b *testing.B, l llmbench.Load, n, warmup int) llmbench.Load {
	b.Helper()
	harness.Watch(b)
	if err := context.Cause(harness.Context(b)); err != nil {
		b.Fatal(fmt.Errorf("not begun: %w", err)) // the tokenizer of the server would fail, and the data set would seem to be the reason
	}
	o := s.options
	switch {
	case o.Warmup != 0:
		warmup = max(o.Warmup, 0)
	case o.WarmupFor > 0:
		warmup = 2 // which show how long a request takes
	}
	l.NoStream, l.SLO, l.Cancel, l.Models = o.NoStream, o.Limits, o.Cancel, modelsOf(o.Mix)
	l.Cancel.Seed = o.Seed
	l.MaxInFlight = o.MaxInFlight // 0 in a closed loop; see prepareServe
	seed, err := s.datasetSeed(b.Name())
	if err != nil {
		b.Fatal(err)
	}
	least := max(n, warmup) // some data sets require a minimum number of requests, which a warm-up may not reach
	logged := false
	l, n = s.timed(l, n, func(n, pass, part int) ([]llmbench.Request, error) {
		if logged { // the data set does not repeat
			return nil, nil
		}
		return s.drawDataset(n, seed+uint64(pass)+1+uint64(part)<<32, s.target.Salt(b.Name(), pass, part))
	})
	l.Fresh = func(pass int) ([]llmbench.Request, error) {
		requests, err := s.drawDataset(n, seed+uint64(pass)+1, s.target.Salt(b.Name(), pass))
		if err == nil && len(requests) < n && !logged {
			logged = true
			b.Logf("asked for %d requests, the data set has %d", n, len(requests))
		}
		return requests, err
	}
	if warmup > 0 {
		all, err := s.drawDataset(least, seed, s.target.Salt(b.Name(), "warm-up"))
		if err != nil {
			b.Fatal(err)
		}
		l.Warmup = all[:min(warmup, len(all))]
		if o.Simulated && o.Warmup == 0 && !o.isTimed() {
			shorten(l.Warmup)
		}
	}
	return l
}

// datasetSeed returns the seed of a benchmark's requests, to which each pass adds its number. For generated
// texts the seed depends on the benchmark's name, so that no benchmark finds its texts in the server's
// cache. For texts from a file it does not: two loads get the same questions, and only their first words
// differ, because they depend on the salt.
func (s server) datasetSeed(benchmark string) (uint64, error) {
	data, err := s.dataset(0, 0)
	if err != nil {
		return 0, err
	}
	seed := s.options.Seed
	_, isTrace := data.(benchdata.Trace)
	if isTrace || pathOf(s.options.Dataset) == "" {
		hash := fnv.New64a()
		hash.Write([]byte(benchmark))
		seed += hash.Sum64()
	}
	return seed, nil
}

// drawDataset returns n requests of the data set, or fewer if it has fewer.
func (s server) drawDataset(n int, seed, salt uint64) ([]llmbench.Request, error) {
	w, err := s.dataset(seed, salt)
	if err != nil {
		return nil, err
	}
	mixed := w
	if len(s.options.Mix) > 0 {
		mixed = benchdata.Mix{Of: w, Shares: s.options.Mix, Seed: seed}
	}
	requests, err := mixed.Requests(n)
	if err != nil {
		return nil, fmt.Errorf("LLMBENCH_DATASET: %w", err)
	}
	switch w.(type) {
	case benchdata.Questions, benchdata.ShareGPT, benchdata.Bodies: // the texts determine the lengths
		return s.templated(requests, nil)
	}
	return requests, nil
}

// configLines returns configuration lines for the options that results must have in common to be
// comparable, and that the benchmark's name does not contain.
func configLines(o Options) map[string]string {
	config := map[string]string{}
	set := func(key, value string) {
		if value != "" && value != "0" {
			config[key] = value
		}
	}
	set("dataset", datasetLine(o.Dataset))
	set("dataset-entropy", entropyText(o.Dataset))
	if o.Dataset != "random" { // for random, workload= contains the lengths
		set("dataset-input", strconv.Itoa(o.Input))
		set("dataset-output", strconv.Itoa(o.Output))
	}
	set("mix", mixText(o.Mix))
	set("max-in-flight", strconv.Itoa(o.MaxInFlight))
	set("cancel", o.Cancel.String())
	if o.Burstiness != 1 {
		config["burstiness"] = strconv.FormatFloat(o.Burstiness, 'g', -1, 64)
	}
	return config
}

// modelsOf returns the models of a mix.
func modelsOf(mix []benchdata.Share) (models []string) {
	for _, s := range mix {
		if s.Model != "" && !slices.Contains(models, s.Model) {
			models = append(models, s.Model)
		}
	}
	return models
}

// mixText returns a mix in the form of LLMBENCH_MIX.
func mixText(mix []benchdata.Share) string {
	var parts []string
	for _, s := range mix {
		parts = append(parts, fmt.Sprintf("%s=%g", s.Model, s.Weight))
	}
	return strings.Join(parts, ",")
}
