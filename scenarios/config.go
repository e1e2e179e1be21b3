package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A config holds the environment variables that scenarios read. The value of a variable that has an option is in the
// option's field. If the variable is not set, the field has the variable's default, or is zero if there is none.
// LLMBENCH_FULL=0 gives "", and LLMBENCH_WARMUP=0 gives -1, which means none.
type config struct {
	Options
	TokenizerFile string // LLMBENCH_TOKENIZER: a tokenizer.json file, or the URL of a server that counts tokens
	Answers       string // LLMBENCH_ANSWERS: file with the reference answers of Agreement, which is written if it does not exist

	notes []string // about variables that the scenario does not read
}

// leastCosine is the default of [Options].Cosine. A server computes a text's vector in batches of different
// shapes, with numbers of 16 bits, whose rounding errors add up over the layers to about a percent of the
// vector. An error of the share e, in any direction perpendicular to the vector, makes the cosine about
// 1 - e²/2, which is 0.99995 for 1 % and 0.999 for 4.5 %. Different texts of a batch, if a server mixes them
// up, usually have cosines below 0.95.
const leastCosine = 0.999

func init() { env.Register(func(r *env.Reader) { parseOwn(r) }) }

// parseConfig reads a config from an environment in the form of [os.Environ].
func parseConfig(environ []string) (config, error) {
	r := env.NewReader(environ)
	c := parseOwn(r)
	return c, r.Err()
}

