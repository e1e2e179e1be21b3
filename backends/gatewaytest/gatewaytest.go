package gatewaytest

import (
	"strings"
	"testing"
)

// Run checks a gateway. It starts simulated upstreams, calls start with their base URLs, such as http://127.0.0.1:40001,
// and runs a subtest for each class and each case. start starts the gateway and returns its base URL; the gateway should
// end when t ends. A case with a finding that no gap declares fails. If the gateway does not answer the simplest request
// within [Options.Wait], Run fails with one finding and runs no case.
func Run(t *testing.T, start func(t testing.TB, upstreams []string) (url string), o Options) {
	t.Helper()
	k, err := newKit(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.close)
	k.url = strings.TrimSuffix(start(t, k.urls()), "/")
	if f := k.ready(); f != nil {
		t.Fatal(f)
	}
	var results []Result
	for _, class := range classes() {
		t.Run(class, func(t *testing.T) {
			told := map[string]bool{} // rules
			for _, c := range cases {
				if c.class == class && k.o.wants(c) {
					t.Run(c.name, func(t *testing.T) {
						r := k.run(c)
						results = append(results, r)
						r.tell(t, told)
					})
				}
			}
		})
	}
	for _, g := range k.o.stale(results) {
		t.Errorf("Options.Gaps: %q no longer occurs: remove it", g)
	}
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

// Check is [Run] without a test. Upstreams listen at the addresses listen, HOST:PORT each, or at free ports of this
// machine for those that listen does not have. The error is about the options, the addresses, or comes from start.
func Check(start func(upstreams []string) (url string, err error), listen []string, o Options) (*Report, error) {
	k, err := newKit(o, listen)
	if err != nil {
		return nil, err
	}
	defer k.close()
	url, err := start(k.urls())
	if err != nil {
		return nil, err
	}
	k.url = strings.TrimSuffix(url, "/")
	report := &Report{API: k.o.API}
	if f := k.ready(); f != nil {
		report.Results = []Result{{Class: f.Class, Case: f.Case, Does: "the simplest request", Findings: []Finding{*f}}}
		return report, nil
	}
	for _, c := range cases {
		if k.o.wants(c) {
			report.Results = append(report.Results, k.run(c))
		}
	}
	report.Stale = k.o.stale(report.Results)
	return report, nil
}
