package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

func TestParseConfig(t *testing.T) {
	usual := Options{
		Batches: []int{1, 8, 32}, Cosine: leastCosine, Burstiness: 1,
		Timeout: 10 * time.Minute, IdleTimeout: time.Minute, Seed: 1,
	}
	with := func(change func(*Options)) Options { c := usual; change(&c); return c }
	for _, tt := range []struct {
		environ []string
		want    Options
	}{
		{[]string{"PATH=/bin", "LLMBENCH_RATE="}, usual},
		{
			[]string{"LLMBENCH_RATE=0.5, 32, burstiness=0.7", "LLMBENCH_REQUESTS=100", "LLMBENCH_OUTPUT=20", "LLMBENCH_DATASET=sharegpt:a:b.json",
				"LLMBENCH_STREAM=true", "LLMBENCH_WARMUP=0", "LLMBENCH_TIMEOUT=1m", "LLMBENCH_IDLE_TIMEOUT=5s", "LLMBENCH_MAX_FAIL=0.25", "LLMBENCH_MAX_SHED=0.5", "LLMBENCH_SLO=ttft=1s", "LLMBENCH_SEED=9"},
			Options{
				Batches: []int{1, 8, 32}, Cosine: leastCosine, Rates: []float64{0.5, 32}, Burstiness: 0.7, Requests: 100, Output: 20,
				Dataset: "sharegpt:a:b.json", Warmup: -1, Timeout: time.Minute, IdleTimeout: 5 * time.Second, MaxFail: 0.25, MaxShed: 0.5,
				Limits: sample.SLO{TTFT: time.Second}, Seed: 9,
			},
		},
		{[]string{"LLMBENCH_RATE=10:1m,10..50:30s:exp,burstiness=2"}, with(func(c *Options) {
			c.Burstiness = 2
			c.Stages = []arrivals.Stage{{For: time.Minute, Rate: 10}, {For: 30 * time.Second, Rate: 10, Ramp: arrivals.Exponential, To: 50}}
		})},
		{[]string{"LLMBENCH_CONCURRENCY=1..8:30s,8:1m", "LLMBENCH_WARMUP=10s"}, with(func(c *Options) {
			c.Users, c.WarmupFor = arrivals.Users{{For: 30 * time.Second, Rate: 1, Ramp: arrivals.Linear, To: 8}, {For: time.Minute, Rate: 8}}, 10*time.Second
		})},
		{[]string{"LLMBENCH_CONCURRENCY=1,8", "LLMBENCH_WARMUP=7"}, with(func(c *Options) { c.Concurrencies, c.Warmup = []int{1, 8}, 7 })},
		{[]string{"LLMBENCH_CANCEL=0.25:2s", "LLMBENCH_STREAM=false"}, with(func(c *Options) {
			c.NoStream, c.Cancel = true, llmbench.Cancel{Share: 0.25, Time: 2 * time.Second}
		})},
		{[]string{"LLMBENCH_MIX=meta/llama3:8b=3, a=b=0.5"}, with(func(c *Options) {
			c.Mix = []benchdata.Share{{Model: "meta/llama3:8b", Weight: 3}, {Model: "a=b", Weight: 0.5}}
		})},
		{[]string{"LLMBENCH_SEED=18446744073709551615"}, with(func(c *Options) { c.Seed = 1<<64 - 1 })},
		{[]string{"LLMBENCH_INPUT=10", "LLMBENCH_OUTPUT=20"}, with(func(c *Options) { c.Input, c.Output = 10, 20 })},
		{[]string{"LLMBENCH_DATASET=random:input=10,output=20", "LLMBENCH_OUTPUT=20"}, with(func(c *Options) { c.Dataset, c.Input, c.Output = "random", 10, 20 })},
		{[]string{"LLMBENCH_DATASET=prefix-repetition:prefixes=2,output=20,suffix=3"}, with(func(c *Options) { c.Dataset, c.Output = "prefix-repetition?prefixes=2&suffix=3", 20 })},
		{[]string{"LLMBENCH_DATASET=sharegpt:a,b?output=20&repeat=false"}, with(func(c *Options) { c.Dataset, c.Output = "sharegpt:a,b?repeat=false", 20 })},
		{[]string{"LLMBENCH_DATASET=random:batch=1,4,dimensions=8,cosine=0"}, with(func(c *Options) { c.Dataset, c.Batches, c.Dimensions, c.Cosine = "random", []int{1, 4}, 8, 0 })},
		{[]string{"LLMBENCH_DATASET=sharegpt:x"}, with(func(c *Options) { c.Dataset = "sharegpt:x" })},
		{[]string{"LLMBENCH_DATASET=random:output=20,input=lognormal( 512, 0.60)"}, with(func(c *Options) { c.Dataset, c.Output = "random?input=lognormal(512,0.6)", 20 })},
		{[]string{"LLMBENCH_INPUT=lognormal(512,0.6)", "LLMBENCH_DATASET=markov:order=0.5,output=20"}, with(func(c *Options) { c.Dataset, c.Output = "markov?order=0.5&input=lognormal(512,0.6)", 20 })},
		{[]string{"LLMBENCH_INPUT=lognormal(512,0.6)", "LLMBENCH_OUTPUT=20"}, with(func(c *Options) { c.Dataset, c.Output = "random?input=lognormal(512,0.6)", 20 })},
		{[]string{"LLMBENCH_INPUT=lognormal(512,0.6)", "LLMBENCH_OUTPUT=1..5", "LLMBENCH_DATASET=random:prefix=3,output=uniform(1,5)"}, with(func(c *Options) { c.Dataset = "random?prefix=3&input=lognormal(512,0.6)&output=1..5" })},
		{[]string{"LLMBENCH_DATASET=random:lengths=/a/b.csv"}, with(func(c *Options) { c.Dataset = "random?lengths=/a/b.csv" })},
		{[]string{"LLMBENCH_TURNS=2..8", "LLMBENCH_THINK=exponential(0.5s)"}, with(func(c *Options) { c.Turns, c.Think = "2..8", "exponential(500ms)" })},
	} {
		got, err := parseConfig(tt.environ)
		assert.NilError(t, err, "%q", tt.environ)
		assert.DeepEqual(t, got.Options, tt.want)
		again, err := got.Options.separated()
		assert.NilError(t, err)
		assert.Equal(t, again.Dataset, got.Dataset)
	}
}

