package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// valuesOf has a value of each load variable.
var valuesOf = map[string]string{
	"LLMBENCH_ANSWERS": "answers", "LLMBENCH_BATCH": "2", "LLMBENCH_CANCEL": "0.1:2s", "LLMBENCH_CLASSES": "a:users=2", "LLMBENCH_CONCURRENCY": "3",
	"LLMBENCH_DATASET": "random-vllm", "LLMBENCH_DURATION": "1s", "LLMBENCH_INPUT": "33", "LLMBENCH_MAX_FAIL": "0.5",
	"LLMBENCH_MAX_SHED": "0.5", "LLMBENCH_MIX": "a=1", "LLMBENCH_OUTPUT": "7", "LLMBENCH_RATE": "2", "LLMBENCH_REQUESTS": "64", "LLMBENCH_SLO": "e2e=1s",
	"LLMBENCH_SESSIONS": "../benchdata/testdata/sessions/plain.jsonl",
	"LLMBENCH_STREAM":   "false", "LLMBENCH_THINK": "1ms", "LLMBENCH_TURNS": "3", "LLMBENCH_WARMUP": "1", "LLMBENCH_MAX_IN_FLIGHT": "8",
}

// datasetsOf has the data sets of scenarios that do not read the one in valuesOf.
var datasetsOf = map[string]string{
	"Accuracy": "needle", "Embeddings": "random:batch=2", "MultiTurn": "random:output=1..7", "PrefixCache": "generated-shared-prefix:system=9",
	"Rerank": "random:batch=2", "Routing": "generated-shared-prefix:system=9", "Trace": "azure:../benchdata/testdata/kinds/azure.csv",
}

// TestEveryVariableIsRead checks that the table of scenarios has exactly the variables that parseOwn knows.
func TestEveryVariableIsRead(t *testing.T) {
	source, err := os.ReadFile("config.go")
	assert.NilError(t, err)
	known := map[string]bool{}
	for _, m := range regexp.MustCompile(`env\.Read(?:Hidden)?\(r, .*?"(LLMBENCH_[A-Z_]+)"`).FindAllStringSubmatch(string(source), -1) {
		known[m[1]] = true
	}
	assert.DeepEqual(t, slices.Sorted(maps.Keys(known)), slices.Sorted(slices.Values(slices.Concat(common, loadVariables()))))
	assert.DeepEqual(t, slices.Sorted(maps.Keys(valuesOf)), loadVariables())
}

// TestVariables sets each load variable for each scenario. The value must change what the scenario reads, or else be an
// error that names the variable, its value, the scenario, and scenarios that read the variable.
func TestVariables(t *testing.T) {
	for _, name := range env.Names() {
		t.Setenv(name, "") // the variable then counts as not set
	}
	for _, sc := range everyScenario() {
		without, err := sc.config()
		assert.NilError(t, err, sc.Name)
		for name, value := range valuesOf {
			if name == "LLMBENCH_DATASET" {
				value = cmp.Or(datasetsOf[sc.Name], value)
			}
			t.Setenv(name, value)
			if sc.Name == "Accuracy" && slices.Contains(lengths, name) {
				_, err := sc.config()
				assert.ErrorContains(t, err, name+"="+value+": Accuracy reads it only for a data set with answers in LLMBENCH_DATASET, such as needle")
				t.Setenv("LLMBENCH_DATASET", "needle")
			}
			with, err := sc.config()
			if slices.Contains(sc.reads, name) {
				assert.NilError(t, err, "%s of %s", name, sc.Name)
				assert.Assert(t, fmt.Sprintf("%+v", with) != fmt.Sprintf("%+v", without), "%s of %s has no effect", name, sc.Name)
			} else {
				assert.ErrorContains(t, err, name+"="+value+": "+sc.Name+" does not read it; ")
				assert.ErrorContains(t, err, "; it is for "+readers(name))
			}
			assert.Equal(t, len(with.notes), 0)
			t.Setenv(name, "")
			t.Setenv("LLMBENCH_DATASET", "")
		}
	}
	t.Setenv("LLMBENCH_CONCURRENCY", "1..4:1s")
	for _, sc := range everyScenario() {
		want := "LLMBENCH_CONCURRENCY=1..4:1s: " + sc.Name + " reads no stages of users, which are for Serve: want a comma list of numbers"
		if !slices.Contains(sc.reads, "LLMBENCH_CONCURRENCY") {
			want = "LLMBENCH_CONCURRENCY=1..4:1s: " + sc.Name + " does not read it"
		}
		if _, err := sc.config(); sc.Name == "Serve" {
			assert.NilError(t, err)
		} else {
			assert.ErrorContains(t, err, want)
		}
	}
	t.Setenv("LLMBENCH_CONCURRENCY", "")
	for dataset, scenarios := range map[string]string{"random": "Trace Accuracy", "sharegpt:x": "Trace Accuracy Embeddings", "arithmetic": "Trace", "mooncake:x": "Accuracy",
		"random:dimensions=8": "Rerank Serve Sweep", "random:cosine=0.5": "Rerank Serve SLO", "random:batch=8": "Serve Trace", "random:batch=8,output=3": "Embeddings Rerank Serve"} {
		t.Setenv("LLMBENCH_DATASET", dataset)
		for name := range strings.FieldsSeq(scenarios) {
			assert.ErrorContains(t, scenario(name).Check(Options{}), "LLMBENCH_DATASET="+dataset+": ")
		}
	}
	t.Setenv("LLMBENCH_DATASET", "")
	assert.ErrorContains(t, scenario("Trace").Check(Options{Dataset: "random"}), `LLMBENCH_DATASET: dataset "random" is no trace`)
	assert.ErrorContains(t, scenario("Accuracy").Check(Options{Dataset: "random"}), `LLMBENCH_DATASET: dataset "random" has no answers`)
}

