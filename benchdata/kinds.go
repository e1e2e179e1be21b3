package benchdata

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A Workload is a data set that makes requests.
type Workload interface {
	// Requests returns n requests, or fewer if the data set has fewer and does not
	// repeat.
	Requests(n int) ([]llmbench.Request, error)
}

// Options are the fields that [Open] sets in a data set of any kind.
type Options struct {
	// Input and Output are the lengths of prompts and of answers in tokens; 0 means
	// the data set's default. Input is only for generated prompts. Traces do not allow
	// Output.
	Input, Output int
	// FixedOutput makes the server generate the full length of each answer.
	// Random prompts and traces always have fixed outputs.
	FixedOutput bool
	// Seed, Template and Tokenizer are the fields of the same name in each data
	// set. Template has no effect on texts from files.
	Seed      uint64
	Template  int
	Tokenizer llmbench.Tokenizer
	// Salt, if not 0, changes the beginning of every prompt. So a server that has received
	// the same prompts with another Salt finds none of them in its prefix cache. The salt
	// does not change lengths, answers, the order, or which prompts have a common prefix.
	//
	// In generated prompts, the salt selects other random words. In a text from a file, the
	// first words (usually two) are replaced by two random words with the same number of
	// tokens. If no such words are found, the number of tokens changes, and PromptTokens has
	// the new number. In scripts without spaces between words, the first four letters are
	// replaced by letters of the same text. Texts that were equal remain equal.
	Salt uint64
}

// A Kind describes a kind of data set that [Open] opens.
type Kind struct {
	// Name is the name of the kind in LLMBENCH_DATASET.
	Name string
	// Path is "" if the kind has no file, "PATH" if it needs one, and "[PATH]" if
	// the file is optional.
	Path string
	// Params are the names of optional parameters.
	Params []string
	// Trace is true if the data set is a [Trace].
	Trace bool
	// Drawn is true if the parameters input and output may be distributions of lengths.
	Drawn bool
}

// Spec returns the form of the specs that [Open] accepts for the kind, without parameters.
func (k Kind) Spec() string {
	switch k.Path {
	case "":
		return k.Name
	case "PATH":
		return k.Name + ":PATH"
	}
	return k.Name + "[:PATH]"
}

// A kind opens data sets. If the spec has no path, the path that open gets is "".
type kind struct {
	name, path string
	input      inputs
	open       func(path string, o Options, p *params) Workload
}

// inputs says which lengths the prompts of a data set can have.
type inputs int

const (
	fixedInput inputs = iota // the lengths of texts in a file
	anyInput                 // prompts are generated, so they can have any length
	drawnInput               // the same, and lengths can be drawn from distributions
)

