package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
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

// Options change a scenario. If a field is zero, the scenario uses its own value, or the value of the
// environment variable named in the field's comment, if the scenario reads this variable. The table in README.md says
// which it reads. It is an error if another variable of this table is set, unless another benchmark that the process runs
// is a scenario that reads it.
//
// A value that cannot be used ends the benchmark with an error before any request is sent.
type Options struct {
	// Concurrencies are the numbers of requests in flight; a closed loop is
	// measured with each. Sweep, SLO, Trace and Interference choose their loads themselves,
	// and so do published loads (see Full). LLMBENCH_CONCURRENCY, which has either Concurrencies or Users.
	Concurrencies []int
	// Requests is the number of requests in a pass. Sweep, SLO and Interference choose it
	// themselves. 0 means a number that suits the concurrency. LLMBENCH_REQUESTS.
	Requests int
	// Duration is for how long a pass sends requests: see [llmbench.Load]. Requests is then the largest number of
	// requests in a pass; 0 means as many as the time needs. In an open loop at a constant rate, and in the replay of a
	// trace, Duration determines the number of requests: those that are due by then. LLMBENCH_DURATION.
	Duration time.Duration
	// Seed determines prompts, lengths and arrivals; 0 means LLMBENCH_SEED, by default 1. The words in
	// prompts also depend on [llmbench.Target.Salt].
	Seed uint64
	// Full selects the form of a scenario. "1" is the full form: for a published scenario, all published
	// loads. The name of an experiment in benchdata/published, for example "D11", selects only this
	// experiment. "0" is the reduced form, which ends in seconds on the simulated server and needs no file.
	// "" means LLMBENCH_FULL, by default the reduced form.
	Full string
	// Data is the folder that contains the data sets of published loads, under their published names; ""
	// means LLMBENCH_DATA.
	Data string
	// Limits are the limits that a good request meets. SLO searches for the highest load that meets them;
	// Serve, Concurrency, Sweep and Trace count the requests that meet them (good-req/s). Zero means LLMBENCH_SLO.
	Limits sample.SLO
	// Tokenizer counts the tokens of prompts, so that prompts have the length that the scenario specifies.
	// It also counts the output of servers that report no usage.
	//
	// nil means the tokenizer.json named in LLMBENCH_TOKENIZER. Without that, the server's /tokenize or, on
	// Ollama, the vocabulary that the server shows is used. If the server has neither, and the load needs
	// given lengths, lengths are estimated from the usage that the server reports for a few prompts.
	Tokenizer llmbench.Tokenizer
	// Simulated says that the target is the simulated server (package mockserver), for which every word is
	// a token. Published loads then send random words of the same mean length in place of a data set.
	// Simulated need not be set if [llmbench.Target].Simulated is set.
	Simulated bool
	// MaxFail is the tolerated share of failed requests, from 0 to 1. If more requests fail, the benchmark
	// fails. LLMBENCH_MAX_FAIL.
	MaxFail float64
	// MaxShed is the tolerated share of requests that the server sheds; see [llmbench.Load].
	// LLMBENCH_MAX_SHED.
	MaxShed float64
	// Tenants are the headers of the light and of the heavy tenant of Fairness, such as two API keys. Zero
	// means the field X-Gateway-Inference-Fairness-Id with the values light and heavy.
	Tenants [2]http.Header
	// Timeout limits the duration of a request, and IdleTimeout limits the time without output within a stream.
	// Published loads have their own timeouts. LLMBENCH_TIMEOUT, by default 10 minutes, and
	// LLMBENCH_IDLE_TIMEOUT, by default 60 seconds.
	Timeout, IdleTimeout time.Duration

	// The fields Batches, Dimensions and Cosine are for Embeddings and Rerank.

	// Batches are the numbers of inputs, or documents, of a request; each is measured: LLMBENCH_BATCH, by
	// default 1, 8 and 32.
	Batches []int
	// Dimensions is the length of the vectors to ask for; 0 means the parameter dimensions of LLMBENCH_DATASET,
	// by default the model's own length.
	Dimensions int
	// Cosine is the least cosine, from 0 to 1, between the vectors of two equal inputs: the parameter cosine of
	// LLMBENCH_DATASET, by default 0.999. If two such vectors differ more, the benchmark fails.
	Cosine float64

	// Turns and Think are for MultiTurn: the number of turns of a conversation, and the time from the end of an answer
	// to the user's next turn. Each is a single number or a distribution, as [benchdata.ParseCount] and
	// [benchdata.ParseTime] read them: "3", "2..8", "500ms", "exponential(500ms)". With every(…) around it, as in
	// "every(10s)", the time is from one send to the next; see Every of [llmbench.Turn]. They are drawn by Seed, and the
	// same in all passes. LLMBENCH_TURNS, by default 5, and LLMBENCH_THINK, by default 0s, and 1s in the full form.
	Turns, Think string

	// Sessions are for Agent: a file of recorded sessions, with parameters, that [benchdata.OpenSessions] knows. LLMBENCH_SESSIONS, by default
	// six made-up sessions.
	Sessions string

	// Classes are for MixedLoad: the classes of requests, each with a load, lengths or a data set, header fields, members of the
	// body and limits of its own, in the form of LLMBENCH_CLASSES:
	//
	//	chat:users=8,input=256,output=64,body={"priority":0},ttft=500ms; batch:rate=2,dataset=sharegpt:PATH,header=X-Priority: low
	//
	// The limits add the unit NAME-good-req/s.
	Classes string

	// The fields below are for Serve. Dataset also applies to other scenarios, as README.md says. Input and Output also
	// apply to most of them, and to scenarios with random prompts of one length, such as Reasoning.

	// Rates are the rates of open loops in requests per second, at most 1,000,000, each of which is measured. Stages describe an
	// open loop whose rate changes. LLMBENCH_RATE has either. Users are numbers of users of a closed loop that
	// change with time: LLMBENCH_CONCURRENCY. At most one of Concurrencies, Users, Rates and Stages may
	// be set.
	Rates  []float64
	Stages []arrivals.Stage
	Users  arrivals.Users
	// Burstiness is the shape parameter of the gamma distribution of an open loop's arrivals: burstiness in
	// LLMBENCH_RATE, by default 1, which is Poisson.
	Burstiness float64
	// Dataset is a data set that [benchdata.Open] knows: LLMBENCH_DATASET, by default "random", or what the scenario
	// sends without one.
	Dataset string
	// Mix divides the requests among models or LoRA adapters by weight, and reports units of each model:
	// LLMBENCH_MIX, by default none. See [benchdata.Mix].
	Mix []benchdata.Share
	// Input and Output are the lengths of prompts and answers in tokens: LLMBENCH_INPUT and LLMBENCH_OUTPUT, or the
	// parameters input and output of Dataset. 0 means the scenario's own lengths for random words (Serve: 512 and 128),
	// and the data set's own lengths otherwise. Lengths that are drawn from a distribution are parameters of Dataset:
	// "random:input=lognormal(512,0.6),output=128". They depend on Seed alone, so all loads and all passes have the same.
	Input, Output int
	// NoStream requests whole answers instead of streams: LLMBENCH_STREAM=false.
	NoStream bool
	// Warmup is the number of requests that are sent before the measurement: LLMBENCH_WARMUP, by default
	// twice the concurrency, or 2 in an open loop and with WarmupFor. A negative number means none.
	Warmup int
	// MaxInFlight is the maximum number of requests of an open loop that are in flight at once, as in [llmbench.Load]:
	// LLMBENCH_MAX_IN_FLIGHT. 0 means no maximum.
	MaxInFlight int
	// WarmupFor is for how long a closed loop with a Duration or with Users runs before it is measured, in each pass: see
	// [llmbench.Load]. LLMBENCH_WARMUP, which has either a number of requests or a time.
	WarmupFor time.Duration
	// Cancel makes a share of the clients leave early: LLMBENCH_CANCEL.
	Cancel llmbench.Cancel
}

