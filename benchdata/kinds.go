package benchdata

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// A Workload makes requests: every data set of this package is one.
type Workload interface {
	// Requests returns n requests, or fewer where the data set says so.
	Requests(n int) ([]llmbench.Request, error)
}

// Options are what [Open] gives to a workload of whatever kind.
type Options struct {
	// Input and Output are the lengths of prompts and of answers in tokens; 0
	// leaves them to the data set. Only made-up prompts have an Input, and all
	// but traces an Output.
	Input, Output int
	// FixedOutput makes the server generate the whole length, which made-up
	// prompts and traces ask for in any case.
	FixedOutput bool
	// Seed, Template and Tokenizer are what they are in each data set; the
	// texts of files are sent whatever the Template.
	Seed      uint64
	Template  int
	Tokenizer llmbench.Tokenizer
}

// A Kind is a kind of data set, by the name that LLMBENCH_DATASET knows it.
type Kind struct {
	Name string
	// Path says whether the kind has a file: "" none, "PATH", or "[PATH]" if
	// it has one of its own.
	Path string
	// Params are the parameters that may follow, with defaults of their own.
	Params []string
	// Trace tells that the workload is a [Trace].
	Trace bool
}

// Spec is how the kind is written: name:PATH?param=…
func (k Kind) Spec() string {
	switch k.Path {
	case "":
		return k.Name
	case "PATH":
		return k.Name + ":PATH"
	}
	return k.Name + "[:PATH]"
}

// kind is how a data set is opened: path is "" where none is given.
type kind struct {
	name, path string
	made       bool // its prompts are made up, and may have any length
	open       func(path string, o Options, p *params) Workload
}

// kinds is every data set there is, in the order of Kinds.
var kinds = []kind{
	{"random", "", true, func(_ string, o Options, p *params) Workload {
		setDefault(&o.Input, 512)
		setDefault(&o.Output, 128)
		return Prompts{Input: o.Input, Output: o.Output, SharedPrefix: p.count("prefix"), Seed: o.Seed, Template: o.Template, Tokenizer: o.Tokenizer}
	}},
	{"random-vllm", "", true, random(VLLM)},
	{"random-sglang", "", true, random(SGLang)},
	{"prefix-repetition", "", true, func(_ string, o Options, p *params) Workload {
		w := PrefixRepetition{Prefixes: p.count("prefixes"), Prefix: p.count("prefix"), Suffix: p.count("suffix"), Output: o.Output,
			InOrder: p.is("in-order"), Seed: o.Seed, Template: o.Template, Tokenizer: o.Tokenizer}
		p.noInput(o, "prefix and suffix")
		return w
	}},
	{"generated-shared-prefix", "", true, func(_ string, o Options, p *params) Workload {
		w := SharedPrefix{PerGroup: p.count("per-group"), System: p.count("system"), Question: p.count("question"), Output: o.Output,
			Ratio: p.number("ratio"), InOrder: p.is("in-order"), Seed: o.Seed, Template: o.Template, Tokenizer: o.Tokenizer}
		p.noInput(o, "system and question")
		return w
	}},
	{"sonnet", "[PATH]", true, func(path string, o Options, p *params) Workload {
		return Sonnet{Path: path, Input: o.Input, Prefix: p.count("prefix"), Output: o.Output, FixedOutput: o.FixedOutput,
			Seed: o.Seed, Template: o.Template, Tokenizer: o.Tokenizer}
	}},
	{"sharegpt", "PATH", false, shareGPT(VLLM)},
	{"sharegpt-sglang", "PATH", false, shareGPT(SGLang)},
	{"jsonl-sglang", "PATH", false, shareGPT(SGLangCustom)},
	question(OpenQA), question(Codefuse), question(Long), question(Alpaca), question(LongAlpaca), question(Lines), question(CustomVLLM),
	{"openai", "PATH", false, func(path string, o Options, p *params) Workload {
		return Bodies{Path: path, Output: o.Output, FixedOutput: o.FixedOutput, NoRepeat: p.isNot("repeat"), Seed: o.Seed, Tokenizer: o.Tokenizer}
	}},
	trace(Azure), trace(BurstGPT), trace(Mooncake), trace(Bailian),
}

func random(rules Rules) func(string, Options, *params) Workload {
	return func(_ string, o Options, p *params) Workload {
		r := Random{Rules: rules, Input: o.Input, Output: o.Output, Ratio: p.number("ratio"), Seed: o.Seed, Template: o.Template, Tokenizer: o.Tokenizer}
		if rules == VLLM {
			r.Prefix = p.count("prefix")
		}
		return r
	}
}

func shareGPT(rules Rules) func(string, Options, *params) Workload {
	return func(path string, o Options, p *params) Workload {
		s := ShareGPT{Path: path, Rules: rules, Output: o.Output, FixedOutput: o.FixedOutput, Seed: o.Seed, Tokenizer: o.Tokenizer}
		if rules == VLLM {
			s.NoRepeat = p.isNot("repeat")
		} else {
			s.Context = p.count("context")
		}
		return s
	}
}

func question(f QuestionFormat) kind {
	return kind{string(f), "PATH", false, func(path string, o Options, p *params) Workload {
		q := Questions{Format: f, Path: path, Output: o.Output, FixedOutput: o.FixedOutput, MinPrompt: p.count("min"), MaxPrompt: p.count("max"),
			NoRepeat: p.isNot("repeat"), Seed: o.Seed, Tokenizer: o.Tokenizer}
		if f == CustomVLLM {
			if q.OwnOutput = p.is("own-output"); q.OwnOutput && o.Output > 0 {
				p.wrong(fmt.Errorf("an output of %d tokens, and parameter own-output=true: want one of them", o.Output))
			}
		}
		return q
	}}
}