// kinds lists every kind of data set in the order of Kinds.
var kinds = []kind{
	{"random", "", drawnInput, openRandom},
	{"random-vllm", "", anyInput, random(VLLM)},
	{"random-sglang", "", anyInput, random(SGLang)},
	{"prefix-repetition", "", anyInput, func(_ string, o Options, p *params) Workload {
		w := PrefixRepetition{Prefixes: p.count("prefixes"), Prefix: p.count("prefix"), Suffix: p.count("suffix"), Output: o.Output,
			InOrder: p.bool("in-order", false), Seed: o.Seed, Salt: o.Salt, Template: o.Template, Tokenizer: o.Tokenizer}
		p.noInput(o, "prefix and suffix")
		return w
	}},
	{"generated-shared-prefix", "", anyInput, func(_ string, o Options, p *params) Workload {
		w := SharedPrefix{PerGroup: p.count("per-group"), System: p.count("system"), Question: p.count("question"), Output: o.Output,
			Ratio: p.number("ratio"), InOrder: p.bool("in-order", false), Seed: o.Seed, Salt: o.Salt, Template: o.Template, Tokenizer: o.Tokenizer}
		p.noInput(o, "system and question")
		return w
	}},
	{"markov", "", drawnInput, openMarkov},
	{"sonnet", "[PATH]", anyInput, func(path string, o Options, p *params) Workload {
		return Sonnet{Path: path, Input: o.Input, Prefix: p.count("prefix"), Output: o.Output, FixedOutput: o.FixedOutput,
			Seed: o.Seed, Salt: o.Salt, Template: o.Template, Tokenizer: o.Tokenizer}
	}},
	{"sharegpt", "PATH", fixedInput, shareGPT(VLLM)},
	{"sharegpt-sglang", "PATH", fixedInput, shareGPT(SGLang)},
	{"jsonl-sglang", "PATH", fixedInput, shareGPT(SGLangCustom)},
	question(OpenQA), question(Codefuse), question(Long), question(Alpaca), question(LongAlpaca), question(Lines), question(CustomVLLM), question(SpecBench),
	{"openai", "PATH", fixedInput, func(path string, o Options, p *params) Workload {
		return Bodies{Path: path, Output: o.Output, FixedOutput: o.FixedOutput, NoRepeat: !p.bool("repeat", true), Seed: o.Seed, Salt: o.Salt, Tokenizer: o.Tokenizer}
	}},
	{"arithmetic", "", fixedInput, answered(SetArithmetic)}, {"gsm8k", "PATH", fixedInput, answered(SetGSM8K)}, {"mmlu", "PATH", fixedInput, answered(SetMMLU)},
	{"needle", "", anyInput, answered(SetNeedle)},
	trace(Azure), trace(BurstGPT), trace(Mooncake), trace(Bailian),
}

// openRandom opens [Prompts], or a [Drawn] unless all prompts have the same length, and all answers, too.
func openRandom(_ string, o Options, p *params) Workload {
	d := openDrawn(o, p)
	if p.err != nil || d.Path != "" {
		return d
	}
	input, oneInput := d.Input.Constant()
	output, oneOutput := d.Output.Constant()
	if oneInput && oneOutput {
		return Prompts{Input: int(input), Output: int(output), SharedPrefix: d.SharedPrefix, Seed: d.Seed, Salt: d.Salt, Template: d.Template, Tokenizer: d.Tokenizer}
	}
	return d
}

// openMarkov opens a [Drawn] with a [Source].
func openMarkov(_ string, o Options, p *params) Workload {
	d := openDrawn(o, p)
	text, set := p.get("order")
	if !set {
		text = "1"
	}
	order, err := strconv.ParseFloat(text, 64)
	if err != nil {
		order = math.NaN()
	}
	if d.Source, err = NewSource(order); err != nil {
		p.errorf("parameter order=%s: want a number from 0 to %d", text, mostOrder)
	}
	return d
}

// openDrawn opens a [Drawn] of random words.
func openDrawn(o Options, p *params) Drawn {
	d := Drawn{Path: p.text(lengthsParam), SharedPrefix: p.count("prefix"), Seed: o.Seed, Salt: o.Salt, Template: o.Template, Tokenizer: o.Tokenizer}
	d.Input, d.Output = p.drawn("input", o.Input, 512), p.drawn("output", o.Output, 128)
	switch {
	case p.err != nil:
	case d.Path == "" && p.values.Has(lengthsParam):
		p.errorf("parameter lengths=: want a file, as in lengths=lengths.csv")
	case d.Path != "" && (o.Input > 0 || o.Output > 0 || p.values.Has("input") || p.values.Has("output")):
		p.errorf("parameter lengths=%s and other lengths: want the lengths in the file alone", d.Path)
	case d.Path != "":
		d.Input, d.Output = nil, nil
	}
	return d
}

// random returns a function that opens a [Random] with the given rules.
func random(rules Rules) func(string, Options, *params) Workload {
	return func(_ string, o Options, p *params) Workload {
		r := Random{Rules: rules, Input: o.Input, Output: o.Output, Ratio: p.number("ratio"), Seed: o.Seed, Salt: o.Salt, Template: o.Template, Tokenizer: o.Tokenizer}
		if rules == VLLM {
			r.Prefix = p.count("prefix")
		}
		return r
	}
}

