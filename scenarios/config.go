package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A config holds the environment variables that scenarios read.
type config struct {
	Tokenizer string // LLMBENCH_TOKENIZER: a tokenizer.json file
	Full      string // LLMBENCH_FULL: "1" for all scenarios as they were published, or the name of one published experiment; "" for the reduced forms
	Data      string // LLMBENCH_DATA: folder with the data sets of published experiments, under their published names
	Answers   string // LLMBENCH_ANSWERS: file with the reference answers of Agreement, which is written if it does not exist
	Items     itemsConfig
	Serve     serveConfig
}

// An itemsConfig holds the environment variables of Embeddings and Rerank.
type itemsConfig struct {
	Batches    []int   // LLMBENCH_BATCH: numbers of inputs of a request, each in its own sub-benchmark; 1,8,32
	Dimensions int     // LLMBENCH_DIMENSIONS: length of the vectors to ask for; 0, which means the model's own
	Cosine     float64 // LLMBENCH_COSINE: least cosine between vectors of equal inputs; 0.999
}

// leastCosine is the default of [Options].Cosine. A server computes a text's vector in batches of different
// shapes, with numbers of 16 bits, whose rounding errors add up over the layers to about a percent of the
// vector. An error of the share e, in any direction perpendicular to the vector, makes the cosine about
// 1 - e²/2, which is 0.99995 for 1 % and 0.999 for 4.5 %. Different texts of a batch, if a server mixes them
// up, usually have cosines below 0.95.
const leastCosine = 0.999

// A serveConfig holds the environment variables that define BenchmarkServe's load. After a semicolon, a
// field's comment gives the default.
type serveConfig struct {
	Concurrency []int             // LLMBENCH_CONCURRENCY: numbers of users of a closed loop, each in its own sub-benchmark; 1,8
	Rate        []float64         // LLMBENCH_RATE: rates of an open loop in requests per second, each in its own sub-benchmark
	Burstiness  float64           // LLMBENCH_BURSTINESS: shape of the gamma distribution of the arrivals; 1, which is Poisson
	Requests    int               // LLMBENCH_REQUESTS: requests in a pass; 0, which means 8 x concurrency and at least 16
	Stages      []arrivals.Stage  // LLMBENCH_STAGES: stages of an open loop whose rate changes, in one sub-benchmark
	LoadSet     bool              // whether LLMBENCH_CONCURRENCY, _RATE or _STAGES is set; if so, a trace is not replayed
	Input       int               // LLMBENCH_INPUT: prompt length in tokens; 512 for random, otherwise 0, which means the lengths in the data set
	Output      int               // LLMBENCH_OUTPUT: output length in tokens; 128 for random, otherwise 0, which means the lengths in the data set
	Dataset     string            // LLMBENCH_DATASET: a data set that benchdata.Open knows; random
	Mix         []benchdata.Share // LLMBENCH_MIX: models and their weights; none, which means one model
	Stream      bool              // LLMBENCH_STREAM; true
	Warmup      int               // LLMBENCH_WARMUP: requests sent before the measurement; -1, which means 2 x concurrency
	Timeout     time.Duration     // LLMBENCH_TIMEOUT: for each request; 10m
	IdleTimeout time.Duration     // LLMBENCH_IDLE_TIMEOUT: between two events of a stream; 60s
	MaxFail     float64           // LLMBENCH_MAX_FAIL: tolerated share of failed requests; 0
	MaxShed     float64           // LLMBENCH_MAX_SHED: tolerated share of shed requests; 0, which counts them as failed
	SLO         sample.SLO        // LLMBENCH_SLO
	Cancel      llmbench.Cancel   // LLMBENCH_CANCEL: share of the clients that leave early, and when they leave
	Seed        uint64            // LLMBENCH_SEED: seed of prompts, lengths and arrivals; 1
}

func init() { env.Register(func(r *env.Reader) { parseOwn(r) }) }

// readConfig reads the process's environment. It checks the variables of all packages in the process, and
// returns an error that names each variable that cannot be used.
func readConfig() (config, error) {
	environ := os.Environ()
	if err := env.Check(environ); err != nil {
		return config{}, err
	}
	return parseConfig(environ)
}

// parseConfig reads a config from an environment in the form of [os.Environ].
func parseConfig(environ []string) (config, error) {
	r := env.NewReader(environ)
	c := parseOwn(r)
	return c, r.Err()
}

// parseOwn reads a config. It adds errors to r.
func parseOwn(r *env.Reader) config {
	c := config{Serve: parseServe(r), Items: itemsConfig{Batches: []int{1, 8, 32}, Cosine: leastCosine}}
	env.Read(r, &c.Items.Batches, "LLMBENCH_BATCH", env.List(env.AtLeast(1)), "a comma list of different whole numbers, at least 1")
	env.Read(r, &c.Items.Dimensions, "LLMBENCH_DIMENSIONS", env.AtLeast(1), "a whole number, at least 1")
	env.Read(r, &c.Items.Cosine, "LLMBENCH_COSINE", env.Share, "a number from 0 to 1")
	env.Read(r, &c.Tokenizer, "LLMBENCH_TOKENIZER", env.Text, "a tokenizer.json file")
	env.Read(r, &c.Full, "LLMBENCH_FULL", env.Full, "1, 0 or the name of a published experiment")
	env.Read(r, &c.Data, "LLMBENCH_DATA", env.Folder, "a folder of this machine")
	env.Read(r, &c.Answers, "LLMBENCH_ANSWERS", env.Text, "a file of answers, or a new file in a folder of this machine")
	return c
}

