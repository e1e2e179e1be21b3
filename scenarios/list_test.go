package scenarios

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/container"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"github.com/seed-2b9cec6d/llmbench/mockserver/router"
)

// These benchmarks run the catalogue on the servers that the environment names. For some scenarios
// the simulated server is not the default one.

func BenchmarkAccuracy(b *testing.B)         { list(b, Options.Accuracy, nil) }
func BenchmarkAgent(b *testing.B)            { list(b, Options.Agent, nil) }
func BenchmarkAgreement(b *testing.B)        { list(b, Options.Agreement, nil) }
func BenchmarkChat(b *testing.B)             { list(b, Options.Chat, nil) }
func BenchmarkCodeQA(b *testing.B)           { list(b, Options.CodeQA, nil) }
func BenchmarkConcurrency(b *testing.B)      { list(b, Options.Concurrency, nil) }
func BenchmarkDecode(b *testing.B)           { list(b, Options.Decode, nil) }
func BenchmarkEmbeddings(b *testing.B)       { list(b, Options.Embeddings, nil) }
func BenchmarkFairness(b *testing.B)         { list(b, Options.Fairness, withOneSlot) }
func BenchmarkInterference(b *testing.B)     { list(b, Options.Interference, withEngine) }
func BenchmarkLengthGrid(b *testing.B)       { list(b, Options.LengthGrid, nil) }
func BenchmarkLongContext(b *testing.B)      { list(b, Options.LongContext, nil) }
func BenchmarkMixedLoad(b *testing.B)        { list(b, Options.MixedLoad, withEightSlots) }
func BenchmarkMultiTurn(b *testing.B)        { list(b, Options.MultiTurn, nil) }
func BenchmarkOpenQA(b *testing.B)           { list(b, Options.OpenQA, nil) }
func BenchmarkPrefill(b *testing.B)          { list(b, Options.Prefill, nil) }
func BenchmarkPrefixCache(b *testing.B)      { list(b, Options.PrefixCache, withPrefixCache) }
func BenchmarkReasoning(b *testing.B)        { list(b, Options.Reasoning, withReasoning) }
func BenchmarkRerank(b *testing.B)           { list(b, Options.Rerank, nil) }
func BenchmarkSLO(b *testing.B)              { list(b, Options.SLO, withEightSlots) }
func BenchmarkShedding(b *testing.B)         { list(b, Options.Shedding, withFullQueue) }
func BenchmarkServe(b *testing.B)            { list(b, Options.Serve, nil) }
func BenchmarkShareGPT(b *testing.B)         { list(b, Options.ShareGPT, nil) }
func BenchmarkStructuredOutput(b *testing.B) { list(b, Options.StructuredOutput, nil) }
func BenchmarkSweep(b *testing.B)            { list(b, Options.Sweep, withEightSlots) }
func BenchmarkToolCalls(b *testing.B)        { list(b, Options.ToolCalls, nil) }
func BenchmarkTrace(b *testing.B)            { list(b, Options.Trace, nil) }

// BenchmarkRouting measures the three reference routers in front of four simulated servers, or the router
// that the environment names.
func BenchmarkRouting(b *testing.B) {
	cfg, servers := environment(b)
	if !cfg.OnlyMock() {
		list(b, Options.Routing, nil)
		return
	}
	c, err := mockserver.Load(servers[0].Backend.(backends.Mock).Profile)
	if err != nil {
		b.Fatal(err)
	}
	withPrefixCache(&c)
	for _, name := range slices.Sorted(maps.Keys(router.Policies())) {
		b.Run("backend=fleet/"+modelName(cfg, "mock")+"/router="+name, func(b *testing.B) {
			target := backends.Fleet{Replicas: []mockserver.Config{c, c, c, c}, Policy: router.Policies()[name]}.Start(b)
			Options{Simulated: true}.Routing(b, target)
		})
	}
}

