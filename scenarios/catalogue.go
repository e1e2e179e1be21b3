package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

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
	// reads holds the variables that the scenario reads besides those in common. The scenario is not given the values of
	// others; see config.
	reads []string
	// parameters holds the parameters of a data set that the scenario reads, besides the parameters of package benchdata.
	parameters []string
	// fits, if not nil, returns an error that says why the scenario cannot use a data set.
	fits func(dataset string) error
	// prepare, if not nil, completes the options and checks them before a server is started.
	prepare func(o Options, c config) (Options, error)
}

// catalogue lists the scenarios that measure a target.
var catalogue = []Scenario{
	{Name: "Accuracy", measure: accuracy, prepare: prepareAccuracy, reads: slices.Concat(users, prompts), fits: fitsAccuracy},
	{Name: "Agent", measure: agent, oneForm: true, prepare: prepareAgent, reads: slices.Concat(timed, []string{"LLMBENCH_SESSIONS", "LLMBENCH_WARMUP"})},
	{Name: "Agreement", measure: agreement, reads: slices.Concat(users, lengths, []string{"LLMBENCH_ANSWERS"})},
	{Name: "Chat", study: &chat, reads: timed},
	{Name: "CodeQA", study: &codeQA, reads: timed},
	{Name: "Concurrency", measure: concurrency, oneForm: true, reads: slices.Concat(timed, prompts, []string{"LLMBENCH_SLO"})},
	{Name: "Decode", study: &decode, reads: timed},
	{Name: "Embeddings", measure: embeddings, items: dialect.Embeddings{}, prepare: prepareItems, reads: slices.Concat(timed, items), parameters: parameters[2:], fits: fitsItems},
	{Name: "Fairness", measure: fairness, reads: failing},
	{Name: "Interference", measure: interference, reads: failing},
	{Name: "LengthGrid", study: &lengthGrid, reads: timed},
	{Name: "LongContext", study: &longContext, reads: timed},
	{Name: "MixedLoad", measure: mixedLoad, prepare: prepareMixedLoad, reads: slices.Concat(failing, []string{"LLMBENCH_CLASSES", "LLMBENCH_DURATION", "LLMBENCH_WARMUP"})},
	{Name: "MultiTurn", measure: multiTurn, reads: slices.Concat(timed, prompts, []string{"LLMBENCH_TURNS", "LLMBENCH_THINK"}), fits: fitsMultiTurn},
	{Name: "OpenQA", study: &openQA, reads: timed},
	{Name: "Prefill", study: &prefill, reads: timed},
	{Name: "PrefixCache", measure: prefixCache, reads: slices.Concat(users, prefixed), fits: fitsPrefixes},
	{Name: "Reasoning", measure: reasoning, reads: slices.Concat(timed, lengths)},
	{Name: "Rerank", measure: rerank, items: dialect.Rerank{}, prepare: prepareItems, reads: slices.Concat(timed, items), parameters: []string{"batch"}, fits: fitsItems},
	{Name: "Routing", measure: routing, reads: slices.Concat(users, prefixed), fits: fitsPrefixes},
	{Name: "SLO", measure: slo, reads: slices.Concat(prompts, []string{"LLMBENCH_SLO"})},
	{Name: "Serve", measure: serve, oneForm: true, prepare: prepareServe, reads: slices.Concat(timed, prompts, []string{"LLMBENCH_SLO"}, serveOnly)},
	{Name: "ShareGPT", study: &shareGPT, reads: timed},
	{Name: "Shedding", measure: shedding, reads: slices.Concat(prompts, []string{"LLMBENCH_MAX_FAIL", "LLMBENCH_REQUESTS", "LLMBENCH_SLO"})},
	{Name: "StructuredOutput", measure: structuredOutput, reads: slices.Concat(timed, []string{"LLMBENCH_INPUT"})},
	{Name: "Sweep", measure: sweep, reads: slices.Concat(failing, prompts, []string{"LLMBENCH_SLO"})},
	{Name: "ToolCalls", measure: toolCalls, reads: slices.Concat(timed, []string{"LLMBENCH_INPUT"})},
	{Name: "Trace", measure: trace, reads: slices.Concat(failing, []string{"LLMBENCH_DATASET", "LLMBENCH_REQUESTS", "LLMBENCH_SLO"}), fits: fitsTrace},
}

// Three scenarios are not in the catalogue, because two have two targets, and one starts servers.
var (
	gatewayLoad     = Scenario{Name: "Gateway", reads: slices.Concat(prompts, []string{"LLMBENCH_CONCURRENCY"})}
	gatewayOverhead = Scenario{Name: "GatewayOverhead", reads: slices.Concat(users, prompts)}
	coldStart       = Scenario{Name: "ColdStart"}
)

// everyScenario returns all scenarios, sorted by name.
func everyScenario() []Scenario {
	all := append(slices.Clone(catalogue), gatewayLoad, gatewayOverhead, coldStart)
	slices.SortFunc(all, func(a, b Scenario) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// unrepeatable lists the published experiments that no scenario can repeat, with the reason.
var unrepeatable = map[string]string{
	"B1": "neither its load nor the lengths asked for were published",
	"D9": "its servers gave no answer, and no load was published",
}

// Scenarios returns the catalogue in alphabetical order: all scenarios that measure a target. [ColdStart]
// and [Options.Gateway] and [Options.GatewayOverhead] are not included, because one starts servers and the others have two
// targets.
func Scenarios() []Scenario { return slices.Clone(catalogue) }

// scenario returns the scenario called name, which must exist.
func scenario(name string) Scenario {
	return catalogue[slices.IndexFunc(catalogue, func(s Scenario) bool { return s.Name == name })]
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