// ErrNothing is wrapped by the errors of [Scenario.Check] if a scenario has nothing to measure. In this
// case, [Scenario.Run] skips its benchmark.
var ErrNothing = errors.New("nothing to measure")

// check returns an error for values that are invalid in every scenario.
func (o Options) check() error {
	loads := 0
	for _, set := range []bool{len(o.Concurrencies) > 0, len(o.Users) > 0, len(o.Rates) > 0, len(o.Stages) > 0} {
		if set {
			loads++
		}
	}
	switch {
	case loads > 1:
		return errors.New("options: want at most one of Concurrencies, Users, Rates and Stages")
	case slices.ContainsFunc(o.Concurrencies, func(n int) bool { return n < 1 }) || repeats(o.Concurrencies):
		return fmt.Errorf("options: Concurrencies %v: want different numbers, each at least 1", o.Concurrencies)
	case slices.ContainsFunc(o.Rates, func(r float64) bool { return !isRate(r) }) || repeats(o.Rates):
		return fmt.Errorf("options: Rates %v: want different numbers above 0, at most %.0f", o.Rates, mostRate)
	case o.Requests < 0:
		return fmt.Errorf("options: Requests %d: want at least 1, or 0 for the scenario's own number", o.Requests)
	case o.Duration < 0 || o.Duration > 0 && len(o.Stages)+len(o.Users) > 0:
		return fmt.Errorf("options: Duration %v: want above 0, or 0 for a number of requests, and no Stages or Users", o.Duration)
	case len(o.Users) > 0 && o.Requests > 0:
		return fmt.Errorf("options: Requests %d and Users %v: want at most one of them, because stages determine the duration", o.Requests, o.Users)
	case o.WarmupFor < 0 || o.WarmupFor > 0 && (len(o.Rates)+len(o.Stages) > 0 || o.Duration == 0 && len(o.Users) == 0):
		return fmt.Errorf("options: WarmupFor %v (LLMBENCH_WARMUP): want above 0 and a closed loop with a Duration (LLMBENCH_DURATION) or Users (stages in LLMBENCH_CONCURRENCY), or 0", o.WarmupFor)
	case slices.ContainsFunc(o.Batches, func(n int) bool { return n < 1 }) || repeats(o.Batches):
		return fmt.Errorf("options: Batches %v: want different numbers, each at least 1", o.Batches)
	case o.Dimensions < 0:
		return fmt.Errorf("options: Dimensions %d: want at least 1, or 0 for the model's own", o.Dimensions)
	case !(o.Cosine >= 0 && o.Cosine <= 1):
		return fmt.Errorf("options: Cosine %g: want 0 to 1", o.Cosine)
	case o.Burstiness < 0:
		return fmt.Errorf("options: Burstiness %g: want a number above 0", o.Burstiness)
	}
	if _, err := benchdata.ParseCount(o.Turns); o.Turns != "" && err != nil {
		return fmt.Errorf("options: Turns %q: %w", o.Turns, err)
	}
	if _, err := parsePause(o.Think); o.Think != "" && err != nil {
		return fmt.Errorf("options: Think %q: %w", o.Think, err)
	}
	return nil
}