// shareGPT returns a function that opens a [ShareGPT] with the given rules.
func shareGPT(rules Rules) func(string, Options, *params) Workload {
	return func(path string, o Options, p *params) Workload {
		s := ShareGPT{Path: path, Rules: rules, Output: o.Output, FixedOutput: o.FixedOutput, Seed: o.Seed, Salt: o.Salt, Tokenizer: o.Tokenizer}
		if rules == VLLM {
			s.NoRepeat = !p.bool("repeat", true)
		} else {
			s.Context = p.count("context")
		}
		return s
	}
}

// question returns the kind for [Questions] of a format.
func question(f QuestionFormat) kind {
	return kind{string(f), "PATH", fixedInput, func(path string, o Options, p *params) Workload {
		q := Questions{Format: f, Path: path, Output: o.Output, FixedOutput: o.FixedOutput, MinPrompt: p.count("min"), MaxPrompt: p.count("max"),
			NoRepeat: !p.bool("repeat", true), Seed: o.Seed, Salt: o.Salt, Tokenizer: o.Tokenizer}
		if f == SpecBench {
			q.Category = p.text("category")
		}
		if f == CustomVLLM {
			if q.OwnOutput = p.bool("own-output", false); q.OwnOutput && o.Output > 0 {
				p.errorf("an output of %d tokens and parameter own-output=true: want one of them", o.Output)
			}
		}
		return q
	}}
}

// trace returns the kind for a [Trace] of a format.
func trace(f TraceFormat) kind {
	return kind{string(f), "PATH", fixedInput, func(path string, o Options, p *params) Workload {
		t := Trace{Format: f, Path: path, From: p.duration("from"), For: p.duration("for"), Share: p.number("share"), Speed: p.number("speed"),
			MaxTokens: p.count("max-tokens"), Seed: o.Seed, Salt: o.Salt, Template: o.Template, Tokenizer: o.Tokenizer}
		if f == BurstGPT {
			t.Model = p.text("model")
		}
		if o.Output > 0 {
			p.errorf("an output of %d tokens, but the lengths of a trace are fixed", o.Output)
		}
		return t
	}}
}

// Kinds lists every kind of data set that [Open] knows.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i, k := range kinds {
		p := &params{}
		w := k.workload("", Options{}, p)
		_, isTrace := w.(Trace)
		all[i] = Kind{Name: k.name, Path: k.path, Params: slices.Sorted(maps.Keys(p.known)), Trace: isTrace, Drawn: k.input == drawnInput}
	}
	return all
}

// workload opens a data set of the kind. The parameters input and output are the lengths in o, unless they are
// distributions.
func (k kind) workload(path string, o Options, p *params) Workload {
	if k.input == drawnInput {
		return k.open(path, o, p)
	}
	if k.input == anyInput {
		p.length("input", &o.Input)
	}
	p.length("output", &o.Output)
	o.FixedOutput = o.FixedOutput || p.values.Has("output")
	if o.Input > 0 && k.input == fixedInput {
		p.errorf("an input of %d tokens, but the lengths of its prompts are fixed", o.Input)
	}
	return k.open(path, o, p)
}

// A param is a parameter of a spec.
type param struct{ name, value string }

// split divides a spec into the part before the parameters, and the parameters. Those after a question mark are decoded, as
// in the query of a URL, and those after a colon mean what they say.
func split(spec string) (first string, params []param, err error) {
	name, list, _ := strings.Cut(spec, ":")
	if list == "" || !slices.ContainsFunc(kinds, func(k kind) bool { return k.name == name && k.path == "" }) {
		i := strings.LastIndex(spec, "?")
		if i < 0 {
			return spec, nil, nil
		}
		params, err = decode(spec[i+1:])
		if err != nil {
			return "", nil, fmt.Errorf("dataset %q: %w", spec, err)
		}
		return spec[:i], params, nil
	}
	parts, err := splitList(list)
	if err != nil {
		return "", nil, fmt.Errorf("dataset %q: %w", spec, err)
	}
	for _, part := range parts {
		before, value, ok := strings.Cut(part, "=")
		switch {
		case strings.Contains(part, "?") || len(params) == 0 && !ok:
			return "", nil, fmt.Errorf("dataset %q: %s reads no file: want parameters like %s:output=100", spec, name, name)
		case ok:
			params = append(params, param{before, value})
		default: // the value before is a list
			params[len(params)-1].value += "," + part
		}
	}
	return name, params, nil
}

