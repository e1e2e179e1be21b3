package scenarios

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata/tokenizer"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

func TestParseClasses(t *testing.T) {
	all, err := parseClasses(`chat:users=8,input=lognormal(256,0.6),output=64,body={"priority":0,"x":[1,"a;b,c}"]},ttft=500ms,e2e=10s; Batch 2:rate=2.5,dataset=generated-shared-prefix?per-group=4,header=X-Priority: low,header=X-Tags: "a,b";`)
	assert.NilError(t, err)
	assert.Equal(t, len(all), 2)
	chat, batch := all[0], all[1]
	assert.Equal(t, chat.name, "chat")
	assert.Equal(t, chat.users, 8)
	assert.Equal(t, string(chat.body), `{"priority":0,"x":[1,"a;b,c}"]}`)
	assert.Equal(t, chat.slo, sample.SLO{TTFT: 500 * time.Millisecond, E2E: 10 * time.Second})
	o, err := chat.options(Options{Requests: 7, Input: 3})
	assert.NilError(t, err)
	assert.Equal(t, o.Dataset, "random?input=lognormal(256,0.6)")
	assert.Equal(t, o.Output, 64)
	assert.Equal(t, chat.load(), "concurrency=8")
	assert.Equal(t, batch.name, "Batch 2")
	assert.Equal(t, batch.load(), "rate=2.5")
	assert.DeepEqual(t, batch.header, http.Header{"X-Priority": {"low"}, "X-Tags": {`"a,b"`}})
	assert.Equal(t, chat.String(), `chat:users=8,random input=lognormal(256,0.6)&output=64,body={"priority":0,"x":[1,"a;b,c}"]},ttft=500ms,e2e=10s`)
	assert.Equal(t, batch.String(), "Batch 2:rate=2.5,generated-shared-prefix per-group=4,header=X-Priority,header=X-Tags")
	assert.Equal(t, together(all), "concurrency=8")
	assert.Equal(t, together(all[1:]), "rate=2.5")

	all, err = parseClasses("a:users=1,input=20,dataset=markov:order=2,output=3;b:users=1,dataset=markov?order=2&prefix=8,input=20")
	assert.NilError(t, err)
	assert.Equal(t, all[0].dataset, "markov?order=2&input=20&output=3")
	assert.Equal(t, all[1].dataset, "markov?order=2&prefix=8&input=20")

	for text, want := range map[string]string{
		"":                                     `class "": want NAME:KEY=VALUE,KEY=VALUE with ` + classKeys,
		"chat":                                 `class "chat": want NAME:KEY=VALUE,KEY=VALUE with ` + classKeys,
		"users=3":                              `class "users=3": want NAME:KEY=VALUE,KEY=VALUE with ` + classKeys,
		"a:users=1;;b:rate=1":                  "",
		"all:users=1":                          "class all: want another name than all, and names that differ in letters, digits, dots, hyphens and underscores",
		"knee:users=1":                         "class knee: want another name: knee-output-tok/s is a unit of all requests",
		"SRV:users=1":                          "class SRV: want another name: srv-accept-len is a unit of all requests",
		"light:users=1;p50:users=1":            "",
		"a:users=1;A:users=2":                  "class A: want another name than all, and names that differ in letters, digits, dots, hyphens and underscores",
		"a:":                                   `class a: key "": want ` + classKeys,
		"a:input=3":                            "class a: want users=NUMBER or rate=NUMBER",
		"a:users=1,rate=1":                     "class a: want users=NUMBER or rate=NUMBER",
		"a:users=1,users=2":                    "class a: key users comes twice: want it once",
		"a:users=0":                            "class a: users=0: want a whole number, at least 1",
		"a:rate=-1":                            "class a: rate=-1: want a number of requests per second, above 0 and at most 1000000",
		"a:rate=1e18":                          "class a: rate=1e18: want a number of requests per second, above 0 and at most 1000000",
		"a:user=1":                             `class a: key "user": want ` + classKeys,
		"a:users=1,input=x":                    "class a: parameter input=x: ",
		"a:users=1,output=0":                   "class a: parameter output=0: ",
		"a:users=1,dataset=x":                  `class a: dataset "x": want one of `,
		"a:users=1,dataset=azure:x":            `class a: dataset "azure:x" is a trace, which has arrivals of its own: want another data set`,
		"a:users=1,dataset=sharegpt:x,input=3": `class a: dataset "sharegpt:x": an input of 3 tokens, but the lengths of its prompts are fixed`,
		"a:users=1,body=3":                     `class a: body: not a JSON object without duplicate names: want an object such as {"temperature":0.7}`,
		`a:users=1,body={"stream":false}`:      `class a: body: member "stream"; it must stay as it is: the load decides`,
		`a:users=1,body={"a":1`:                "a bracket or a quotation mark has no partner: want pairs",
		`a:users=1,body={"a":1)}`:              "')' has no partner: want pairs of brackets",
		"a:users=1,header=secret-value":        "class a: header: want NAME: VALUE, with no comma or semicolon outside of quotation marks",
		"a:users=1,header=X: secret,value":     "class a: key [not shown]: want " + classKeys,
		`a:users=1,body={"key":"x"}value`:      `class a: body: not a JSON object`,
		`a:users=1,body={},value`:              "class a: key [not shown]: want " + classKeys,
		"a:users=1,header=X: secret;value":     "class [not shown]: want NAME:KEY=VALUE,KEY=VALUE with " + classKeys,
		"a:users=1,header=X@Y: b":              `class a: header "X@Y": want letters, digits and hyphens`,
		"a:users=1,header=X: b\x00":            "class a: the value of the header X holds a control character",
		"a:users=1,input=":                     "class a: input=: want a value",
		"a:users=,rate=3":                      "class a: users=: want a value",
		"a:users=1,body=":                      "class a: body=: want a value",
		"a:users=1,header=":                    "class a: header: want NAME: VALUE",
		"a:users=1,ttft=fast":                  "class a: ttft=fast: want limits like ttft=500ms,tpot=50ms,e2e=10s",
	} {
		_, err := parseClasses(text)
		if want == "" {
			assert.NilError(t, err)
			continue
		}
		assert.ErrorContains(t, err, want, "%s", text)
		assert.Assert(t, strings.HasPrefix(err.Error(), want), "%s: %v", text, err)
	}
}