// BenchmarkGateway measures what the gateway that the environment names carries in front of the server at LLMBENCH_DIRECT.
// Without LLMBENCH_DIRECT, it measures a reverse proxy in this process in front of the server that the environment names.
func BenchmarkGateway(b *testing.B) { inFront(b, gatewayLoad, withPacedStreams, Options.gatewayNamed) }

// BenchmarkGatewayOverhead measures what the gateway that the environment names adds to the server at
// LLMBENCH_DIRECT. Without LLMBENCH_DIRECT, it measures what a reverse proxy in this process adds to the server that
// the environment names.
func BenchmarkGatewayOverhead(b *testing.B) { inFront(b, gatewayOverhead, nil, Options.addedBy) }

// inFront runs a scenario that has a server and a gateway in front of it as its targets.
func inFront(b *testing.B, sc Scenario, adapt func(*mockserver.Config), measure func(o Options, b *testing.B, direct, through llmbench.Target, name string)) {
	cfg, servers := environment(b)
	if _, err := sc.config(); err != nil {
		b.Fatal(err)
	}
	for _, backend := range servers {
		b.Run("backend="+llmbench.NameValue(backend.Name), func(b *testing.B) {
			if cfg.Direct != "" {
				direct, through := behindGateway(b, cfg, backend)
				b.Run(modelName(cfg, through.Model), func(b *testing.B) { measure(Options{}, b, direct, through, "gateway") })
				return
			}
			direct := start(b, backend, adapt)
			b.Run(modelName(cfg, direct.Model), func(b *testing.B) {
				if !strings.HasPrefix(direct.URL, "http://") {
					harness.Skip(b, "the reverse proxy needs a server with an http URL")
				}
				r, err := router.New(&router.RoundRobin{}, direct.URL)
				if err != nil {
					b.Fatal(err)
				}
				front := httptest.NewUnstartedServer(r)
				front.Config.Protocols = new(http.Protocols)
				front.Config.Protocols.SetHTTP1(true)
				front.Config.Protocols.SetUnencryptedHTTP2(true) // LLMBENCH_HTTP=2 applies to the proxy; the server gets HTTP/1.1
				front.Start()
				b.Cleanup(front.Close)
				through := direct
				through.URL, through.Observe, through.ObserveGateway, through.Truth = front.URL, nil, nil, nil
				if cfg.URL != "" {
					harness.Note(b, sc.Name+" measures a reverse proxy of its own in front of LLMBENCH_URL; LLMBENCH_DIRECT=http://server measures the gateway at LLMBENCH_URL")
				}
				measure(Options{Simulated: isMock(backend)}, b, direct, through, "reference-proxy")
			})
		})
	}
}

// behindGateway starts or finds a gateway, and the server at LLMBENCH_DIRECT. Counters and caches are the server's.
func behindGateway(b *testing.B, cfg backends.Config, gateway backends.Named) (direct, through llmbench.Target) {
	if u, runs := gateway.Backend.(backends.URL); runs {
		u.MetricsURLs, u.NoMetrics, u.ResetCache = nil, true, false
		gateway.Backend = u
	}
	if p, starts := gateway.Backend.(backends.Process); starts {
		p.MetricsURLs = nil
		gateway.Backend = p
	}
	direct = backends.Behind(cfg).Start(b)
	return direct, gateway.Start(b)
}

// BenchmarkColdStart needs a server that the benchmark can start: in a container, or as a program of this machine.
func BenchmarkColdStart(b *testing.B) {
	cfg, servers := environment(b)
	if _, err := coldStart.config(); err != nil {
		b.Fatal(err)
	}
	for _, backend := range servers {
		b.Run("backend="+llmbench.NameValue(backend.Name), func(b *testing.B) {
			var start func(testing.TB) backends.ColdStart
			unset := "mock" // only of the simulated server need the model not be set, and of a program, which lists its only one
			switch launched := backend.Backend.(type) {
			case container.Backend:
				start = func(tb testing.TB) backends.ColdStart { return container.Cold(tb, launched.Server) }
			case backends.Process:
				start, unset = launched.Cold, "listed"
			default:
				harness.Skip(b, backend.Name+" is neither a program that is started nor in a container")
			}
			b.Run(modelName(cfg, cmp.Or(cfg.Model, unset)), func(b *testing.B) {
				ColdStart(b, func(b *testing.B) Start {
					cold := start(b)
					return Start{Ready: cold.Ready, FirstToken: cold.FirstToken, Target: cold.Target}
				})
			})
		})
	}
}

