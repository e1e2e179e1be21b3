package scenarios

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// TestScenarios checks that Options has a method for each scenario, with the name of the scenario,
// and that a study has the same name as its scenario.
func TestScenarios(t *testing.T) {
	names := []string{}
	for _, sc := range Scenarios() {
		names = append(names, sc.Name)
		_, found := reflect.TypeFor[Options]().MethodByName(sc.Name)
		assert.Assert(t, found, "Options has no method %s", sc.Name)
		assert.Assert(t, (sc.study == nil) != (sc.measure == nil), "%s has both loads and a function, or neither", sc.Name)
		if sc.study != nil {
			assert.Equal(t, sc.study.name, sc.Name)
		}
	}
	for i := range reflect.TypeFor[Options]().NumMethod() {
		name := reflect.TypeFor[Options]().Method(i).Name
		if name == "Gateway" || name == "GatewayOverhead" { // they have two targets
			continue
		}
		assert.Equal(t, strings.Count(" "+strings.Join(names, " ")+" ", " "+name+" "), 1, "%s in the catalogue", name)
	}
}

// TestChat calls a scenario as users do. The server must receive the requests of the scenario, and
// as many as the options say.
func TestChat(t *testing.T) {
	for _, name := range env.Names() {
		t.Setenv(name, "") // the variable then counts as not set
	}
	for _, tt := range []struct {
		o               Options
		streamed, whole int // the number of requests, including the warm-up
	}{
		{Options{}, 8 + 1 + 3 + 4, 4 + 4}, // the simulated server gets fewer requests than a real one
		{Options{Concurrencies: []int{2}, Requests: 3}, 3 + 2, 3 + 2},
	} {
		srv, target := backends.Mock{Config: &mockserver.Config{}}.Serve(t)
		onePass(t, func(b *testing.B) { tt.o.Chat(b, target) })
		var streamed, whole int
		for _, e := range srv.Log() {
			switch {
			case e.PromptTokens != 512 || strings.Contains(e.ID, "-cache-"): // requests that control the prefix cache
			case e.Stream:
				streamed++
			default:
				whole++
			}
		}
		assert.Equal(t, streamed, tt.streamed)
		assert.Equal(t, whole, tt.whole)
	}
}

func TestReducedCells(t *testing.T) {
	type load struct {
		name             string
		requests, warmup int
	}
	st := &study{reduced: []cell{
		{data: random(5, 6), concurrency: 1, requests: 8, warmup: 1},
		{data: random(5, 6), concurrency: 4, requests: 24, warmup: 4, noStream: true},
		{data: random(5, 6), concurrency: 4, requests: 24, warmup: 4},
		{data: random(5, 6), rate: 32, requests: 48, warmup: 1},
	}}
	for _, tt := range []struct {
		name string
		o    Options
		want []load
	}{
		{"as it is", Options{}, []load{
			{"stream=true/concurrency=1", 8, 1}, {"stream=false/concurrency=4", 24, 4}, {"stream=true/concurrency=4", 24, 4}, {"stream=true/rate=32", 48, 1},
		}},
		{"other concurrencies", Options{Concurrencies: []int{2, 4}}, []load{
			{"stream=true/concurrency=2", 16, 2}, {"stream=true/concurrency=4", 32, 4},
			{"stream=false/concurrency=2", 12, 2}, {"stream=false/concurrency=4", 24, 4}, {"stream=true/rate=32", 48, 1},
		}},
		{"other requests", Options{Requests: 100}, []load{
			{"stream=true/concurrency=1", 100, 1}, {"stream=false/concurrency=4", 100, 4}, {"stream=true/concurrency=4", 100, 4}, {"stream=true/rate=32", 100, 1},
		}},
	} {
		cells, err := st.cells(tt.o)
		assert.NilError(t, err)
		var got []load
		for _, c := range cells {
			got = append(got, load{strings.TrimPrefix(st.cellName(c), "workload=random-5x6/"), c.requests, c.warmup})
		}
		assert.DeepEqual(t, got, tt.want, cmp.AllowUnexported(load{}))
	}
}