func trace(f TraceFormat) kind {
	return kind{string(f), "PATH", false, func(path string, o Options, p *params) Workload {
		t := Trace{Format: f, Path: path, From: p.duration("from"), For: p.duration("for"), Share: p.number("share"), Speed: p.number("speed"),
			MaxTokens: p.count("max-tokens"), Seed: o.Seed, Template: o.Template, Tokenizer: o.Tokenizer}
		if f == BurstGPT {
			t.Model = p.text("model")
		}
		if o.Output > 0 {
			p.wrong(fmt.Errorf("an output of %d tokens, which the trace says itself", o.Output))
		}
		return t
	}}
}

// Kinds lists every kind of data set that [Open] knows.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i, k := range kinds {
		p := &params{}
		w := k.open("", Options{}, p)
		_, isTrace := w.(Trace)
		all[i] = Kind{Name: k.name, Path: k.path, Params: slices.Sorted(maps.Keys(p.known)), Trace: isTrace}
	}
	return all
}

// Open returns the workload that a spec names: a kind of [Kinds] and, where it
// has one, the path of its file after a colon; then its parameters, if any,
// after a question mark, as in a URL's query:
//
//	random
//	sharegpt:ShareGPT_V3_unfiltered_cleaned_split.json
//	mooncake:conversation_trace.jsonl?from=10m&for=5m&speed=2
//	generated-shared-prefix?per-group=32&system=4096
//	openqa:open_qa.jsonl?repeat=false
//	jsonl:prompts.jsonl?own-output=true
//
// The parameters are the fields of the data set's type by their names in lower
// case; repeat=false is NoRepeat, which the data sets have whose questions come
// again when the file has too few.
// The file is not looked at before requests are asked for. The error says what
// cannot be used, and what is allowed.
func Open(spec string, o Options) (Workload, error) {
	rest, query, _ := cutLast(spec, "?")
	name, path, _ := strings.Cut(rest, ":")
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		var specs []string
		for _, k := range Kinds() {
			specs = append(specs, k.Spec())
		}
		return nil, fmt.Errorf("dataset %q: want one of %s", spec, strings.Join(specs, ", "))
	}
	k := kinds[i]
	values, err := url.ParseQuery(query)
	p := &params{values: values}
	switch {
	case err != nil:
		return nil, fmt.Errorf("dataset %q: %w", spec, err)
	case k.path == "PATH" && path == "":
		return nil, fmt.Errorf("dataset %q: want the path of a file, %s:PATH", spec, name)
	case k.path == "" && path != "":
		return nil, fmt.Errorf("dataset %q: %s has no file", spec, name)
	case o.Input > 0 && !k.made:
		p.wrong(fmt.Errorf("an input of %d tokens, but its prompts have lengths of their own", o.Input))
	}
	w := k.open(path, o, p)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case !p.known[name] && len(p.known) == 0:
			p.wrong(fmt.Errorf("parameter %s, but it has none", name))
		case !p.known[name]:
			p.wrong(fmt.Errorf("parameter %s, want one of %s", name, strings.Join(slices.Sorted(maps.Keys(p.known)), ", ")))
		case len(values[name]) > 1:
			p.wrong(fmt.Errorf("parameter %s twice", name))
		}
	}
	if p.err != nil {
		return nil, fmt.Errorf("dataset %q: %w", spec, p.err)
	}
	return w, nil
}

// cutLast is [strings.Cut] at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// params are the parameters of a spec. What is wrong with them is kept.
type params struct {
	values url.Values
	known  map[string]bool // those asked for
	err    error
}

func (p *params) wrong(err error) { p.err = errors.Join(p.err, err) }

// get returns a parameter, and whether it is there.
func (p *params) get(name string) (string, bool) {
	if p.known == nil {
		p.known = map[string]bool{}
	}
	p.known[name] = true
	return p.values.Get(name), p.values.Has(name)
}

func (p *params) text(name string) string {
	v, _ := p.get(name)
	return v
}

// is returns a parameter that is false unless it is given.
func (p *params) is(name string) bool { return p.bool(name, false) }

// isNot returns the opposite of one that is true unless it is given.
func (p *params) isNot(name string) bool { return !p.bool(name, true) }

func (p *params) bool(name string, unless bool) bool {
	v, ok := p.get(name)
	if !ok {
		return unless
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		p.wrong(fmt.Errorf("parameter %s=%s, want true or false", name, v))
	}
	return b
}

func (p *params) count(name string) int {
	v, ok := p.get(name)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 || n > mostTokens {
		p.wrong(fmt.Errorf("parameter %s=%s, want a whole number from 1 to %d", name, v, mostTokens))
	}
	return n
}

func (p *params) number(name string) float64 {
	v, ok := p.get(name)
	if !ok {
		return 0
	}
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || !(x > 0 && x < 1e9) {
		p.wrong(fmt.Errorf("parameter %s=%s, want a number above 0", name, v))
	}
	return x
}

func (p *params) duration(name string) time.Duration {
	v, ok := p.get(name)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil || d <= 0 {
		p.wrong(fmt.Errorf("parameter %s=%s, want a duration like 10m, above 0", name, v))
	}
	return d
}

// noInput refuses an Input, as the prompt has parts.
func (p *params) noInput(o Options, parts string) {
	if o.Input > 0 {
		p.wrong(fmt.Errorf("an input of %d tokens, want the parameters %s", o.Input, parts))
	}
}