// list runs the scenario that b is named after, on each server that the environment names. If adapt
// is not nil, it changes the configuration of the simulated server in this process.
func list(b *testing.B, run func(Options, *testing.B, llmbench.Target), adapt func(*mockserver.Config)) {
	sc := scenario(strings.TrimPrefix(b.Name(), "Benchmark"))
	cfg, servers := environment(b)
	var nothing error
	count := 0
	for _, backend := range servers {
		err := sc.Check(Options{Simulated: isMock(backend)})
		if errors.Is(err, ErrNothing) {
			nothing = err
			count++
		} else if err != nil {
			harness.Watch(b)
			b.Fatal(err)
		}
	}
	if count == len(servers) { // no server need be started
		harness.Skip(b, nothing.Error())
	}
	for _, backend := range servers {
		if err := context.Cause(harness.Context(b)); err != nil {
			b.Fatal(err)
		}
		b.Run("backend="+llmbench.NameValue(backend.Name), func(b *testing.B) {
			target := start(b, sc.asked(backend), adapt)
			b.Run(modelName(cfg, target.Model), func(b *testing.B) {
				run(Options{Simulated: isMock(backend)}, b, target)
			})
		})
	}
}

// asked returns the backend, which is ready when it answers the requests of sc.
func (sc Scenario) asked(backend backends.Named) backends.Named {
	if sc.items == nil {
		return backend
	}
	switch server := backend.Backend.(type) {
	case backends.URL:
		if _, own := server.Dialect.(dialect.ItemsDialect); !own {
			server.Items = sc.items
		}
		backend.Backend = server
	case backends.Process:
		if _, own := server.Dialect.(dialect.ItemsDialect); !own {
			server.Items = sc.items
		}
		backend.Backend = server
	}
	return backend
}

// readConfig reads the process's environment. It checks the variables of all packages in the process, and
// returns an error that names each variable that cannot be used.
func readConfig() (config, error) {
	environ := os.Environ()
	if err := env.Check(environ); err != nil {
		return config{}, err
	}
	return parseConfig(environ)
}

// environment returns the servers that the environment names, and what its variables say about
// them. If a variable is wrong, b ends.
func environment(b *testing.B) (backends.Config, []backends.Named) {
	b.Helper()
	harness.Watch(b)       // so that a pattern that selects no sub-benchmark is told
	_, err := readConfig() // this also checks the variables of all packages
	if err != nil {
		b.Fatal(err)
	}
	cfg, all, err := servers(os.Environ())
	if err != nil {
		b.Fatal(err)
	}
	return cfg, all
}

// servers returns the servers that environ names, and what its variables say about them.
func servers(environ []string) (backends.Config, []backends.Named, error) {
	r := env.NewReader(environ)
	cfg := backends.ReadFrom(r)
	if cfg.OnlyMock() { // for the simulated server every word is a token
		r.Requires("LLMBENCH_TOKENIZER", "LLMBENCH_URL")
	}
	if err := r.Err(); err != nil {
		return cfg, nil, err
	}
	all, err := backends.FromConfig(cfg, container.New)
	return cfg, all, err
}

func TestServers(t *testing.T) {
	_, all, err := servers([]string{"LLMBENCH_URL=http://x", "LLMBENCH_NAME=y", "LLMBENCH_TOKENIZER=t.json"})
	assert.NilError(t, err)
	assert.Equal(t, len(all), 1)
	assert.Equal(t, all[0].Name, "y")
	for environ, want := range map[string]string{
		"LLMBENCH_TOKENIZER=t.json": "LLMBENCH_TOKENIZER: means nothing without LLMBENCH_URL",
		"LLMBENCH_MOCK=speed=0":     "LLMBENCH_MOCK=speed=0: want",
	} {
		_, _, err := servers([]string{environ})
		assert.ErrorContains(t, err, want)
	}
}