// decode returns the parameters of a URL query. A plus sign is a space, except in the path of a file.
func decode(query string) (params []param, err error) {
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		unescape := url.QueryUnescape
		if name == lengthsParam {
			unescape = url.PathUnescape
		}
		value, err = unescape(value)
		if err == nil {
			name, err = url.QueryUnescape(name)
		}
		if err != nil {
			return nil, err
		}
		params = append(params, param{name, value})
	}
	return params, nil
}

// encoded returns the parameter as decode reads it, with as few escapes as possible, because results show it.
func (p param) encoded() string {
	escapes := []string{"%", "%25", "&", "%26"}
	if p.name != lengthsParam {
		escapes = append(escapes, "+", "%2B", " ", "+")
	}
	return p.name + "=" + strings.NewReplacer(escapes...).Replace(p.value)
}

// lengthsParam is the parameter of random that is the path of a file.
const lengthsParam = "lengths"

// Separate returns a spec of [Open] without the parameters that are called names, and the values of these
// parameters. The returned spec has its other parameters after a question mark.
func Separate(spec string, names ...string) (rest string, values map[string]string, err error) {
	rest, params, err := split(spec)
	values = map[string]string{}
	var others []string
	for _, p := range params {
		if _, again := values[p.name]; again {
			return "", nil, fmt.Errorf("dataset %q: parameter %s is given twice", spec, p.name)
		}
		if slices.Contains(names, p.name) {
			values[p.name] = p.value
		} else {
			others = append(others, p.encoded())
		}
	}
	if len(others) > 0 {
		rest += "?" + strings.Join(others, "&")
	}
	return rest, values, err
}

// Open returns the data set that a spec describes. A spec begins with the name of one of
// [Kinds]. If the data set is a file, a colon and the file's path follow. If there are
// parameters, a question mark and the parameters follow, in the format of a URL query, except
// that a plus sign in a path is no space. The parameters of a data set without a file may also
// follow a colon, separated by commas, and then mean what they say, without escapes:
//
//	random
//	random:input=512,output=128
//	random:input=lognormal(512,0.6),output=normal(128,32,1..256)
//	random:lengths=lengths.csv
//	markov:order=1,input=512,output=128
//	sharegpt:ShareGPT_V3_unfiltered_cleaned_split.json
//	mooncake:conversation_trace.jsonl?from=10m&for=5m&speed=2
//	generated-shared-prefix:per-group=32,system=4096
//	openqa:open_qa.jsonl?repeat=false&output=200
//	jsonl:prompts.jsonl?own-output=true
//	spec-bench:question.jsonl?category=qa
//	arithmetic?operations=5&shots=8
//	mmlu:abstract_algebra_test.csv?subject=abstract+algebra
//
// The parameters input and output are the lengths in o; the output is then fixed. Lengths of random and markov may be
// distributions as of [ParseLength], and their parameter lengths is the Path of a [Drawn]. The order of markov is
// the order of its [Source], by default 1. The others are
// fields of the data set's type, with names in lower case. repeat=false sets NoRepeat. Open does
// not read the file; the methods of the data set read it. An error names the invalid part of the
// spec and says what is allowed.
func Open(spec string, o Options) (Workload, error) {
	first, given, err := split(spec)
	if err != nil {
		return nil, err
	}
	name, path, _ := strings.Cut(first, ":")
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		var specs []string
		for _, k := range Kinds() {
			specs = append(specs, k.Spec())
		}
		return nil, fmt.Errorf("dataset %q: want one of %s", spec, strings.Join(specs, ", "))
	}
	k := kinds[i]
	p := newParams(given)
	if k.path == "PATH" && path == "" {
		return nil, fmt.Errorf("dataset %q: want the path of a file, %s:PATH", spec, name)
	}
	w := k.workload(path, o, p)
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("dataset %q: %w", spec, err)
	}
	return w, nil
}

