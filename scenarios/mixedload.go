package scenarios

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// The classes of a mixed load if the options have none. A server refuses or ignores priorities unless it was started for them, so
// only the classes for the simulated server have some.
const (
	ownClasses       = "chat:users=8,input=256,output=64; batch:users=32,input=1024,output=256"
	simulatedClasses = `chat:users=4,input=64,output=16,body={"priority":0}; batch:users=16,input=256,output=32..96,body={"priority":1}`
)

// prepareMixedLoad completes o by the defaults.
func prepareMixedLoad(o Options, _ config) (Options, error) {
	if len(o.Concurrencies)+len(o.Users)+len(o.Rates)+len(o.Stages)+o.Requests > 0 || o.Dataset != "" || o.Input+o.Output > 0 {
		return o, fmt.Errorf("options: MixedLoad has its loads and data sets in Classes: want no Concurrencies, Users, Rates, Stages, Requests, Dataset, Input or Output")
	}
	if o.Classes == "" {
		o.Classes = ownClasses
		if o.Simulated {
			o.Classes = simulatedClasses
		}
	}
	if o.Duration == 0 {
		switch {
		case o.Full == "1":
			o.Duration = time.Minute
		case o.Simulated:
			o.Duration = time.Second
		default:
			o.Duration = 20 * time.Second
		}
	}
	if o.Warmup == 0 && o.WarmupFor == 0 {
		o.WarmupFor = o.Duration / 5
	}
	_, err := parseClasses(o.Classes)
	if err != nil {
		err = fmt.Errorf("options: Classes (LLMBENCH_CLASSES): %w", err)
	}
	return o, err
}

// mixedLoad measures each class of requests alone, and then all of them together, each with its own load. The last row has the figures of
// each class, also as multiples of the figures of the class alone.
func mixedLoad(b *testing.B, s server) {
	classes, err := parseClasses(s.options.Classes)
	if err != nil {
		b.Fatal(err)
	}
	var lines []string
	for _, c := range classes {
		lines = append(lines, c.String())
	}
	s = s.withConfig(map[string]string{"classes": strings.Join(lines, "; ")})
	alone := make([][]*ofClass, len(classes)) // by class and by repetition of -count; nil if the repetition failed
	for i, c := range classes {
		b.Run(fmt.Sprintf("workload=%s/stream=true/%s", llmbench.NameValue(c.name), c.load()), func(b *testing.B) {
			alone[i] = append(alone[i], nil)
			alone[i][len(alone[i])-1] = classFigures(c, s.run(b, s.classesLoad(b, classes[i:i+1])))
		})
	}
	repetition := -1
	b.Run(fmt.Sprintf("workload=%s/stream=true/%s", classAll, together(classes)), func(b *testing.B) {
		repetition++ // first, so that a repetition that fails counts
		l := s.classesLoad(b, classes)
		for _, c := range classes {
			l.Units = append(l.Units, c.ratioUnits()...)
		}
		result := s.run(b, l)
		for i, c := range classes {
			if repetition < len(alone[i]) && alone[i][repetition] != nil {
				c.compare(b, alone[i][repetition], classFigures(c, result))
			} else {
				harness.Note(b, fmt.Sprintf("class %s was not measured alone, so that nothing tells what the others do to it", c.name))
			}
		}
	})
}

// String returns what results of the class must have in common, with the names of its header fields, whose values may be secret.
func (c *class) String() string {
	parts := []string{strings.Replace(c.load(), "concurrency", "users", 1)}
	if line := datasetLine(c.dataset); c.dataset != "random" {
		parts = append(parts, strings.Trim(kindOf(c.dataset)+" "+line, " "))
	}
	if len(c.body) > 0 {
		parts = append(parts, "body="+string(c.body))
	}
	for _, name := range slices.Sorted(maps.Keys(c.header)) {
		parts = append(parts, "header="+name)
	}
	if text := c.slo.String(); text != "" {
		parts = append(parts, text)
	}
	return c.name + ":" + strings.Join(parts, ",")
}

// together returns the part of the benchmark's name that has the load of all classes.
func together(classes []class) string {
	var all class
	for _, c := range classes {
		all.users, all.rate = all.users+c.users, all.rate+c.rate
	}
	return all.load()
}