// TestReadmeVariables compares the table of variables in scenarios/README.md with the code. The flag -update writes it.
func TestReadmeVariables(t *testing.T) {
	const begin, end = "<!-- variables -->\n", "<!-- /variables -->\n"
	text := readme(t, "scenarios")
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	assert.Assert(t, found && closed, "scenarios/README.md has no section between %q and %q", begin, end)
	quoted := func(names []string) string {
		return "`" + strings.Join(slices.Sorted(slices.Values(names)), "`, `") + "`"
	}
	var table strings.Builder
	fmt.Fprintf(&table, "Every scenario but `ColdStart` reads %s.\n\n| variable | scenarios that read it |\n| --- | --- |\n", quoted(common))
	for _, name := range loadVariables() {
		fmt.Fprintf(&table, "| `%s` | %s |\n", name, readers(name))
	}
	want := before + begin + table.String() + end + after
	if golden.FlagUpdate() {
		assert.NilError(t, os.WriteFile("README.md", []byte(want), 0o666))
		return
	}
	assert.Equal(t, text, want, "run: go test ./scenarios -run=ReadmeVariables -update")
}

// TestVariablesMeasured runs scenarios of this binary with variables. They must measure what the variables say, and a
// variable that nothing reads must end the run before anything is measured.
func TestVariablesMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	self, err := os.Executable()
	assert.NilError(t, err)
	kinds, err := filepath.Abs("../benchdata/testdata/kinds")
	assert.NilError(t, err)
	sessions := filepath.Join(filepath.Dir(kinds), "sessions")
	for _, c := range []struct {
		bench, environ string
		status         int
		want           []string // parts of standard output; no result may be there if the status is 1
	}{
		{"Trace", "LLMBENCH_DATASET=mooncake:" + kinds + "/mooncake.jsonl?speed=1000 LLMBENCH_REQUESTS=4", 0, []string{"/workload=mooncake/stream=true/speed=1000", "dataset: mooncake.jsonl?speed=1000\n"}},
		{"Trace", "LLMBENCH_DATASET=sharegpt:x", 1, []string{`LLMBENCH_DATASET=sharegpt:x: dataset "sharegpt:x" is no trace`}},
		{"MultiTurn", "LLMBENCH_INPUT=40 LLMBENCH_OUTPUT=5 LLMBENCH_CONCURRENCY=2 LLMBENCH_REQUESTS=3", 0, []string{"/workload=turns-5x40-40x5/stream=true/concurrency=2"}},
		{"Agent", "LLMBENCH_SESSIONS=" + sessions + "/plain.jsonl LLMBENCH_CONCURRENCY=3", 0, []string{"/workload=sessions-plain/stream=true/concurrency=3", "dataset: plain.jsonl\n", "replies: made-up\n", " 3.333 turns/session", " 60.07 implied-hit-%",
			"sessions " + sessions + "/plain.jsonl, in the format plain: not read: note 1 time"}},
		{"Agent", "LLMBENCH_SESSIONS=" + sessions + "/plain.jsonl?replies=made-up&cap=1s", 0, []string{"/workload=sessions-plain/stream=true/speed=1", "dataset: plain.jsonl?replies=made-up&cap=1s\n", "1 pauses were longer than 1s and are cut"}},
		{"Agent", "LLMBENCH_SESSIONS=" + kinds + "/azure.csv", 1, []string{"LLMBENCH_SESSIONS: sessions " + kinds + "/azure.csv:1: "}},
		{"Serve", "LLMBENCH_SESSIONS=" + sessions + "/plain.jsonl", 1, []string{"Serve does not read it; it is for Agent"}},
		{"Sweep", "LLMBENCH_INPUT=20 LLMBENCH_OUTPUT=4", 0, []string{"/workload=random-20x4/stream=true/concurrency=1"}},
		{"Sweep", "LLMBENCH_DATASET=sharegpt:" + kinds + "/sharegpt.json LLMBENCH_SLO=e2e=1s", 0, []string{"/workload=sharegpt/stream=true/concurrency=1", " good-req/s", "dataset: sharegpt.json\n"}},
		{"SLO", "LLMBENCH_REQUESTS=5 LLMBENCH_WARMUP=1", 1, []string{"LLMBENCH_REQUESTS=5: SLO does not read it; it is for all scenarios but ColdStart, ", "LLMBENCH_WARMUP=1: SLO does not read it; it is for Agent, MixedLoad, Serve\n"}},
		{"(Serve|Concurrency|GatewayOverhead|Shedding)", "LLMBENCH_INPUT=lognormal(40,0.6,..200) LLMBENCH_OUTPUT=normal(9,2) LLMBENCH_REQUESTS=40 LLMBENCH_CONCURRENCY=4", 0, []string{
			"dataset: input=lognormal(40,0.6,..200)&output=normal(9,2)\n", "BenchmarkServe/backend=mock/model=mock/workload=random/stream=true/concurrency=4", "BenchmarkConcurrency/backend=mock/model=mock/workload=random/",
			"/workload=random/stream=false/via=reference-proxy/concurrency=4", "BenchmarkShedding/backend=mock/model=mock/workload=random/stream=true/offered=2", "LLMBENCH_CONCURRENCY=4 is read by "}},
		{"Serve", "LLMBENCH_DATASET=markov LLMBENCH_OUTPUT=normal(9,2) LLMBENCH_REQUESTS=8 LLMBENCH_CONCURRENCY=2", 0, []string{
			"dataset: output=normal(9,2)\n", "dataset-entropy: 2.06 bits/word\n", "dataset-input: 512\n"}},
		{"Concurrency", "LLMBENCH_DATASET=markov:order=0.5 LLMBENCH_INPUT=20 LLMBENCH_OUTPUT=4 LLMBENCH_REQUESTS=8 LLMBENCH_CONCURRENCY=2", 0, []string{
			"BenchmarkConcurrency/backend=mock/model=mock/workload=markov/stream=true/concurrency=2",
			"dataset: order=0.5\n", "dataset-entropy: 6.55 bits/word\n", "dataset-input: 20\n", "dataset-output: 4\n"}},
		{"Serve", "LLMBENCH_DATASET=markov:order=9", 1, []string{`LLMBENCH_DATASET: dataset "markov?order=9": parameter order=9: want a number from 0 to 3`}},
		{"GatewayOverhead", "LLMBENCH_DATASET=sharegpt:" + kinds + "/sharegpt.json LLMBENCH_CONCURRENCY=2", 0, []string{"/workload=sharegpt/stream=true/via=direct/concurrency=2", "/workload=sharegpt/stream=false/via=reference-proxy/concurrency=2", "dataset: sharegpt.json\n"}},
		{"MultiTurn", "LLMBENCH_DATASET=random:input=8..16,output=4 LLMBENCH_TURNS=2..3 LLMBENCH_THINK=exponential(2ms) LLMBENCH_CONCURRENCY=2", 0, []string{
			"/workload=turns/stream=true/concurrency=2", "dataset: input=8..16\n", "dataset-output: 4\n", "turns: 2..3\n", "think: exponential(2ms)\n", " p50-ttft-turn2-ns"}},
		{"MultiTurn", "LLMBENCH_TURNS=3 LLMBENCH_CONCURRENCY=2", 0, []string{"/workload=turns-3x256-64x32/stream=true/concurrency=2", " p50-ttft-turn3-ns"}},
		{"MultiTurn", "LLMBENCH_DATASET=random:prefix=3", 1, []string{`LLMBENCH_DATASET=random:prefix=3: dataset "random?prefix=3": want random, with no other parameters than input, output and lengths`}},
		{"PrefixCache", "LLMBENCH_DATASET=generated-shared-prefix:per-group=4,system=128,question=16,output=4 LLMBENCH_REQUESTS=8", 0, []string{"/workload=prefixes-2x4-128x16/stream=true/concurrency=1", " implied-hit-%", "dataset: per-group=4&system=128&question=16\n", "dataset-output: 4\n"}},
		{"Routing", "LLMBENCH_DATASET=random", 1, []string{`LLMBENCH_DATASET=random: dataset "random": want generated-shared-prefix`}},
		{"PrefixCache", "LLMBENCH_OUTPUT=normal(5,1)", 1, []string{"LLMBENCH_OUTPUT=normal(5,1): PrefixCache draws no lengths: want a whole number of tokens"}},
		{"ToolCalls", "LLMBENCH_INPUT=normal(500,9)", 1, []string{"LLMBENCH_INPUT=normal(500,9): ToolCalls draws no lengths: want a whole number of tokens"}},
		{"Serve", "LLMBENCH_DATASET=random:lengths=" + kinds + "/none.csv", 1, []string{"LLMBENCH_DATASET: random: open " + kinds + "/none.csv: no such file"}},
		{"ColdStart", "LLMBENCH_INPUT=3", 1, []string{"LLMBENCH_INPUT=3: ColdStart does not read it; "}},
		{"(Accuracy|Interference|Serve|Trace)", "LLMBENCH_DATASET=sharegpt:" + kinds + "/sharegpt.json LLMBENCH_OUTPUT=3 LLMBENCH_MAX_FAIL=0.1", 0, []string{"/workload=sharegpt/stream=true/concurrency=16", "/workload=arithmetic/", "/workload=bursts/", " 100.0 accuracy-%",
			"# BenchmarkAccuracy/backend=mock/model=mock: LLMBENCH_DATASET=sharegpt:" + kinds + "/sharegpt.json is read by Serve, and not by Accuracy, Interference, Trace, which run without it\n"}},
		{"MultiTurn", "LLMBENCH_DURATION=300ms LLMBENCH_INPUT=10 LLMBENCH_OUTPUT=2 LLMBENCH_CONCURRENCY=2", 0, []string{"/stream=true/concurrency=2", "duration: 300ms\n"}},
		{"Serve", "LLMBENCH_DURATION=300ms LLMBENCH_REQUESTS=9 LLMBENCH_OUTPUT=2 LLMBENCH_CONCURRENCY=2", 0, []string{"/concurrency=2", "duration: 300ms\n", "pass 0: there were no requests after the first 9, of which the last was sent after "}},
		{"Serve", "LLMBENCH_DURATION=300ms LLMBENCH_RATE=100 LLMBENCH_OUTPUT=2", 0, []string{"/rate=100", "duration: 300ms\n", " 100.0 offered-req/s"}},
		{"Serve", "LLMBENCH_RATE=100 LLMBENCH_MAX_IN_FLIGHT=2 LLMBENCH_OUTPUT=2 LLMBENCH_REQUESTS=20", 0, []string{"/rate=100", "max-in-flight: 2\n"}},
		{"Serve", "LLMBENCH_CONCURRENCY=4 LLMBENCH_MAX_IN_FLIGHT=2", 1, []string{"LLMBENCH_MAX_IN_FLIGHT=2: want at least 1, with LLMBENCH_RATE or a trace"}},
		{"Sweep", "LLMBENCH_MAX_IN_FLIGHT=2", 1, []string{"LLMBENCH_MAX_IN_FLIGHT=2: Sweep does not read it; it is for Serve"}},
		{"Serve", "LLMBENCH_CONCURRENCY=1..4:300ms,4:300ms LLMBENCH_WARMUP=100ms LLMBENCH_OUTPUT=2", 0, []string{"/stages=1..4_300ms-4_300ms/concurrency=4", "warmup: 100ms\n", " stage1-output-tok/s", " stage2-p50-ttft-ns"}},
		{"Serve", "LLMBENCH_WARMUP=100ms", 1, []string{"options: WarmupFor 100ms (LLMBENCH_WARMUP): want above 0 and a closed loop with a Duration (LLMBENCH_DURATION) or Users"}},
		{"Serve", "LLMBENCH_DURATION=1s LLMBENCH_WARMUP=100ms LLMBENCH_DATASET=azure:" + kinds + "/azure.csv", 1, []string{"LLMBENCH_WARMUP=100ms: want a number of requests: the replay of a trace without LLMBENCH_CONCURRENCY is an open loop"}},
		{"Serve", "LLMBENCH_CONCURRENCY=2 LLMBENCH_REQUESTS=4 LLMBENCH_OUTPUT=2 LLMBENCH_DURATION=1m LLMBENCH_WARMUP=30s", 1, []string{"pass 0: all requests had ended when the warm-up of 30s was over, so that nothing was measured: want more requests, or a shorter warm-up"}},
		{"Decode", "LLMBENCH_CONCURRENCY=1..4:1s", 1, []string{"LLMBENCH_CONCURRENCY=1..4:1s: Decode reads no stages of users, which are for Serve: want a comma list of numbers\n"}},
		{"Embeddings", "LLMBENCH_DURATION=300ms LLMBENCH_BATCH=2 LLMBENCH_CONCURRENCY=2", 0, []string{"/batch=2/concurrency=2", "duration: 300ms\n"}},
		{"MixedLoad", `LLMBENCH_CLASSES=chat:users=2,input=9,output=4,body={"priority":-1};rag:rate=50,input=9,output=4,ttft=1h,header=X-A:b LLMBENCH_DURATION=300ms LLMBENCH_WARMUP=100ms`, 0, []string{
			"/workload=chat/stream=true/concurrency=2", "/workload=rag/stream=true/rate=50", "/workload=all/stream=true/concurrency=2", "duration: 300ms\n", "warmup: 100ms\n", "classes: chat:users=2,random input=9&output=4,body={\"priority\":-1}; rag:rate=50,random input=9&output=4,header=X-A,ttft=1h0m0s\n",
			" rag-good-req/s", " chat-p50-ttft-x", " rag-output-tok-x", "Unit chat-output-tok-x better=higher\n", "chat beside the others has ", " times the output tok/s of chat alone"}},
		{"MixedLoad", "LLMBENCH_CONCURRENCY=4", 1, []string{"LLMBENCH_CONCURRENCY=4: MixedLoad does not read it; it is for all scenarios but "}},
		{"Serve", "LLMBENCH_CLASSES=chat:users=2", 1, []string{"LLMBENCH_CLASSES=chat:users=2: Serve does not read it; it is for MixedLoad"}},
		{"Sweep", "LLMBENCH_DURATION=1s", 1, []string{"LLMBENCH_DURATION=1s: Sweep does not read it; it is for all scenarios but "}},
		{"Trace", "LLMBENCH_DURATION=1s", 1, []string{"LLMBENCH_DURATION=1s: Trace does not read it; it is for all scenarios but "}},
		{"Decode", "LLMBENCH_FULL=1 LLMBENCH_DURATION=1s", 1, []string{"LLMBENCH_DURATION=1s: Decode sends published loads as they are, because LLMBENCH_FULL is 1\n"}},
		{"Decode", "LLMBENCH_FULL=1 LLMBENCH_REQUESTS=4", 1, []string{"LLMBENCH_REQUESTS=4: Decode sends published loads as they are, because LLMBENCH_FULL is 1\n"}},
		{"(Decode|Prefill|Serve)", "LLMBENCH_RATE=500 LLMBENCH_REQUESTS=4", 0, []string{"LLMBENCH_RATE=500 is read by Serve, and not by Decode, Prefill, which run without it\n", "BenchmarkDecode/", "/rate=500"}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, self, "-test.run=^$", "-test.bench=^Benchmark"+c.bench+"$", "-test.benchtime=1x")
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LLMBENCH_") })
		cmd.Env = append(append(cmd.Env, "LLMBENCH_MOCK=speed=10", "LLMBENCH_CLIENT_BOUND=report"), strings.Fields(c.environ)...)
		out, err := cmd.Output()
		assert.Equal(t, cmd.ProcessState.ExitCode(), c.status, "%s %s: %v\n%s", c.bench, c.environ, err, out)
		for _, want := range c.want {
			assert.Equal(t, strings.Count(string(out), want) > 0, true, "%s %s: no %q in\n%s", c.bench, c.environ, want, out)
		}
		assert.Equal(t, strings.Contains(string(out), "which run without it"), strings.HasPrefix(c.bench, "("), "%s", out)
		assert.Equal(t, strings.Count(string(out), "is read by Serve, and not by Decode"), map[bool]int{true: 1, false: 0}[strings.HasPrefix(c.bench, "(Decode")], "%s", out)
		assert.Equal(t, strings.Contains(string(out), "\nUnit "), c.status == 0, "%s", out)
	}
}