// repeats reports whether all contains two equal elements.
func repeats[T cmp.Ordered](all []T) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(all)))) < len(all)
}

// parameters are the names of the parameters of a data set that have fields of Options.
var parameters = []string{"input", "output", "batch", "dimensions", "cosine"}

// drawable are the parameters of random and markov that may be distributions. A distribution stays in the data set.
var drawable = parameters[:2]

// wholeTokens parses a length that is no distribution.
var wholeTokens = env.AtLeast(1)

// isWhole reports whether a length is no distribution.
func isWhole(length string) bool {
	_, err := wholeTokens(length)
	return err == nil
}

// separated returns o with these parameters of the data set in their fields. So equal loads have equal names and configuration
// lines.
func (o Options) separated() (Options, error) {
	rest, values, err := benchdata.Separate(o.Dataset, parameters...)
	if o.Dataset = rest; err != nil {
		return o, err
	}
	drawn := map[string]string{}
	for _, name := range drawable {
		if values[name] == "" || isWhole(values[name]) || !drawsLengths(rest) {
			continue
		}
		d, err := benchdata.ParseLength(values[name])
		if err != nil {
			return o, fmt.Errorf("parameter %s=%s: %w", name, values[name], err)
		}
		drawn[name] = d.String()
		delete(values, name)
	}
	if o, err = o.withDrawn(drawn); err != nil {
		return o, err
	}
	return o.withParameters(values)
}