// classesLoad returns a load of the given classes.
func (s server) classesLoad(b *testing.B, classes []class) llmbench.Load {
	b.Helper()
	l := llmbench.Load{Duration: s.options.Duration, WarmupFor: s.options.WarmupFor}
	for _, c := range classes {
		of := s
		var err error
		if of.options, err = c.options(s.options); err != nil {
			b.Fatal(err)
		}
		one, n := llmbench.Load{Concurrency: c.users}, max(16, 8*c.users)
		if c.rate > 0 {
			one.Arrivals, n = c.arrivals(of.options.Seed, l.WarmupFor+l.Duration)
		}
		marked := func(requests []llmbench.Request) ([]llmbench.Request, error) {
			requests = slices.Clone(requests)
			for i := range requests {
				requests[i].Body, requests[i].Header = c.body, withFields(requests[i].Header, c.header)
			}
			return requests, nil
		}
		one = changed(of.serveLoad(b, one, n, max(2, 2*c.users)), marked)
		warmup, _ := marked(one.Warmup)
		l.Warmup = append(l.Warmup, warmup...)
		l.Concurrency += c.users
		l.MeasuresCache = l.MeasuresCache || of.knowingShares().shares
		l.Classes = append(l.Classes, llmbench.Class{Name: c.name, Fresh: one.Fresh, More: one.More, Concurrency: one.Concurrency, Arrivals: one.Arrivals, SLO: c.slo})
	}
	return l
}

// withFields returns a header with further fields.
func withFields[H ~map[string][]string](h, more H) H {
	if len(more) == 0 {
		return h
	}
	all := maps.Clone(h)
	if all == nil {
		all = H{}
	}
	maps.Copy(all, more)
	return all
}

// An ofClass is what is known of a class from a result.
type ofClass struct {
	metrics  map[string]float64
	withheld map[string]error
}

// classFigures returns the metrics of a class as the result has them.
func classFigures(c class, result *llmbench.Result) *ofClass {
	var own iter.Seq[*sample.Sample] = func(yield func(*sample.Sample) bool) {
		for s := range result.All() {
			if s.Class == c.name && !yield(s) {
				return
			}
		}
	}
	return &ofClass{sample.Summarize(own, result.Elapsed, c.slo).Metrics, result.Withheld}
}

// ratios are what a class beside others has as a multiple of what it has alone.
var ratios = []struct{ unit, of, better, says string }{
	{"p50-ttft-x", sample.P50TTFT, "lower", "p50 TTFT"},
	{"p99-ttft-x", sample.P99TTFT, "lower", "p99 TTFT"},
	{"mean-tpot-x", sample.MeanTPOT, "lower", "mean TPOT"},
	{"output-tok-x", sample.OutputRate, "higher", "output tok/s"},
}

// ratioUnits returns the units of the ratios of a class.
func (c *class) ratioUnits() (all []sample.Unit) {
	for _, r := range ratios {
		part := llmbench.NameValue(c.name) + "-" + r.of
		all = append(all, sample.Unit{Name: llmbench.NameValue(c.name) + "-" + r.unit, Better: r.better, Parts: part,
			Means: fmt.Sprintf("`BenchmarkMixedLoad`: %s beside the other classes / %s of the class alone.", part, part)})
	}
	return all
}

// compare reports the figures of a class as multiples of its figures alone.
func (c *class) compare(b *testing.B, alone, beside *ofClass) {
	b.Helper()
	var parts []string
	for i, u := range c.ratioUnits() {
		was, is := alone.metrics[ratios[i].of], beside.metrics[ratios[i].of]
		if was <= 0 || is <= 0 {
			continue
		}
		llmbench.Derive(b, u.Name, is/was, alone.withheld, beside.withheld)
		if alone.withheld[u.Parts] == nil && beside.withheld[u.Parts] == nil {
			parts = append(parts, fmt.Sprintf("%.3g times the %s", is/was, ratios[i].says))
		}
	}
	if len(parts) > 0 {
		harness.Note(b, fmt.Sprintf("%s beside the others has %s of %s alone", c.name, strings.Join(parts, ", "), c.name))
	}
}