// TestParseFull checks LLMBENCH_FULL, LLMBENCH_DATA and LLMBENCH_TOKENIZER.
func TestParseFull(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "t.json")
	assert.NilError(t, os.WriteFile(file, nil, 0o600))
	for value, want := range map[string]string{"": "", "1": "1", "true": "1", "0": "", "D11": "D11", " D11 ": "D11"} {
		c, err := parseConfig([]string{"LLMBENCH_FULL=" + value, "LLMBENCH_DATA=" + folder, "LLMBENCH_URL=http://x", "LLMBENCH_TOKENIZER=" + file})
		assert.NilError(t, err, "LLMBENCH_FULL=%s", value)
		assert.Equal(t, c.Full, want, "LLMBENCH_FULL=%s", value)
		assert.Equal(t, c.Data, folder)
		assert.Equal(t, c.TokenizerFile, file)
	}
}

func TestParseConfigErrors(t *testing.T) {
	for _, tt := range []struct{ environ, want string }{
		{"LLMBENCH_TOKENIZER=/no/such/file", "LLMBENCH_TOKENIZER=/no/such/file: want a tokenizer.json file, or the URL of a server with /tokenize"},
		{"LLMBENCH_CONCURENCY=8", "LLMBENCH_CONCURENCY: no such variable; the nearest is LLMBENCH_CONCURRENCY"},
		{"LLMBENCH_CONCURRENCY=0", "LLMBENCH_CONCURRENCY=0: want a comma list of different whole numbers, at least 1"},
		{"LLMBENCH_CONCURRENCY=1,x", "LLMBENCH_CONCURRENCY=1,x: want"},
		{"LLMBENCH_CONCURRENCY=8,8", "LLMBENCH_CONCURRENCY=8,8: want"},
		{"LLMBENCH_RATE=-1", "LLMBENCH_RATE=-1: want"},
		{"LLMBENCH_RATE=NaN", "LLMBENCH_RATE=NaN: want"},
		{"LLMBENCH_ANSWERS=none/answers", "LLMBENCH_ANSWERS=none/answers: want a file of answers, or a new file in a folder of this machine"},
		{"LLMBENCH_ANSWERS=.", "LLMBENCH_ANSWERS=.: want a file of answers, or a new file in a folder of this machine"},
		{"LLMBENCH_RATE=10:1m,1", `LLMBENCH_RATE=10:1m,1: stage "1": want NUMBER:TIME or FROM..TO:TIME; stages are like 10:1m,`},
		{"LLMBENCH_RATE=10:1m,0..5:1m:exp", "LLMBENCH_RATE=10:1m,0..5:1m:exp: stage 2: exponential ramp from rate 0 to 5: want both above 0; stages are like"},
		{"LLMBENCH_RATE=1,burstiness=2,3", "LLMBENCH_RATE=1,burstiness=2,3: want"},
		{"LLMBENCH_RATE=burstiness=2", "LLMBENCH_RATE=burstiness=2: want"},
		{"LLMBENCH_RATE=10:1m\nLLMBENCH_REQUESTS=7", "LLMBENCH_REQUESTS=7 and LLMBENCH_RATE=10:1m: want at most one of them, because stages determine the number of requests"},
		{"LLMBENCH_CANCEL=0.1", "LLMBENCH_CANCEL=0.1: want a share and a number of deltas or a time, like 0.1:50"},
		{"LLMBENCH_CANCEL=0.1:9\nLLMBENCH_STREAM=false", "LLMBENCH_CANCEL=0.1:9: with LLMBENCH_STREAM=false there are no deltas"},
		{"LLMBENCH_MIX=sql", "LLMBENCH_MIX=sql: want models and weights above 0, like base=3,sql=1"},
		{"LLMBENCH_MIX=sql=1,sql=2", "LLMBENCH_MIX=sql=1,sql=2: want models"},
		{"LLMBENCH_MIX=sql=0", "LLMBENCH_MIX=sql=0: want models"},
		{"LLMBENCH_MIX==1", "LLMBENCH_MIX==1: want models"},
		{"LLMBENCH_MIX=sql=1,", "LLMBENCH_MIX=sql=1,: want models"},
		{"LLMBENCH_RATE=1,burstiness=0", "LLMBENCH_RATE=1,burstiness=0: want"},
		{"LLMBENCH_RATE=10:1m\nLLMBENCH_DURATION=7s", "LLMBENCH_DURATION=7s and LLMBENCH_RATE=10:1m: want at most one of them, because stages determine the duration"},
		{"LLMBENCH_DURATION=60", "LLMBENCH_DURATION=60: want a duration like 60s, above 0"},
		{"LLMBENCH_REQUESTS=0", "LLMBENCH_REQUESTS=0: want"},
		{"LLMBENCH_INPUT=1.5", "LLMBENCH_INPUT=1.5: want"},
		{"LLMBENCH_OUTPUT=-2", "LLMBENCH_OUTPUT=-2: want"},
		{"LLMBENCH_DATASET= ", "LLMBENCH_DATASET= : want a data set like random:input=512,output=128 or sharegpt:PATH"},
		{"LLMBENCH_DATASET=random:input=5\nLLMBENCH_INPUT=6", "LLMBENCH_DATASET=random:input=5: parameter input=5, but Input (LLMBENCH_INPUT) is 6: want one of them"},
		{"LLMBENCH_DATASET=random:batch=5,7\nLLMBENCH_BATCH=6", "LLMBENCH_DATASET=random:batch=5,7: parameter batch=5,7, but Batches (LLMBENCH_BATCH) is [6]: want one of them"},
		{"LLMBENCH_DATASET=random:output=0", "LLMBENCH_DATASET=random:output=0: parameter output=0: want a whole number of tokens from 1 to 134217728, or one of LOW..HIGH"},
		{"LLMBENCH_DATASET=random:output=normal(5)", "parameter output=normal(5): normal has 1 parameters: want normal(MEAN,DEVIATION)"},
		{"LLMBENCH_DATASET=random-vllm:output=normal(5,1)", "parameter output=normal(5,1): want a whole number, at least 1"},
		{"LLMBENCH_DATASET=sharegpt:x\nLLMBENCH_OUTPUT=normal(5,1)", "LLMBENCH_DATASET=sharegpt:x: the output is normal(5,1): want a whole number of tokens for another data set than random or markov"},
		{"LLMBENCH_DATASET=random:output=normal(5,1)\nLLMBENCH_OUTPUT=normal(5,2)", "the output is normal(5,1) and normal(5,2): want one of them"},
		{"LLMBENCH_DATASET=random:output=5\nLLMBENCH_OUTPUT=normal(5,2)", "the output is 5 and normal(5,2): want one of them"},
		{"LLMBENCH_DATASET=random:output=normal(5,2)\nLLMBENCH_OUTPUT=5", "the output is 5 and normal(5,2): want one of them"},
		{"LLMBENCH_TURNS=0", "LLMBENCH_TURNS=0: want a whole number from 1 to 1000, or one of LOW..HIGH"},
		{"LLMBENCH_SESSIONS=testdata/none.jsonl", "LLMBENCH_SESSIONS=testdata/none.jsonl: stat testdata/none.jsonl: no such file or directory"},
		{"LLMBENCH_SESSIONS=a?cap=1", `LLMBENCH_SESSIONS=a?cap=1: sessions "a?cap=1": parameter cap=1: want a duration like 10m, above 0`},
		{"LLMBENCH_THINK=1", "LLMBENCH_THINK=1: want a time like 500ms from 0s to 24h0m0s, in whole microseconds, or one of"},
		{"LLMBENCH_THINK=exponential(-1s)", `LLMBENCH_THINK=exponential(-1s): exponential: mean is "-1s": want from 1µs to 24h0m0s`},
		{"LLMBENCH_DATASET=random:cosine=2", "LLMBENCH_DATASET=random:cosine=2: parameter cosine=2: want a number from 0 to 1"},
		{"LLMBENCH_DATASET=random:512", `LLMBENCH_DATASET=random:512: dataset "random:512": random reads no file: want parameters like random:output=100`},
		{"LLMBENCH_STREAM=maybe", "LLMBENCH_STREAM=maybe: want true or false"},
		{"LLMBENCH_WARMUP=-1", "LLMBENCH_WARMUP=-1: want a number of requests, at least 0, or a time like 10s, above 0"},
		{"LLMBENCH_WARMUP=-1s", "LLMBENCH_WARMUP=-1s: want"},
		{"LLMBENCH_WARMUP=1s\nLLMBENCH_RATE=3", "LLMBENCH_WARMUP=1s and LLMBENCH_RATE=3: want a number of requests for an open loop"},
		{"LLMBENCH_WARMUP=1s\nLLMBENCH_CONCURRENCY=0..3:1s", "LLMBENCH_WARMUP=1s and LLMBENCH_CONCURRENCY=0..3:1s: want a first stage that begins with a user"},
		{"LLMBENCH_CONCURRENCY=1..3", "LLMBENCH_CONCURRENCY=1..3: want a comma list of different whole numbers, at least 1, or stages like 1..64:30s,"},
		{"LLMBENCH_CONCURRENCY=1..3.5:1s", "LLMBENCH_CONCURRENCY=1..3.5:1s: stage 1: 1..3.5:1s: want whole numbers of users from 0 to 1000000; stages are like 1..64:30s,"},
		{"LLMBENCH_CONCURRENCY=1:1s,3", `LLMBENCH_CONCURRENCY=1:1s,3: stage "3": want NUMBER:TIME or FROM..TO:TIME; stages are like`},
		{"LLMBENCH_CONCURRENCY=3:1s,3..0:1s,0:1s", "LLMBENCH_CONCURRENCY=3:1s,3..0:1s,0:1s: stages: the last one has no user: want at least one"},
		{"LLMBENCH_CONCURRENCY=1..3:1s\nLLMBENCH_REQUESTS=7", "LLMBENCH_REQUESTS=7 and LLMBENCH_CONCURRENCY=1..3:1s: want at most one of them, because stages determine the number of requests"},
		{"LLMBENCH_CONCURRENCY=1..3:1s\nLLMBENCH_DURATION=7s", "LLMBENCH_DURATION=7s and LLMBENCH_CONCURRENCY=1..3:1s: want at most one of them, because stages determine the duration"},
		{"LLMBENCH_TIMEOUT=10", "LLMBENCH_TIMEOUT=10: want a duration like 10m"},
		{"LLMBENCH_IDLE_TIMEOUT=0s", "LLMBENCH_IDLE_TIMEOUT=0s: want"},
		{"LLMBENCH_MAX_FAIL=1.1", "LLMBENCH_MAX_FAIL=1.1: want a number from 0 to 1"},
		{"LLMBENCH_SLO=fast", "LLMBENCH_SLO=fast: want limits like"},
		{"LLMBENCH_SEED=-1", "LLMBENCH_SEED=-1: want"},
		{"LLMBENCH_FULL= ", "LLMBENCH_FULL= : want 1, 0 or the name of a published experiment"},
		{"LLMBENCH_DATA=config.go", "LLMBENCH_DATA=config.go: want a folder of this machine"},
		{"LLMBENCH_RATE=1\nLLMBENCH_CONCURRENCY=1", "LLMBENCH_CONCURRENCY and LLMBENCH_RATE: want at most one"},
		{"LLMBENCH_STREAM=false\nLLMBENCH_SLO=ttft=1s", "only e2e can be judged"},
		{"LLMBENCH_INPUT=x\nLLMBENCH_OUTPUT=y", "LLMBENCH_INPUT=x: want a whole number of tokens from 1 to 134217728, or one of LOW..HIGH, uniform(LOW,HIGH), normal(MEAN,DEVIATION), lognormal(MEDIAN,SIGMA), exponential(MEAN), gamma(MEAN,SHAPE), mix(WEIGHT*DISTRIBUTION,...)\nLLMBENCH_OUTPUT=y: want"},
	} {
		_, err := parseConfig(strings.Split(tt.environ, "\n"))
		assert.ErrorContains(t, err, tt.want)
	}
}