// withDrawn returns o with distributions of lengths as parameters of the data set. It is an error if the data set has other
// lengths, or reads no distributions.
func (o Options) withDrawn(drawn map[string]string) (Options, error) {
	rest, has, err := benchdata.Separate(o.Dataset, drawable...)
	if err != nil {
		return o, err
	}
	o.Dataset = rest
	for i, name := range drawable {
		value, had := drawn[name], has[name]
		if n := []int{o.Input, o.Output}[i]; n > 0 && had == "" {
			had = strconv.Itoa(n)
		}
		switch {
		case value != "" && had != "" && had != value:
			return o, fmt.Errorf("the %s is %s and %s: want one of them", name, had, value)
		case value != "" && !drawsLengths(rest):
			return o, fmt.Errorf("the %s is %s: want a whole number of tokens for another data set than random or markov", name, value)
		}
		if value = cmp.Or(value, has[name]); value != "" {
			o.Dataset = withParameter(o.Dataset, name, value)
		}
	}
	return o, nil
}

// withParameter returns a data set without a file with a further parameter.
func withParameter(dataset, name, value string) string {
	if strings.Contains(dataset, "?") {
		return dataset + "&" + name + "=" + value
	}
	return dataset + "?" + name + "=" + value
}

// withParameters returns o with the values of parameters in their fields.
func (o Options) withParameters(values map[string]string) (Options, error) {
	const numbers = "a whole number, at least 1"
	return o, cmp.Or(
		parameter(&o.Input, values, "input", "Input (LLMBENCH_INPUT)", wholeTokens, numbers),
		parameter(&o.Output, values, "output", "Output (LLMBENCH_OUTPUT)", wholeTokens, numbers),
		parameter(&o.Batches, values, "batch", "Batches (LLMBENCH_BATCH)", env.List(env.AtLeast(1)), "different whole numbers, at least 1"),
		parameter(&o.Dimensions, values, "dimensions", "Dimensions", env.AtLeast(1), numbers),
		parameter(&o.Cosine, values, "cosine", "Cosine", env.Share, "a number from 0 to 1"))
}

// parameter sets the field *dst to the value called name. It is an error if the field already has another value.
func parameter[T any](dst *T, values map[string]string, name, field string, parse func(string) (T, error), allowed string) error {
	text, set := values[name]
	if !set {
		return nil
	}
	x, err := parse(text)
	if err != nil {
		return fmt.Errorf("parameter %s=%s: want %s", name, text, allowed)
	}
	var zero T
	if had := fmt.Sprint(*dst); had != fmt.Sprint(zero) && had != fmt.Sprint(x) {
		return fmt.Errorf("parameter %s=%s, but %s is %s: want one of them", name, text, field, had)
	}
	*dst = x
	return nil
}