// start starts a server. The results have the configuration lines of the server that the
// environment describes. So they can be compared with the results of other runs of this code,
// whatever adapt does.
func start(b *testing.B, backend backends.Named, adapt func(*mockserver.Config)) llmbench.Target {
	b.Helper()
	target := backend.Start(b)
	mock, inProcess := backend.Backend.(backends.Mock)
	if !inProcess {
		return target
	}
	target.Truth.Next = nextStep()
	if adapt == nil {
		return target
	}
	c, err := mockserver.Load(mock.Profile)
	if err != nil {
		b.Fatal(err)
	}
	adapt(&c)
	mock.Config = &c
	adapted := mock.Start(b)
	adapted.Config = target.Config
	adapted.Truth.Next = nextStep()
	return adapted
}

// nextStep says what comes after a measurement of the simulated server.
func nextStep() string {
	command := "go test -run='^$' -bench=Serve -benchtime=1x ./scenarios"
	if isCommand(os.Args[0]) {
		command = os.Args[0] + " -bench=Serve"
	}
	return "LLMBENCH_URL=http://127.0.0.1:8000 " + command + " measures a server that runs"
}

// modelName returns the part of a benchmark's name that identifies the model.
func modelName(cfg backends.Config, model string) string {
	name := "model=" + llmbench.NameValue(model)
	if cfg.Quant != "" {
		name += "/quant=" + llmbench.NameValue(cfg.Quant)
	}
	return name
}

// isMock reports whether a backend is the simulated server.
func isMock(b backends.Named) bool {
	switch b := b.Backend.(type) {
	case backends.Mock:
		return true
	case container.Backend:
		_, ok := b.Server.(backends.MockContainer)
		return ok
	}
	return false
}

// withEngine gives the simulated server an engine as fast as the default server if it has no engine.
func withEngine(c *mockserver.Config) {
	if c.Engine == nil {
		*c = mockserver.PrefixCaching()
		c.Engine.PrefixCache = false
	}
}

// withPrefixCache gives the simulated server a prefix cache, and an engine.
func withPrefixCache(c *mockserver.Config) {
	withEngine(c)
	e := *c.Engine
	e.PrefixCache = true
	c.Engine = &e
}

// withOneSlot replaces the default server by a server that serves one request at a time.
func withOneSlot(c *mockserver.Config) {
	if reflect.DeepEqual(*c, mockserver.Default()) {
		*c = mockserver.Config{TTFT: 2 * time.Millisecond, PerToken: 100 * time.Microsecond, Slots: 1}
	}
}

// withFullQueue gives the simulated server an engine with a small batch and a short queue, unless its
// profile has an engine.
func withFullQueue(c *mockserver.Config) {
	if c.Engine == nil {
		*c = mockserver.Config{Engine: &engine.Profile{Step: 2000, Prefill: 2000, MaxBatch: 8, MaxQueue: 8}, FullStatus: 429}
	}
}

// withReasoning makes the simulated server send reasoning before each answer.
func withReasoning(c *mockserver.Config) { c.Shape.Reasoning = "reasoning_content" }

// withPacedStreams replaces the default server by one whose streams are as slow as a reader.
func withPacedStreams(c *mockserver.Config) {
	if reflect.DeepEqual(*c, mockserver.Default()) {
		*c = mockserver.Config{TTFT: 5 * time.Millisecond, PerToken: 20 * time.Millisecond}
	}
}

// withEightSlots replaces the default server, which has no limit, by a server that is fully used
// before the client is.
func withEightSlots(c *mockserver.Config) {
	if reflect.DeepEqual(*c, mockserver.Default()) {
		*c = mockserver.Config{TTFT: 10 * time.Millisecond, PerToken: 2 * time.Millisecond, Slots: 8}
	}
}