// FuzzParseClasses checks that each text is an error, or classes with a load and a name of their own, whose requests can be drawn.
func FuzzParseClasses(f *testing.F) {
	for _, seed := range []string{ownClasses, simulatedClasses, "a:rate=1e-3,ttft=1s,header=A: b;b:users=2,input=2..5", `a:users=1,body={"a":"\""};`, "a:users=1,dataset=random?input=3&output=2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "dataset") && strings.ContainsAny(text, "/.") { // a file of this machine
			return
		}
		all, err := parseClasses(text)
		if err != nil {
			return
		}
		for i, c := range all {
			assert.Assert(t, c.name != "" && (c.users > 0) != (c.rate > 0), "%q: %+v", text, c)
			assert.Assert(t, !slices.ContainsFunc(all[:i], func(o class) bool { return o.name == c.name }))
			o, err := c.options(Options{Seed: 1})
			assert.NilError(t, err)
			if o.Input < 1000 && o.Output < 1000 && strings.HasPrefix(o.Dataset, "random") && o.Input > 10 {
				requests, err := server{options: o, counter: counter{tokens: tokenizer.Words{}}}.drawDataset(2, 1, 1)
				assert.Assert(t, err != nil || len(requests) == 2, "%q", text)
			}
		}
	})
}

// TestClassesDiffer checks that classes with equal parameters have different prompts.
func TestClassesDiffer(t *testing.T) {
	all, err := parseClasses("a:users=1,input=32; b:users=1,input=32")
	assert.NilError(t, err)
	prompts := map[string]bool{}
	for _, c := range all {
		o, err := c.options(Options{Seed: 1})
		assert.NilError(t, err)
		s := server{options: o, counter: counter{tokens: tokenizer.Words{}}}
		seed, err := s.datasetSeed("BenchmarkX")
		assert.NilError(t, err)
		requests, err := s.drawDataset(20, seed, 0)
		assert.NilError(t, err)
		for _, r := range requests {
			assert.Assert(t, !prompts[r.Prompt], r.Prompt)
			prompts[r.Prompt] = true
		}
	}
}

