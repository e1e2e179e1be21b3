package llmbench

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Config is what the LLMBENCH_* environment variables say. Each field's
// comment names its variable.
type Config struct {
	Backends  []string        // LLMBENCH_BACKEND: servers to measure; "mock"
	URL       string          // LLMBENCH_URL: measure this server instead
	Name      string          // LLMBENCH_NAME: what to call it; "url"
	Dialect   dialect.Dialect // LLMBENCH_DIALECT; openai-chat
	Model     string          // LLMBENCH_MODEL
	APIKey    Secret          // LLMBENCH_API_KEY: bearer token of requests to either
	Image     string          // LLMBENCH_IMAGE: of the server's container; the backend's own
	Args      []string        // LLMBENCH_ARGS: further arguments of that server, quoted as in a shell
	GPUs      string          // LLMBENCH_GPUS: that it gets: ids, all or none
	ModelsDir string          // LLMBENCH_MODELS_DIR: folder of this machine with models
	Quant     string          // LLMBENCH_QUANT: how the weights are quantized, in the server's words
	Mock      string          // LLMBENCH_MOCK: the mock's profile, a name or a JSON file
	MockSpeed float64         // LLMBENCH_MOCK_SPEED: how many times faster than real time it runs; 0: as the profile says
	Tokenizer string          // LLMBENCH_TOKENIZER: a tokenizer.json file
	Out       string          // LLMBENCH_OUT: folder for per-request records
	AllUnits  bool            // LLMBENCH_UNITS: core or all
	Bound     ClientBound     // LLMBENCH_CLIENT_BOUND: what becomes of figures that the client distorts; "" is as fail
	Progress  Progress        // LLMBENCH_PROGRESS: where passes show how far they have come; "" is as none
	Require   []string        // LLMBENCH_REQUIRE: what tests must find rather than skip without, e.g. llamacpp
	Mirror    string          // LLMBENCH_DEBIAN_MIRROR: where tests find packages to build a real server of
	Cache     string          // LLMBENCH_CACHE: where they keep it; the user's cache folder
	Full      string          // LLMBENCH_FULL: "1": scenarios as they were published; or the name of one published experiment; "": reduced
	Data      string          // LLMBENCH_DATA: folder with the data sets of published experiments, by their published names
	Serve     ServeConfig
}

// A ServeConfig is the part of a [Config] that BenchmarkServe is made of.
type ServeConfig struct {
	Concurrency []int         // LLMBENCH_CONCURRENCY: closed loop, one sub-benchmark each; 1,8
	Rate        []float64     // LLMBENCH_RATE: open loop instead, requests per second, one sub-benchmark each
	Burstiness  float64       // LLMBENCH_BURSTINESS: gamma shape of the arrivals; 1 is Poisson
	Requests    int           // LLMBENCH_REQUESTS: requests in a pass; 0 means 8 x concurrency, at least 16
	Stages      []Stage       // LLMBENCH_STAGES: open loop whose rate changes, one sub-benchmark
	LoadSet     bool          // one of these is set: a trace is not replayed
	Input       int           // LLMBENCH_INPUT: prompt length in tokens; 512, or 0: as the dataset has it
	Output      int           // LLMBENCH_OUTPUT: output length in tokens; 128, or 0: as the dataset has it
	Dataset     string        // LLMBENCH_DATASET: random, or another that benchdata.Open knows
	Stream      bool          // LLMBENCH_STREAM; true
	Warmup      int           // LLMBENCH_WARMUP: requests sent first; -1 means 2 x concurrency
	Timeout     time.Duration // LLMBENCH_TIMEOUT: per request; 10m
	IdleTimeout time.Duration // LLMBENCH_IDLE_TIMEOUT: between two events of a stream; 60s
	MaxFail     float64       // LLMBENCH_MAX_FAIL: tolerated share of failed requests; 0
	SLO         sample.SLO    // LLMBENCH_SLO
	Cancel      Cancel        // LLMBENCH_CANCEL: share of the clients that leave, and when
	Seed        uint64        // LLMBENCH_SEED: of prompts, lengths and arrivals; 1
}