// params has the parameters of a spec. Its methods add their errors to err.
type params struct {
	values url.Values
	known  map[string]bool // names that the methods were called with
	err    error
}

func newParams(given []param) *params {
	values := url.Values{}
	for _, g := range given {
		values.Add(g.name, g.value)
	}
	return &params{values: values}
}

// check returns the error of p, and checks that each parameter is known and given once.
func (p *params) check() error {
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		switch {
		case !p.known[name]:
			p.errorf("parameter %s: want one of %s", name, strings.Join(slices.Sorted(maps.Keys(p.known)), ", "))
		case len(p.values[name]) > 1:
			p.errorf("parameter %s is given twice", name)
		}
	}
	return p.err
}

func (p *params) errorf(format string, args ...any) {
	p.err = errors.Join(p.err, fmt.Errorf(format, args...))
}

// get returns the value of a parameter, and whether it is set.
func (p *params) get(name string) (string, bool) {
	if p.known == nil {
		p.known = map[string]bool{}
	}
	p.known[name] = true
	return p.values.Get(name), p.values.Has(name)
}

// text returns a parameter, or "" if the parameter is not set.
func (p *params) text(name string) string {
	v, _ := p.get(name)
	return v
}

// bool returns a parameter, or unset if the parameter is not set.
func (p *params) bool(name string, unset bool) bool {
	v, ok := p.get(name)
	if !ok {
		return unset
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		p.errorf("parameter %s=%s: want true or false", name, v)
	}
	return b
}

// count returns a positive whole number, or 0 if the parameter is not set.
func (p *params) count(name string) int {
	v, ok := p.get(name)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > mostTokens {
		p.errorf("parameter %s=%s: want a whole number from 1 to %d", name, v, mostTokens)
	}
	return n
}

// length sets *dst to the parameter name, if it is set. It is an error if *dst has another value.
func (p *params) length(name string, dst *int) {
	n := p.count(name)
	if n > 0 && *dst > 0 && n != *dst {
		p.errorf("parameter %s=%d and an %s of %d tokens: want one of them", name, n, name, *dst)
	}
	*dst = cmp.Or(n, *dst)
}

// drawn returns the distribution of lengths in a parameter. If the parameter is not set, all lengths are given or, if
// given is 0, usual. It is an error if the parameter is another length than given.
func (p *params) drawn(name string, given, usual int) *Distribution {
	text, set := p.get(name)
	if !set {
		text = strconv.Itoa(cmp.Or(given, usual))
	}
	d, err := ParseLength(text)
	switch {
	case err != nil && set:
		p.errorf("parameter %s=%s: %w", name, text, err)
	case err != nil:
		p.errorf("an %s of %s tokens: %w", name, text, err)
	case set && given > 0 && d.String() != strconv.Itoa(given):
		p.errorf("parameter %s=%s and an %s of %d tokens: want one of them", name, text, name, given)
	}
	return d
}

// number returns a positive number, or 0 if the parameter is not set.
func (p *params) number(name string) float64 {
	v, ok := p.get(name)
	if !ok {
		return 0
	}
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || !(x > 0 && x < 1e9) {
		p.errorf("parameter %s=%s: want a number above 0", name, v)
	}
	return x
}

// duration returns a positive duration, or 0 if the parameter is not set.
func (p *params) duration(name string) time.Duration {
	v, ok := p.get(name)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		p.errorf("parameter %s=%s: want a duration like 10m, above 0", name, v)
	}
	return d
}

// noInput adds an error if o has an Input. parts names the parameters that set the lengths
// instead.
func (p *params) noInput(o Options, parts string) {
	if o.Input > 0 {
		p.errorf("an input of %d tokens: want the parameters %s", o.Input, parts)
	}
}
