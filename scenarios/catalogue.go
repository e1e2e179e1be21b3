package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// A Scenario is an entry of the catalogue.
type Scenario struct {
	// Name is the name of the scenario and of its method of [Options], for example "Chat".
	Name string

	// Exactly one of study and measure is set. A study contains its loads as data.
	study   *study
	measure func(b *testing.B, s server)
	// items, if not nil, is the dialect of the requests unless the target has another one of this kind: the
	// requests have inputs, and their answers an item for each input.
	items dialect.ItemsDialect
	// oneForm is true if the scenario has no full form, and ignores [Options].Full.
	oneForm bool
	// prepare, if not nil, completes the options and checks them before a server is started.
	prepare func(o Options, c config) (Options, error)
}

// catalogue lists the scenarios that measure a target.
var catalogue = []Scenario{
	{Name: "Accuracy", measure: accuracy, prepare: prepareAccuracy},
	{Name: "Agreement", measure: agreement},
	{Name: "Chat", study: &chat},
	{Name: "CodeQA", study: &codeQA},
	{Name: "Concurrency", measure: concurrency, oneForm: true},
	{Name: "Decode", study: &decode},
	{Name: "Embeddings", measure: embeddings, items: dialect.Embeddings{}, prepare: prepareItems},
	{Name: "Fairness", measure: fairness},
	{Name: "Interference", measure: interference},
	{Name: "LengthGrid", study: &lengthGrid},
	{Name: "LongContext", study: &longContext},
	{Name: "MultiTurn", measure: multiTurn},
	{Name: "OpenQA", study: &openQA},
	{Name: "Prefill", study: &prefill},
	{Name: "PrefixCache", measure: prefixCache},
	{Name: "Reasoning", measure: reasoning},
	{Name: "Rerank", measure: rerank, items: dialect.Rerank{}, prepare: prepareItems},
	{Name: "Routing", measure: routing},
	{Name: "SLO", measure: slo},
	{Name: "Serve", measure: serve, oneForm: true, prepare: prepareServe},
	{Name: "ShareGPT", study: &shareGPT},
	{Name: "Shedding", measure: shedding},
	{Name: "StructuredOutput", measure: structuredOutput},
	{Name: "Sweep", measure: sweep},
	{Name: "ToolCalls", measure: toolCalls},
	{Name: "Trace", measure: trace},
}

// unrepeatable lists the published experiments that no scenario can repeat, with the reason.
var unrepeatable = map[string]string{
	"B1": "neither its load nor the lengths asked for were published",
	"D9": "its servers gave no answer, and no load was published",
}

// Scenarios returns the catalogue in alphabetical order: all scenarios that measure a target. [ColdStart]
// and [Options.GatewayOverhead] are not included, because one starts servers and the other has two targets.
func Scenarios() []Scenario { return slices.Clone(catalogue) }

// scenario returns the scenario called name, which must exist.
func scenario(name string) Scenario {
	return catalogue[slices.IndexFunc(catalogue, func(s Scenario) bool { return s.Name == name })]
}

// Check returns an error if o cannot be used. If o leaves the scenario nothing to measure, the error wraps
// [ErrNothing]. Check needs no server, so it can be called before one is started.
func (sc Scenario) Check(o Options) error {
	_, _, err := sc.resolve(o)
	return err
}

// Run measures target in sub-benchmarks of b, like the scenario's method of [Options]. It skips b if the
// scenario has nothing to measure.
func (sc Scenario) Run(b *testing.B, target llmbench.Target, o Options) {
	b.Helper()
	llmbench.Watch(b)
	o.Simulated = o.Simulated || target.Simulated
	o, cells, err := sc.resolve(o)
	if errors.Is(err, ErrNothing) {
		llmbench.Skip(b, err.Error())
	}
	if err != nil {
		b.Fatal(err)
	}
	if d, items := target.Dialect.(dialect.ItemsDialect); items && sc.items == nil {
		llmbench.Skip(b, d.Name()+" generates no text")
	}
	s := connect(b, o, target, sc.asksLengths(o, cells), sc.items == nil)
	if sc.study != nil {
		sc.study.measure(b, s, cells)
		return
	}
	sc.measure(b, s)
}

// asksLengths reports whether the scenario needs prompts of given lengths. Prompts from a file have the
// lengths of their texts.
func (sc Scenario) asksLengths(o Options, cells []cell) bool {
	switch {
	case sc.study != nil:
		return o.Simulated || slices.ContainsFunc(cells, func(c cell) bool { return c.data.file == "" })
	case sc.Name == "Accuracy":
		return strings.HasPrefix(o.Dataset, "needle")
	case sc.Name == "Serve":
		data, err := server{options: o}.dataset(0, 0)
		_, isTrace := data.(benchdata.Trace)
		_, path, _ := strings.Cut(o.Dataset, ":")
		return err != nil || isTrace || path == "" || o.Input > 0
	}
	return true
}

// resolve completes o from the environment, checks it, and returns the loads if the scenario is a study.
func (sc Scenario) resolve(o Options) (Options, []cell, error) {
	c, err := readConfig()
	if err != nil {
		return o, nil, err
	}
	o = o.withEnvironment(c)
	if sc.prepare != nil {
		o, err = sc.prepare(o, c)
	}
	if err = cmp.Or(err, o.check()); err != nil || sc.oneForm {
		return o, nil, err
	}
	if err := checkFull(o.Full); err != nil {
		return o, nil, err
	}
	if sc.study != nil {
		cells, err := sc.study.cells(o)
		return o, cells, err
	}
	if o.Full != "" && o.Full != "1" {
		return o, nil, fmt.Errorf("%w: %s has no part in LLMBENCH_FULL=%s", ErrNothing, sc.Name, o.Full)
	}
	return o, nil, nil
}

// The configuration does not know the experiments, so the catalogue checks their names.
func init() {
	env.Register(func(r *env.Reader) {
		full := ""
		env.Read(r, &full, "LLMBENCH_FULL", func(v string) (string, error) {
			name, _ := env.Full(v) // parseOwn reports the error
			return name, nil
		}, "")
		if err := checkFull(full); err != nil {
			r.Errorf("%v", err)
		}
	})
}

// checkFull returns an error if full is not a valid value of LLMBENCH_FULL.
func checkFull(full string) error {
	if why, found := unrepeatable[full]; found {
		return fmt.Errorf("LLMBENCH_FULL=%s: this experiment cannot be repeated: %s", full, why)
	}
	if names := experiments(); full != "" && full != "1" && !slices.Contains(names, full) {
		return fmt.Errorf("LLMBENCH_FULL=%s: want 1 or one of %s", full, strings.Join(names, ", "))
	}
	return nil
}

// experiments returns the sorted names of the published experiments that scenarios repeat.
func experiments() []string {
	var names []string
	for _, sc := range catalogue {
		if sc.study == nil {
			continue
		}
		for _, c := range sc.study.published {
			names = append(names, c.experiment)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(a[0], b[0]), len(a)-len(b), cmp.Compare(a, b)) })
	return slices.Compact(names)
}