// A Secret is a text that prints as nothing of itself, however it is printed.
// Reveal returns it.
type Secret struct{ text string }

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return s.text }

// String returns a placeholder.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return "[secret]"
}

// GoString returns a placeholder.
func (s Secret) GoString() string { return s.String() }

// ReadConfig reads the process's environment, once. Its error names each
// variable that cannot be used, its value, and what is allowed; an unknown
// variable that begins with LLMBENCH_ is one of them.
var ReadConfig = sync.OnceValues(func() (Config, error) { return ParseConfig(os.Environ()) })

// requirements are what LLMBENCH_REQUIRE can ask for.
var requirements = []string{"docker", "llamacpp"}

// ParseConfig reads a [Config] from an environment in the form of [os.Environ].
func ParseConfig(environ []string) (Config, error) {
	c := Config{
		Backends: []string{"mock"},
		Name:     "url",
		Dialect:  dialect.OpenAIChat{},
		Serve: ServeConfig{
			Concurrency: []int{1, 8},
			Burstiness:  1,
			Dataset:     "random",
			Stream:      true,
			Warmup:      -1,
			Timeout:     DefaultTimeout,
			IdleTimeout: DefaultIdleTimeout,
			Seed:        1,
		},
	}
	s := &c.Serve
	// Each variable's reader, and what it allows.
	variables := map[string]struct {
		read    func(v string) error
		allowed string
	}{
		"BACKEND":       {list(&c.Backends, text), "a comma list of different servers"},
		"URL":           {baseURL(&c.URL), "a base URL like http://127.0.0.1:8000, without /v1"},
		"NAME":          {single(&c.Name, text), "a name"},
		"DIALECT":       {single(&c.Dialect, dialect.ByName), "one of " + strings.Join(dialect.Names(), ", ")},
		"MODEL":         {single(&c.Model, text), "a model's name"},
		"API_KEY":       {func(v string) error { c.APIKey = Secret{v}; return nil }, "a bearer token"},
		"IMAGE":         {single(&c.Image, text), "an image's name with a tag or a digest"},
		"ARGS":          {single(&c.Args, shellquote.Split), "arguments, quoted as in a shell"},
		"GPUS":          {single(&c.GPUs, text), "ids like 0,1, all or none"},
		"MODELS_DIR":    {single(&c.ModelsDir, folder), "a folder of this machine"},
		"QUANT":         {single(&c.Quant, text), "a quantization in the server's words, like awq or Q4_K_M"},
		"MOCK":          {single(&c.Mock, text), "a profile's name or a JSON file"},
		"MOCK_SPEED":    {single(&c.MockSpeed, positive), "a number above 0"},
		"TOKENIZER":     {single(&c.Tokenizer, text), "a tokenizer.json file"},
		"OUT":           {single(&c.Out, text), "a folder"},
		"CLIENT_BOUND":  {single(&c.Bound, clientBound), "fail, withhold or report"},
		"UNITS":         {single(&c.AllUnits, unitSet), "core or all"},
		"PROGRESS":      {single(&c.Progress, progressPlace), "none or tty"},
		"REQUIRE":       {list(&c.Require, requirement), "a comma list of " + strings.Join(requirements, ", ")},
		"DEBIAN_MIRROR": {single(&c.Mirror, text), "the URL of a package mirror"},
		"CACHE":         {single(&c.Cache, text), "a folder"},
		"FULL":          {single(&c.Full, full), "1, 0 or the name of a published experiment"},
		"DATA":          {single(&c.Data, folder), "a folder of this machine"},
		"CONCURRENCY":   {list(&s.Concurrency, atLeast(1)), "a comma list of different whole numbers, at least 1"},
		"RATE":          {list(&s.Rate, positive), "a comma list of different rates in requests per second, above 0"},
		"STAGES":        {single(&s.Stages, ParseStages), "stages like 10:1m,10..50:2m,50..5:1m:exp: a rate, or a ramp from one to another, and a time"},
		"BURSTINESS":    {single(&s.Burstiness, positive), "a number above 0"},
		"REQUESTS":      {single(&s.Requests, atLeast(1)), "a whole number, at least 1"},
		"INPUT":         {single(&s.Input, atLeast(1)), "a whole number of tokens, at least 1"},
		"OUTPUT":        {single(&s.Output, atLeast(1)), "a whole number of tokens, at least 1"},
		"DATASET":       {single(&s.Dataset, text), "a data set like random or sharegpt:PATH"},
		"STREAM":        {single(&s.Stream, strconv.ParseBool), "true or false"},
		"WARMUP":        {single(&s.Warmup, atLeast(0)), "a whole number, at least 0"},
		"TIMEOUT":       {single(&s.Timeout, duration), "a duration like 10m, above 0"},
		"IDLE_TIMEOUT":  {single(&s.IdleTimeout, duration), "a duration like 60s, above 0"},
		"MAX_FAIL":      {single(&s.MaxFail, share), "a number from 0 to 1"},
		"SLO":           {single(&s.SLO, sample.ParseSLO), "limits like ttft=500ms,tpot=50ms,e2e=10s"},
		"CANCEL":        {single(&s.Cancel, ParseCancel), "a share and a number of deltas or a time, like 0.1:50 or 0.1:2s"},
		"SEED":          {single(&s.Seed, func(v string) (uint64, error) { return strconv.ParseUint(v, 10, 64) }), "a whole number, at least 0"},
	}
	var errs []error
	set := map[string]bool{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		short, ours := strings.CutPrefix(name, "LLMBENCH_")
		if !ours {
			continue
		}
		v, known := variables[short]
		if !known {
			errs = append(errs, fmt.Errorf("%s: no such variable", name))
			continue
		}
		if value == "" { // as if it were not set
			continue
		}
		set[short] = true
		if err := v.read(value); err != nil {
			if short == "API_KEY" || short == "URL" || short == "ARGS" { // may hold a secret
				value = "[not shown]"
			}
			errs = append(errs, fmt.Errorf("%s=%s: want %s", name, value, v.allowed))
		}
	}
	if s.Dataset == "random" {
		s.Input, s.Output = cmp.Or(s.Input, 512), cmp.Or(s.Output, 128)
	}
	s.LoadSet = set["CONCURRENCY"] || set["RATE"] || set["STAGES"]
	both := func(a, b string) {
		if set[a] && set[b] {
			errs = append(errs, fmt.Errorf("LLMBENCH_%s and LLMBENCH_%s: want at most one of them", a, b))
		}
	}
	needs := func(a, b string) {
		if set[a] && !set[b] {
			errs = append(errs, fmt.Errorf("LLMBENCH_%s: means nothing without LLMBENCH_%s", a, b))
		}
	}
	both("BACKEND", "URL")
	both("MOCK", "URL")
	both("MOCK_SPEED", "URL")
	for _, name := range []string{"IMAGE", "ARGS", "GPUS", "MODELS_DIR", "QUANT"} {
		needs(name, "BACKEND")
	}
	both("CONCURRENCY", "RATE")
	both("CONCURRENCY", "STAGES")
	both("RATE", "STAGES")
	both("REQUESTS", "STAGES")
	needs("NAME", "URL")
	if !set["URL"] && slices.Equal(c.Backends, []string{"mock"}) {
		needs("TOKENIZER", "URL")
		needs("API_KEY", "URL")
	}
	if !set["STAGES"] {
		needs("BURSTINESS", "RATE")
	}
	if !s.Stream && (s.SLO.TTFT > 0 || s.SLO.TPOT > 0) {
		errs = append(errs, fmt.Errorf("LLMBENCH_SLO=%v: with LLMBENCH_STREAM=false only e2e can be judged", s.SLO))
	}
	if !s.Stream && s.Cancel.Deltas > 0 {
		errs = append(errs, fmt.Errorf("LLMBENCH_CANCEL=%v: with LLMBENCH_STREAM=false there are no deltas; want a time", s.Cancel))
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return c, errors.Join(errs...)
}