// TestCompareClasses checks that a class has the ratios of its figures, but no ratio of figures that are withheld in one of the two
// results.
func TestCompareClasses(t *testing.T) {
	c := class{name: "Chat 1"}
	metrics := func(factor float64) map[string]float64 {
		return map[string]float64{sample.P50TTFT: 2 * factor, sample.MeanTPOT: 3 * factor, sample.OutputRate: 8 / factor}
	}
	_, url := mockserver.Start(t, mockserver.Config{})
	result := testing.Benchmark(func(b *testing.B) {
		llmbench.Run(b, llmbench.Target{URL: url, Model: "mock", Simulated: true}, llmbench.Load{
			Requests: []llmbench.Request{{Prompt: "a", MaxTokens: 2}}, Concurrency: 1, Units: c.ratioUnits(),
		})
		c.compare(b, &ofClass{metrics(1), map[string]error{"chat_1-p50-ttft-ns": llmbench.ErrBursts}}, &ofClass{metrics(2), nil})
	})
	ratios := map[string]float64{}
	for unit, v := range result.Extra {
		if strings.HasSuffix(unit, "-x") {
			ratios[unit] = v
		}
	}
	assert.DeepEqual(t, ratios, map[string]float64{"chat_1-mean-tpot-x": 2, "chat_1-output-tok-x": 0.5})
}

func TestMixedLoadOptions(t *testing.T) {
	for _, tt := range []struct {
		o   Options
		err string
	}{
		{Options{}, ""},
		{Options{Classes: "a:users=2", Duration: time.Second, WarmupFor: time.Second}, ""},
		{Options{Classes: "a:rate=2", Warmup: 3}, ""},
		{Options{Classes: "a:users=2,dataset=sharegpt:missing"}, "class a: LLMBENCH_DATASET: sharegpt: open missing: no such file"},
		{Options{Classes: "a"}, `options: Classes (LLMBENCH_CLASSES): class "a": want NAME:KEY=VALUE`},
		{Options{Rates: []float64{3}}, "options: MixedLoad has its loads and data sets in Classes: want no Concurrencies"},
		{Options{Dataset: "random"}, "options: MixedLoad has its loads and data sets in Classes: want no Concurrencies"},
	} {
		err := scenario("MixedLoad").Check(tt.o)
		if tt.err == "" {
			assert.NilError(t, err)
		} else {
			assert.ErrorContains(t, err, tt.err)
		}
	}
	o, err := prepareMixedLoad(Options{Simulated: true}, config{})
	assert.NilError(t, err)
	assert.Equal(t, o.Duration, time.Second)
	assert.Equal(t, o.WarmupFor, 200*time.Millisecond)
}

// TestClassFailsOnce checks that the figures of a class beside others are compared with those of the class alone in the same
// repetition of -count, also after a repetition that failed.
func TestClassFailsOnce(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	assert.NilError(t, err)
	mock, err := mockserver.New(mockserver.Config{TTFT: 5 * time.Millisecond})
	assert.NilError(t, err)
	var runs []string // of the light class alone first, then of both together
	var lock sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Class") == "light" {
			run := strings.Join(strings.Split(r.Header.Get("X-Request-Id"), "-")[:2], "-")
			lock.Lock()
			starts := !slices.Contains(runs, run)
			if starts {
				runs = append(runs, run)
			}
			fails := starts && len(runs) == 2
			lock.Unlock()
			if fails {
				http.Error(w, "no", http.StatusBadRequest)
				return
			}
		}
		mock.ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "-test.run=^$", "-test.bench=MixedLoad", "-test.benchtime=1x", "-test.count=3")
	cmd.Env = append(os.Environ(), "LLMBENCH_URL="+server.URL, "LLMBENCH_CLIENT_BOUND=report", "LLMBENCH_DURATION=600ms",
		"LLMBENCH_CLASSES=light:users=1,input=4,output=2,header=X-Class: light; heavy:users=1,input=8,output=2")
	out, err := cmd.CombinedOutput()
	assert.ErrorContains(t, err, "exit status 1", "%s", out)
	rows := regexp.MustCompile(`(?m)^BenchmarkMixedLoad/.*workload=all/.* req/s`).Split(string(out), -1)
	var alone []string
	for _, notes := range rows[1:] {
		alone = append(alone, fmt.Sprint(!strings.Contains(notes, "class light was not measured alone"), !strings.Contains(notes, "class heavy was not measured alone")))
	}
	assert.Equal(t, strings.Join(alone, ", "), "true true, false true, true true", "%s", out)
}