// TestOldNamesMeasured runs a benchmark of this binary with old variables and with the new ones. Both runs have the same names and
// configuration lines, and each old variable is told once.
func TestOldNamesMeasured(t *testing.T) {
	self, err := os.Executable()
	assert.NilError(t, err)
	run := func(environ string) (lines, stderr string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, self, "-test.run=^$", "-test.bench=^Benchmark(Serve|Embeddings)$", "-test.benchtime=1x", "-test.count=2")
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LLMBENCH_") })
		cmd.Env = append(append(cmd.Env, "LLMBENCH_CLIENT_BOUND=report", "LLMBENCH_SALT=1"), strings.Fields(environ)...)
		var told strings.Builder
		cmd.Stderr = &told
		out, err := cmd.Output()
		assert.NilError(t, err, "%s%s", out, &told)
		for line := range strings.Lines(string(out)) {
			if name, _, _ := strings.Cut(line, " "); strings.HasPrefix(line, "Benchmark") {
				lines += name + "\n"
			} else if regexp.MustCompile(`^[a-z-]+: `).MatchString(line) {
				lines += line
			}
		}
		return lines, told.String()
	}
	old, told := run("LLMBENCH_STAGES=500:20ms LLMBENCH_BURSTINESS=2 LLMBENCH_MOCK_SPEED=1000 LLMBENCH_DIMENSIONS=8 LLMBENCH_BATCH=2 LLMBENCH_INPUT=20")
	now, nothing := run("LLMBENCH_RATE=500:20ms,burstiness=2 LLMBENCH_MOCK=speed=1000 LLMBENCH_DATASET=random:dimensions=8 LLMBENCH_BATCH=2 LLMBENCH_INPUT=20")
	assert.Equal(t, old, now)
	for _, want := range []string{"burstiness: 2\n", "mock-speed: 1000\n", "asked-dimensions: 8\n", "/workload=random-20x128/stream=true/stages=500_20ms/rate=500", "/batch=2/concurrency=1"} {
		assert.Assert(t, strings.Contains(old, want), "no %q in\n%s", want, old)
	}
	for _, hint := range []string{"LLMBENCH_STAGES is now part of LLMBENCH_RATE: set LLMBENCH_RATE=500:20ms,burstiness=2", "LLMBENCH_MOCK_SPEED is now part of LLMBENCH_MOCK: set LLMBENCH_MOCK=speed=1000"} {
		assert.Equal(t, strings.Count(told, "# "+hint+"\n"), 1, told)
	}
	assert.Assert(t, !strings.Contains(nothing, "is now part of"), nothing)
}
