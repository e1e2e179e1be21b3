package gatewaytest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Run checks a gateway. It starts simulated upstreams, calls start with their base URLs, such as http://127.0.0.1:40001,
// and runs a subtest for each class and each case. start starts the gateway and returns its base URL; the gateway should
// end when t ends. Run calls start once with one upstream, and if [Options.Upstreams] is 2, once more with two, for the
// cases that need two. A case with a finding that no gap declares fails. If the gateway does not answer the simplest
// request within [Options.Wait], Run fails with one finding and runs no case.
func Run(t *testing.T, start func(t testing.TB, upstreams []string) (url string), o Options) {
	t.Helper()
	k, err := newKits(o, nil, func(upstreams []string) (string, error) { return start(t, upstreams), nil }, t.Cleanup)
	if err != nil {
		t.Fatal(err)
	}
	if k.found != nil {
		t.Fatal(k.found)
	}
	var results []Result
	for _, class := range classes() {
		t.Run(class, func(t *testing.T) {
			told := map[string]bool{} // rules
			for _, c := range cases {
				if c.class == class && k.o.wants(c) {
					t.Run(c.name, func(t *testing.T) {
						r := k.of(c).run(c)
						results = append(results, r)
						r.tell(t, told)
					})
				}
			}
		})
	}
	if all := undeclared(results); all != "" {
		t.Log(strings.TrimSpace(all))
	}
	for _, g := range k.o.stale(results) {
		t.Errorf("Options.Gaps: %q no longer occurs: remove it", g)
	}
}

// kits are gateways with different numbers of upstreams.
type kits struct {
	o     Options
	all   []*kit   // with one upstream, two and so on; or one kit with all
	found *Finding // a gateway that does not answer
}

// newKits starts upstreams and gateways. It calls cleanup with functions that stop what it has started, to be called in
// reverse order.
func newKits(o Options, listen []string, start func(upstreams []string) (string, error), cleanup func(func())) (*kits, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("gatewaytest: Options.%w", err)
	}
	all := &kits{o: o}
	least := 1
	if len(listen) > 0 {
		least = o.Upstreams // the gateway at these addresses exists once
	}
	for o.Upstreams = least; o.Upstreams <= all.o.Upstreams; o.Upstreams++ {
		if o.Upstreams > 1 && least == 1 && !slices.ContainsFunc(cases, func(c testCase) bool { return c.upstreams == o.Upstreams && o.wants(c) }) {
			break
		}
		k, err := newKit(o, listen)
		if err != nil {
			return nil, err
		}
		cleanup(k.close)
		url, err := start(k.urls())
		if err != nil {
			return nil, err
		}
		k.url = strings.TrimSuffix(url, "/")
		all.all = append(all.all, k)
		if all.found = k.ready(); all.found != nil {
			break
		}
	}
	return all, nil
}

// of returns the kit with the number of upstreams that a case needs.
func (k *kits) of(c testCase) *kit {
	return k.all[max(0, min(c.upstreams-1, len(k.all)-1))]
}

// tell reports a result to a test. Of findings about a rule that was told before, it reports only the sentence.
func (r Result) tell(t *testing.T, told map[string]bool) {
	t.Helper()
	for _, fact := range r.Facts {
		t.Log(fact)
	}
	for _, f := range r.Findings {
		switch {
		case f.Gap != "":
			t.Logf("the gap %q: %v", f.Gap, f)
		case told[f.Rule]:
			t.Errorf("%s: %s", f.ID(), f.Says)
		default:
			told[f.Rule] = true
			t.Error(f)
		}
	}
	if r.Skipped != "" {
		t.Skip("not checked: " + r.Skipped)
	}
}

// Check is [Run] without a test. If listen has addresses, HOST:PORT each, the upstreams listen there, and start is called
// once, for a gateway that has all of them as upstreams. The error is about the options, the addresses, or comes from start.
func Check(start func(upstreams []string) (url string, err error), listen []string, o Options) (*Report, error) {
	var stop []func()
	defer func() {
		for _, f := range slices.Backward(stop) {
			f()
		}
	}()
	k, err := newKits(o, listen, start, func(f func()) { stop = append(stop, f) })
	if err != nil {
		return nil, err
	}
	report := &Report{API: k.o.API}
	if f := k.found; f != nil {
		report.Results = []Result{{Class: f.Class, Case: f.Case, Does: "the simplest request", Findings: []Finding{*f}}}
		return report, nil
	}
	for _, c := range cases {
		if k.o.wants(c) {
			report.Results = append(report.Results, k.of(c).run(c))
		}
	}
	report.Stale = k.o.stale(report.Results)
	return report, nil
}