// TestOldVariables checks that an old variable has the effect of the value that its hint names. Equal options give equal
// names and configuration lines.
func TestOldVariables(t *testing.T) {
	for _, tt := range []struct{ old, now string }{
		{"LLMBENCH_STAGES=10:1m,10..50:30s:exp", "LLMBENCH_RATE=10:1m,10..50:30s:exp"},
		{"LLMBENCH_BURSTINESS=0.5\nLLMBENCH_RATE=2,4", "LLMBENCH_RATE=2,4,burstiness=0.5"},
		{"LLMBENCH_BURSTINESS=0.5\nLLMBENCH_STAGES=10:1m", "LLMBENCH_RATE=10:1m,burstiness=0.5"},
		{"LLMBENCH_DIMENSIONS=8", "LLMBENCH_DATASET=random:dimensions=8"},
		{"LLMBENCH_COSINE=0\nLLMBENCH_DIMENSIONS=8", "LLMBENCH_DATASET=random:dimensions=8,cosine=0"},
	} {
		old, now := strings.Split(tt.old, "\n"), strings.Split(tt.now, "\n")
		got, err := parseConfig(old)
		assert.NilError(t, err)
		want, err := parseConfig(now)
		assert.NilError(t, err)
		assert.DeepEqual(t, got.Options, want.Options)
		for _, hint := range env.NewReader(old).Hints() {
			assert.Assert(t, strings.HasSuffix(hint, ": set "+tt.now), hint)
		}
		assert.Equal(t, len(env.NewReader(old).Hints()), strings.Count(tt.old, "LLMBENCH_")-strings.Count(tt.old, "LLMBENCH_RATE"))
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("CONCURRENCY", "1,8")
	f.Add("SLO", "ttft=500ms,tpot=50ms,e2e=10s")
	f.Add("RATE", "1e308")
	f.Add("INPUT", "lognormal(512,0.6,16..)")
	f.Add("DATASET", "random:prefix=3,output=mix(3*64,1*normal(9,2)),batch=1,2")
	f.Add("TURNS", "2..8")
	f.Add("THINK", "exponential(500ms,..1m)")
	f.Fuzz(func(t *testing.T, name, value string) {
		c, err := parseConfig([]string{"LLMBENCH_" + name + "=" + value})
		if err != nil {
			return
		}
		for _, n := range c.Concurrencies {
			assert.Assert(t, n > 0, "LLMBENCH_%s=%q: %+v", name, value, c)
		}
		assert.Assert(t, c.Input >= 0, "LLMBENCH_%s=%q: %+v", name, value, c)
		again, err := c.Options.separated() // the canonical form
		assert.NilError(t, err, "LLMBENCH_%s=%q: %+v", name, value, c)
		assert.Equal(t, again.Dataset, c.Dataset, "LLMBENCH_%s=%q", name, value)
		assert.Assert(t, c.Timeout > 0 && c.IdleTimeout > 0, "LLMBENCH_%s=%q: %+v", name, value, c)
		assert.Assert(t, c.MaxFail >= 0 && c.MaxFail <= 1, "LLMBENCH_%s=%q: %+v", name, value, c)
	})
}