// withEnvironment returns o completed with environment variables.
func (o Options) withEnvironment(c config) Options {
	o.Seed = cmp.Or(o.Seed, c.Seed)
	o.Full = cmp.Or(o.Full, c.Full)
	if o.Full == "0" {
		o.Full = ""
	}
	o.Data = cmp.Or(o.Data, c.Data)
	o.Limits = cmp.Or(o.Limits, c.Limits)
	if len(o.Concurrencies)+len(o.Users)+len(o.Rates)+len(o.Stages) == 0 {
		o.Concurrencies, o.Users, o.Rates, o.Stages = c.Concurrencies, c.Users, c.Rates, c.Stages
	}
	o.Requests = cmp.Or(o.Requests, c.Requests)
	o.Duration = cmp.Or(o.Duration, c.Duration)
	o.MaxFail = cmp.Or(o.MaxFail, c.MaxFail)
	o.MaxShed = cmp.Or(o.MaxShed, c.MaxShed)
	o.Timeout = cmp.Or(o.Timeout, c.Timeout)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, c.IdleTimeout)
	o.Burstiness = cmp.Or(o.Burstiness, c.Burstiness)
	if o.Dataset == "" { // the lengths in the environment belong to the data set in the environment
		o.Dataset = c.Dataset
		for i, name := range drawable {
			if []int{o.Input, o.Output}[i] > 0 { // instead of a distribution
				o.Dataset, _, _ = benchdata.Separate(o.Dataset, name) // parseOwn reports errors
			}
		}
		o.Input, o.Output = cmp.Or(o.Input, c.Input), cmp.Or(o.Output, c.Output)
	}
	o.Turns, o.Think, o.Classes, o.Sessions = cmp.Or(o.Turns, c.Turns), cmp.Or(o.Think, c.Think), cmp.Or(o.Classes, c.Classes), cmp.Or(o.Sessions, c.Sessions)
	if len(o.Mix) == 0 {
		o.Mix = c.Mix
	}
	o.NoStream = o.NoStream || c.NoStream
	o.MaxInFlight = cmp.Or(o.MaxInFlight, c.MaxInFlight)
	o.Warmup, o.WarmupFor = cmp.Or(o.Warmup, c.Warmup), cmp.Or(o.WarmupFor, c.WarmupFor)
	o.Cancel = cmp.Or(o.Cancel, c.Cancel)
	return o
}

// withServeDefaults returns o completed with the defaults of Serve.
func (o Options) withServeDefaults() Options {
	o.Dataset = cmp.Or(o.Dataset, "random")
	return o.withLengths(512, 128)
}

// withLengths returns o with lengths of generated words, unless the options or the data set determine them.
func (o Options) withLengths(input, output int) Options {
	_, values, err := benchdata.Separate(o.Dataset, append([]string{"lengths"}, drawable...)...)
	if err != nil || !drawsLengths(o.Dataset) || values["lengths"] != "" {
		return o
	}
	if values["input"] == "" {
		o.Input = cmp.Or(o.Input, input)
	}
	if values["output"] == "" {
		o.Output = cmp.Or(o.Output, output)
	}
	return o
}

// drawsLengths reports whether the lengths of a data set may be distributions.
func drawsLengths(dataset string) bool {
	return slices.ContainsFunc(benchdata.Kinds(), func(k benchdata.Kind) bool { return k.Name == kindOf(dataset) && k.Drawn })
}

// kindOf returns the kind of a data set.
func kindOf(dataset string) string {
	if i := strings.IndexAny(dataset, ":?"); i >= 0 {
		return dataset[:i]
	}
	return dataset
}

// mostRate is the highest rate of an open loop in requests per second. It is far above what one process sends.
const mostRate = 1_000_000.0

// isRate reports whether r is the rate of an open loop.
func isRate(r float64) bool { return r > 0 && r <= mostRate }

// dueWithin returns how many requests of a constant rate are due within a time, and at least 1.
func dueWithin(rate float64, within time.Duration) int {
	return max(1, int(math.Ceil(rate*within.Seconds())))
}