// parseOwn reads a config. It adds errors to r.
func parseOwn(r *env.Reader) config {
	c := config{Options: Options{
		Burstiness:  1,
		Timeout:     llmbench.DefaultTimeout,
		IdleTimeout: llmbench.DefaultIdleTimeout,
		Seed:        1,
	}}
	stream := true
	env.Read(r, &c.TokenizerFile, "LLMBENCH_TOKENIZER", parseTokenizer, "a tokenizer.json file, or the URL of a server with /tokenize")
	env.Read(r, &c.Full, "LLMBENCH_FULL", env.Full, "1, 0 or the name of a published experiment")
	env.Read(r, &c.Data, "LLMBENCH_DATA", env.Folder, "a folder of this machine")
	env.Read(r, &c.Answers, "LLMBENCH_ANSWERS", parseAnswers, "a file of answers, or a new file in a folder of this machine")
	env.Read(r, &c.Options, "LLMBENCH_CONCURRENCY", c.withConcurrency, "a comma list of different whole numbers, at least 1, or stages like 1..64:30s,64:1m,64..1:30s (a number of users, or a ramp from one to another, and a time)")
	env.Read(r, &c.Options, "LLMBENCH_RATE", c.withRate, "a comma list of different rates in requests per second, above 0, or stages like 10:1m,10..50:2m,50..5:1m:exp (a rate, or a ramp from one to another, and a time); burstiness=NUMBER, above 0, may follow")
	env.Read(r, &c.MaxInFlight, "LLMBENCH_MAX_IN_FLIGHT", env.AtLeast(1), "a whole number, at least 1")
	env.Read(r, &c.Requests, "LLMBENCH_REQUESTS", env.AtLeast(1), "a whole number, at least 1")
	env.Read(r, &c.Duration, "LLMBENCH_DURATION", env.Duration, "a duration like 60s, above 0")
	env.Read(r, &c.Options, "LLMBENCH_INPUT", c.withLength("input"), "")
	env.Read(r, &c.Options, "LLMBENCH_OUTPUT", c.withLength("output"), "")
	env.Read(r, &c.Batches, "LLMBENCH_BATCH", env.List(env.AtLeast(1)), "a comma list of different whole numbers, at least 1")
	env.Read(r, &c.Options, "LLMBENCH_DATASET", c.withDataset, "a data set like random:input=512,output=128 or sharegpt:PATH")
	env.Read(r, &c.Turns, "LLMBENCH_TURNS", canonical(benchdata.ParseCount), "")
	env.Read(r, &c.Think, "LLMBENCH_THINK", canonical(parsePause), "")
	env.Read(r, &c.Sessions, "LLMBENCH_SESSIONS", checkedSessions, "")
	env.ReadHidden(r, &c.Classes, "LLMBENCH_CLASSES", checkedClasses, "")
	env.Read(r, &c.Mix, "LLMBENCH_MIX", parseMix, "models and weights above 0, like base=3,sql=1")
	env.Read(r, &stream, "LLMBENCH_STREAM", strconv.ParseBool, "true or false")
	env.Read(r, &c.Options, "LLMBENCH_WARMUP", c.withWarmup, "a number of requests, at least 0, or a time like 10s, above 0")
	env.Read(r, &c.Timeout, "LLMBENCH_TIMEOUT", env.Duration, "a duration like 10m, above 0")
	env.Read(r, &c.IdleTimeout, "LLMBENCH_IDLE_TIMEOUT", env.Duration, "a duration like 60s, above 0")
	env.Read(r, &c.MaxFail, "LLMBENCH_MAX_FAIL", env.Share, "a number from 0 to 1")
	env.Read(r, &c.MaxShed, "LLMBENCH_MAX_SHED", env.Share, "a number from 0 to 1")
	env.Read(r, &c.Limits, "LLMBENCH_SLO", sample.ParseSLO, "limits like ttft=500ms,tpot=50ms,e2e=10s")
	env.Read(r, &c.Cancel, "LLMBENCH_CANCEL", llmbench.ParseCancel, "a share and a number of deltas or a time, like 0.1:50 or 0.1:2s")
	env.Read(r, &c.Seed, "LLMBENCH_SEED", env.Uint64, "a whole number, at least 0")
	c.NoStream = !stream
	if len(c.Batches) == 0 {
		c.Batches = []int{1, 8, 32}
	}
	if !strings.Contains(r.Value("LLMBENCH_DATASET"), "cosine=") {
		c.Cosine = leastCosine
	}

	r.Exclusive("LLMBENCH_CONCURRENCY", "LLMBENCH_RATE")
	staged := "LLMBENCH_RATE"
	if len(c.Users) > 0 {
		staged = "LLMBENCH_CONCURRENCY"
	}
	if len(c.Stages)+len(c.Users) > 0 && c.Requests > 0 {
		r.Errorf("LLMBENCH_REQUESTS=%d and %s=%s: want at most one of them, because stages determine the number of requests", c.Requests, staged, r.Value(staged))
	}
	if len(c.Stages)+len(c.Users) > 0 && c.Duration > 0 {
		r.Errorf("LLMBENCH_DURATION=%v and %s=%s: want at most one of them, because stages determine the duration", c.Duration, staged, r.Value(staged))
	}
	if c.WarmupFor > 0 && r.IsSet("LLMBENCH_RATE") {
		r.Errorf("LLMBENCH_WARMUP=%v and LLMBENCH_RATE=%s: want a number of requests for an open loop", c.WarmupFor, r.Value("LLMBENCH_RATE"))
	}
	if len(c.Users) > 0 && c.WarmupFor > 0 && c.Users[0].Rate == 0 {
		r.Errorf("LLMBENCH_WARMUP=%v and LLMBENCH_CONCURRENCY=%s: want a first stage that begins with a user", c.WarmupFor, r.Value("LLMBENCH_CONCURRENCY"))
	}
	if c.NoStream && c.Limits.NeedsStream() {
		r.Errorf("LLMBENCH_SLO=%v: with LLMBENCH_STREAM=false only e2e can be judged", c.Limits)
	}
	if c.NoStream && c.Cancel.Deltas > 0 {
		r.Errorf("LLMBENCH_CANCEL=%v: with LLMBENCH_STREAM=false there are no deltas: want a time", c.Cancel)
	}
	return c
}

// parseTokenizer accepts the path of an existing file, or the URL of a server.
func parseTokenizer(v string) (string, error) {
	if isServer(v) {
		return v, nil
	}
	return env.File(v)
}

// parseAnswers accepts the path of a file, or of a new file in an existing folder.
func parseAnswers(v string) (string, error) {
	if _, err := os.Stat(v); errors.Is(err, fs.ErrNotExist) {
		_, err := env.Folder(filepath.Dir(v))
		return v, err
	}
	_, err := env.File(v)
	return v, err
}