// parseServe reads a serveConfig. It adds errors to r.
func parseServe(r *env.Reader) serveConfig {
	s := serveConfig{
		Concurrency: []int{1, 8},
		Burstiness:  1,
		Dataset:     "random",
		Stream:      true,
		Warmup:      -1,
		Timeout:     llmbench.DefaultTimeout,
		IdleTimeout: llmbench.DefaultIdleTimeout,
		Seed:        1,
	}
	env.Read(r, &s.Concurrency, "LLMBENCH_CONCURRENCY", env.List(env.AtLeast(1)), "a comma list of different whole numbers, at least 1")
	env.Read(r, &s.Rate, "LLMBENCH_RATE", env.List(env.Positive), "a comma list of different rates in requests per second, above 0")
	env.Read(r, &s.Stages, "LLMBENCH_STAGES", arrivals.ParseStages, "stages like 10:1m,10..50:2m,50..5:1m:exp: a rate, or a ramp from one to another, and a time")
	env.Read(r, &s.Burstiness, "LLMBENCH_BURSTINESS", env.Positive, "a number above 0")
	env.Read(r, &s.Requests, "LLMBENCH_REQUESTS", env.AtLeast(1), "a whole number, at least 1")
	env.Read(r, &s.Input, "LLMBENCH_INPUT", env.AtLeast(1), "a whole number of tokens, at least 1")
	env.Read(r, &s.Output, "LLMBENCH_OUTPUT", env.AtLeast(1), "a whole number of tokens, at least 1")
	env.Read(r, &s.Dataset, "LLMBENCH_DATASET", env.Text, "a data set like random or sharegpt:PATH")
	env.Read(r, &s.Mix, "LLMBENCH_MIX", parseMix, "models and weights above 0, like base=3,sql=1")
	env.Read(r, &s.Stream, "LLMBENCH_STREAM", strconv.ParseBool, "true or false")
	env.Read(r, &s.Warmup, "LLMBENCH_WARMUP", env.AtLeast(0), "a whole number, at least 0")
	env.Read(r, &s.Timeout, "LLMBENCH_TIMEOUT", env.Duration, "a duration like 10m, above 0")
	env.Read(r, &s.IdleTimeout, "LLMBENCH_IDLE_TIMEOUT", env.Duration, "a duration like 60s, above 0")
	env.Read(r, &s.MaxFail, "LLMBENCH_MAX_FAIL", env.Share, "a number from 0 to 1")
	env.Read(r, &s.MaxShed, "LLMBENCH_MAX_SHED", env.Share, "a number from 0 to 1")
	env.Read(r, &s.SLO, "LLMBENCH_SLO", sample.ParseSLO, "limits like ttft=500ms,tpot=50ms,e2e=10s")
	env.Read(r, &s.Cancel, "LLMBENCH_CANCEL", llmbench.ParseCancel, "a share and a number of deltas or a time, like 0.1:50 or 0.1:2s")
	env.Read(r, &s.Seed, "LLMBENCH_SEED", env.Uint64, "a whole number, at least 0")
	if s.Dataset == "random" {
		s.Input, s.Output = cmp.Or(s.Input, 512), cmp.Or(s.Output, 128)
	}
	s.LoadSet = r.IsSet("LLMBENCH_CONCURRENCY") || r.IsSet("LLMBENCH_RATE") || r.IsSet("LLMBENCH_STAGES")

	r.Exclusive("LLMBENCH_CONCURRENCY", "LLMBENCH_RATE")
	r.Exclusive("LLMBENCH_CONCURRENCY", "LLMBENCH_STAGES")
	r.Exclusive("LLMBENCH_RATE", "LLMBENCH_STAGES")
	r.Exclusive("LLMBENCH_REQUESTS", "LLMBENCH_STAGES")
	if !r.IsSet("LLMBENCH_STAGES") {
		r.Requires("LLMBENCH_BURSTINESS", "LLMBENCH_RATE")
	}
	if !s.Stream && (s.SLO.TTFT > 0 || s.SLO.TPOT > 0) {
		r.Errorf("LLMBENCH_SLO=%v: with LLMBENCH_STREAM=false only e2e can be judged", s.SLO)
	}
	if !s.Stream && s.Cancel.Deltas > 0 {
		r.Errorf("LLMBENCH_CANCEL=%v: with LLMBENCH_STREAM=false there are no deltas; want a time", s.Cancel)
	}
	return s
}

// parseMix parses different models with their weights, such as base=3,sql=1. The name of a model may contain an equals
// sign.
func parseMix(v string) (mix []benchdata.Share, err error) {
	for part := range strings.SplitSeq(v, ",") {
		i := strings.LastIndexByte(part, '=')
		if i < 0 {
			return nil, errors.New("no weight")
		}
		s := benchdata.Share{Model: strings.TrimSpace(part[:i])}
		if s.Weight, err = env.Positive(strings.TrimSpace(part[i+1:])); err != nil {
			return nil, err
		}
		if s.Model == "" || slices.ContainsFunc(mix, func(o benchdata.Share) bool { return o.Model == s.Model }) {
			return nil, fmt.Errorf("the model %q; want different names", s.Model)
		}
		mix = append(mix, s)
	}
	return mix, nil
}