func TestCheck(t *testing.T) {
	for _, name := range env.Names() {
		t.Setenv(name, "") // the variable then counts as not set
	}
	ramp := arrivals.Users{{For: time.Second, Rate: 1, Ramp: arrivals.Linear, To: 4}}
	for _, tt := range []struct {
		scenario string
		o        Options
		want     string // "" means no error
		nothing  bool
	}{
		{"Chat", Options{}, "", false},
		{"Chat", Options{Full: "1"}, "", false},
		{"Chat", Options{Full: "A0"}, "", false},
		{"Chat", Options{Full: "D11"}, "nothing to measure: Chat has no part in LLMBENCH_FULL=D11", true},
		{"Chat", Options{Full: "E1"}, "LLMBENCH_FULL=E1: want 1 or one of A, A0, B2, B3, C, C7, D1, D2,", false},
		{"Sweep", Options{Full: "1"}, "", false},
		{"Sweep", Options{Dataset: "random:input=5,output=6", Input: 5}, "", false},
		{"Sweep", Options{Dataset: "random:input=5", Input: 6}, "LLMBENCH_DATASET: parameter input=5, but Input (LLMBENCH_INPUT) is 6: want one of them", false},
		{"Sweep", Options{Dataset: "random:batch=5"}, `LLMBENCH_DATASET: dataset "random:batch=5": Sweep does not read the parameter batch`, false},
		{"Embeddings", Options{Dataset: "random:batch=5,cosine=0.5"}, "", false},
		{"Embeddings", Options{Dataset: "random-vllm"}, `LLMBENCH_DATASET: dataset "random-vllm": want random`, false},
		{"Sweep", Options{Full: "D11"}, "nothing to measure: Sweep has no part in LLMBENCH_FULL=D11", true},
		{"Sweep", Options{Full: "D9"}, "LLMBENCH_FULL=D9: this experiment cannot be repeated: its servers gave no answer", false},
		{"OpenQA", Options{Full: "D11"}, "nothing to measure: LLMBENCH_DATA is not set: workload=openqa needs a folder with open_qa.jsonl\nget it by: curl", true},
		{"OpenQA", Options{Full: "D11", Data: t.TempDir()}, "workload=openqa needs open_qa.jsonl in it", true},
		{"OpenQA", Options{Full: "D11", Simulated: true}, "", false},
		{"OpenQA", Options{Full: "0"}, "", false},
		{"OpenQA", Options{Full: "D11", Simulated: true, Requests: 10}, "a published load is sent as it is: want no Concurrencies, no Requests and no Duration", false},
		{"OpenQA", Options{Full: "D11", Simulated: true, Duration: time.Second}, "a published load is sent as it is: want no Concurrencies, no Requests and no Duration", false},
		{"OpenQA", Options{Duration: time.Second}, "", false},
		{"Sweep", Options{Duration: time.Second}, "options: Duration 1s: Sweep sends no load for a time; it is for all scenarios but Accuracy, ", false},
		{"Serve", Options{Duration: time.Second, Stages: []arrivals.Stage{{For: time.Second, Rate: 1}}}, "options: Duration 1s: want above 0, or 0 for a number of requests, and no Stages or Users", false},
		{"Serve", Options{Duration: -1}, "options: Duration -1ns: want above 0", false},
		{"Serve", Options{}, "", false},
		{"Serve", Options{Full: "D11"}, "", false},
		{"Serve", Options{Dataset: "nothing"}, `LLMBENCH_DATASET: dataset "nothing": want one of random`, false},
		{"Serve", Options{Rates: []float64{1}, Concurrencies: []int{1}}, "options: want at most one of Concurrencies, Users, Rates and Stages", false},
		{"Serve", Options{Users: ramp, Concurrencies: []int{1}}, "options: want at most one of Concurrencies, Users, Rates and Stages", false},
		{"Serve", Options{Users: ramp, WarmupFor: time.Second}, "", false},
		{"Serve", Options{Users: ramp, Requests: 7}, "options: Requests 7 and Users 1..4:1s: want at most one of them, because stages determine the duration", false},
		{"Serve", Options{Users: ramp, Duration: time.Second}, "options: Duration 1s: want above 0, or 0 for a number of requests, and no Stages or Users", false},
		{"Serve", Options{WarmupFor: time.Second}, "options: WarmupFor 1s (LLMBENCH_WARMUP): want above 0 and a closed loop with a Duration (LLMBENCH_DURATION) or Users (stages in LLMBENCH_CONCURRENCY), or 0", false},
		{"Serve", Options{WarmupFor: time.Second, Duration: time.Second, Rates: []float64{1}}, "options: WarmupFor 1s (LLMBENCH_WARMUP): want above 0 and a closed loop with a Duration (LLMBENCH_DURATION) or Users (stages in LLMBENCH_CONCURRENCY), or 0", false},
		{"Decode", Options{Users: ramp}, "options: Users 1..4:1s: Decode reads no stages of users, which are for Serve: want a comma list of numbers", false},
		{"Decode", Options{WarmupFor: time.Second}, "options: WarmupFor 1s: Decode does not read it; it is for Agent, MixedLoad, Serve", false},
		{"Shedding", Options{MaxInFlight: 4}, "options: MaxInFlight 4: Shedding does not read it; it is for Serve", false},
		{"Serve", Options{MaxInFlight: 4, Rates: []float64{1}}, "", false},
		{"Serve", Options{Rates: []float64{1, 1}}, "options: Rates [1 1]: want different numbers above 0, at most 1000000", false},
		{"Serve", Options{Rates: []float64{1e18}}, "options: Rates [1e+18]: want different numbers above 0, at most 1000000", false},
		{"Serve", Options{Requests: 8, Concurrencies: []int{1, 2, 16}}, "LLMBENCH_REQUESTS=8: want at least 16, the largest concurrency", false},
		{"Serve", Options{Requests: 7}, "", false},
		{"Serve", Options{Requests: 7, Rates: []float64{4}}, "", false},
		{"Serve", Options{Burstiness: -1}, "options: Burstiness -1: want a number above 0", false},
		{"MultiTurn", Options{Concurrencies: []int{4, 0}}, "options: Concurrencies [4 0]: want different numbers, each at least 1", false},
		{"MultiTurn", Options{Requests: -1}, "options: Requests -1: want at least 1, or 0 for the scenario's own number", false},
	} {
		err := scenario(tt.scenario).Check(tt.o)
		if tt.want == "" {
			assert.NilError(t, err, "%s %+v", tt.scenario, tt.o)
			continue
		}
		assert.ErrorContains(t, err, tt.want)
		if tt.nothing {
			assert.ErrorIs(t, err, ErrNothing)
		}
	}
}