// withConcurrency returns o with what LLMBENCH_CONCURRENCY has: numbers of users, or stages.
func (o Options) withConcurrency(v string) (_ Options, err error) {
	if strings.Contains(v, ":") {
		if o.Users, err = arrivals.ParseUsers(v); err != nil {
			err = env.Reason(fmt.Sprintf("%v; stages are like 1..64:30s,64:1m,64..1:30s (a number of users, or a ramp from one to another, and a time)", err))
		}
	} else {
		o.Concurrencies, err = env.List(env.AtLeast(1))(v)
	}
	return o, err
}

// withWarmup returns o with what LLMBENCH_WARMUP has: a number of requests, or a time.
func (o Options) withWarmup(v string) (_ Options, err error) {
	if o.Warmup, err = env.AtLeast(0)(v); err != nil {
		o.Warmup = 0
		o.WarmupFor, err = env.Duration(v)
	} else if o.Warmup == 0 {
		o.Warmup = -1
	}
	return o, err
}

// isServer reports whether LLMBENCH_TOKENIZER is the URL of a server, and not a file.
func isServer(file string) bool {
	scheme, _, _ := strings.Cut(file, ":")
	return slices.Contains([]string{"http", "https", "unix"}, strings.ToLower(scheme))
}

// withRate returns o with what LLMBENCH_RATE has: rates or stages, and at most the burstiness after them.
func (o Options) withRate(v string) (Options, error) {
	v, burstiness, set := env.CutParameter(v, "burstiness")
	var err, errShape error
	if strings.Contains(v, ":") {
		if o.Stages, err = arrivals.ParseStages(v); err != nil {
			err = env.Reason(fmt.Sprintf("%v; stages are like 10:1m,10..50:2m,50..5:1m:exp (a rate, or a ramp from one to another, and a time), and burstiness=NUMBER may follow", err))
		}
	} else {
		o.Rates, err = env.List(env.Positive)(v)
	}
	if set {
		o.Burstiness, errShape = env.Positive(burstiness)
	}
	return o, cmp.Or(err, errShape)
}

// withLength returns a function that returns o with what LLMBENCH_INPUT or LLMBENCH_OUTPUT has: a number of tokens, or a
// distribution, which is a parameter of random words.
func (o Options) withLength(name string) func(v string) (Options, error) {
	return func(v string) (Options, error) {
		d, err := benchdata.ParseLength(v)
		if err != nil {
			return o, env.Reason(err.Error())
		}
		if !isWhole(d.String()) {
			o.Dataset = withParameter(cmp.Or(o.Dataset, "random"), name, d.String())
			return o, nil
		}
		o, err = o.withParameters(map[string]string{name: d.String()})
		return o, err
	}
}

// withDataset returns o with the data set in LLMBENCH_DATASET and its parameters. Fields that are already set must not differ
// from them, nor distributions in LLMBENCH_INPUT and LLMBENCH_OUTPUT.
func (o Options) withDataset(v string) (Options, error) {
	_, drawn, err := benchdata.Separate(o.Dataset, drawable...)
	if err != nil {
		return o, err
	}
	if o.Dataset, err = env.Text(v); err != nil {
		return o, err
	}
	if o, err = o.separated(); err == nil {
		o, err = o.withDrawn(drawn)
	}
	if err != nil {
		return o, env.Reason(err.Error())
	}
	return o, nil
}

// canonical returns a parser that returns the text of what parse returns, such as a distribution.
func canonical[T fmt.Stringer](parse func(string) (T, error)) func(string) (string, error) {
	return func(v string) (string, error) {
		d, err := parse(v)
		if err != nil {
			return "", env.Reason(err.Error())
		}
		return d.String(), nil
	}
}

// checkedClasses returns the value of LLMBENCH_CLASSES if it is valid.
func checkedClasses(v string) (string, error) {
	if _, err := parseClasses(v); err != nil {
		return "", env.Reason(err.Error())
	}
	return v, nil
}

// checkedSessions returns the value of LLMBENCH_SESSIONS if it names a file, with parameters of sessions.
func checkedSessions(v string) (string, error) {
	s, err := benchdata.OpenSessions(v, benchdata.Options{})
	if err != nil {
		return "", env.Reason(err.Error())
	}
	if _, err := env.File(s.Path); err != nil {
		return "", env.Reason(err.Error())
	}
	return v, nil
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
			return nil, fmt.Errorf("the model %q: want different names", s.Model)
		}
		mix = append(mix, s)
	}
	return mix, nil
}