// TestServeEnvironment checks that options have priority over the environment. Values of the
// environment that belong together must be used together or not at all.
func TestServeEnvironment(t *testing.T) {
	for _, tt := range []struct {
		name    string
		o       Options
		environ []string
		want    func(o *Options)
	}{
		{"nothing set", Options{}, nil, func(o *Options) {}},
		{"environment", Options{}, []string{"LLMBENCH_RATE=4", "LLMBENCH_INPUT=7", "LLMBENCH_REQUESTS=9", "LLMBENCH_MAX_FAIL=0.5", "LLMBENCH_STREAM=false", "LLMBENCH_SEED=3", "LLMBENCH_SLO=e2e=1s"},
			func(o *Options) {
				o.Rates, o.Input, o.Requests, o.MaxFail, o.NoStream, o.Seed, o.Limits = []float64{4}, 7, 9, 0.5, true, 3, sample.SLO{E2E: time.Second}
			}},
		{"no warm-up", Options{}, []string{"LLMBENCH_WARMUP=0"}, func(o *Options) { o.Warmup = -1 }},
		{"options first", Options{Concurrencies: []int{3}, Requests: 5, Warmup: 2, Seed: 8}, []string{"LLMBENCH_RATE=4", "LLMBENCH_REQUESTS=9", "LLMBENCH_WARMUP=0", "LLMBENCH_SEED=3"},
			func(o *Options) { o.Concurrencies, o.Requests, o.Warmup, o.Seed = []int{3}, 5, 2, 8 }},
		{"lengths of another data set", Options{Dataset: "openqa:x"}, []string{"LLMBENCH_INPUT=7"},
			func(o *Options) { o.Dataset, o.Input, o.Output = "openqa:x", 0, 0 }},
		{"default lengths", Options{Dataset: "random", Input: 9}, nil, func(o *Options) { o.Input = 9 }},
	} {
		c, err := parseConfig(tt.environ)
		assert.NilError(t, err)
		want := Options{
			Seed: 1, Dataset: "random", Input: 512, Output: 128, Burstiness: 1,
			Timeout: llmbench.DefaultTimeout, IdleTimeout: llmbench.DefaultIdleTimeout,
		}
		tt.want(&want)
		assert.DeepEqual(t, tt.o.withEnvironment(c).withServeDefaults(), want)
	}
}

// TestMissingDataset checks that a missing file is told before a server is started.
func TestMissingDataset(t *testing.T) {
	for spec, want := range map[string]string{
		"sharegpt:no/such?output=5":    "LLMBENCH_DATASET: sharegpt: open no/such: ",
		"random:lengths=no/such++.csv": "LLMBENCH_DATASET: random: open no/such++.csv: ",
		"mooncake:no/such.jsonl":       "LLMBENCH_DATASET: mooncake: open no/such.jsonl: ",
		"openqa:no/such?/file?min=3":   "LLMBENCH_DATASET: openqa: open no/such?/file: ",
	} {
		assert.ErrorContains(t, scenario("Serve").Check(Options{Dataset: spec}), want)
	}
}
