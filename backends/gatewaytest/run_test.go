package gatewaytest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestAPIs checks that the reference gateway passes in every API.
func TestAPIs(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes some ten seconds")
	}
	t.Parallel()
	var wg sync.WaitGroup // they mostly wait
	defer wg.Wait()
	for _, api := range apis[1:] {
		wg.Go(func() {
			t.Run(api, func(t *testing.T) {
				Run(t, startReference(""), Options{API: api, UpstreamKey: upstreamKey, Classes: []string{"fidelity", "end", "leaving", "usage", "translation", "isolation/*key*", "failover/dead*"}})
			})
		})
	}
}

// checked runs the kit with a reference gateway.
func checked(t *testing.T, fault string, o Options) *Report {
	t.Helper()
	r, err := Check(func(upstreams []string) (string, error) { return startReference(fault)(t, upstreams), nil }, nil, o)
	assert.NilError(t, err)
	return r
}

// TestAllowed checks that a gateway may do what the documentation allows.
func TestAllowed(t *testing.T) {
	t.Parallel()
	for name := range allowed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := checked(t, name, Options{Classes: []string{"fidelity", "end", "usage"}, Wait: 2 * time.Minute}) // a byte alone takes long
			assert.Assert(t, !r.Failed(), "%v", r.Findings())
		})
	}
}

// TestNoAnswer checks that a gateway that does not answer, or not the simplest request, gets one finding.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"hangs":   {func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); <-r.Context().Done() }, "no answer"},
		"refuses": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "status 401"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(c.handler)
			defer s.Close()
			r, err := Check(func([]string) (string, error) { return s.URL, nil }, nil, Options{Wait: 100 * time.Millisecond})
			assert.NilError(t, err)
			found := r.Findings()
			assert.Equal(t, len(found), 1)
			assert.Equal(t, found[0].ID(), "start/answers/no-answer")
			assert.Assert(t, strings.Contains(found[0].Says, c.want), found[0].Says)
			assert.Assert(t, r.Failed())
			assert.Assert(t, !strings.Contains(found[0].String(), "Options{"), found[0]) // no options repeat it
		})
	}
}

// TestGaps checks that a gap declares findings, and is told when it no longer occurs.
func TestGaps(t *testing.T) {
	t.Parallel()
	o := Options{Classes: []string{"end/http-4*"}, Gaps: []string{"end/http-4*/status", "end/http-429", "end/http-500", "leaving"}}
	r := checked(t, "turns 429 into 200", o)
	assert.Equal(t, len(r.Findings()), 2)
	for _, f := range r.Findings() {
		assert.Equal(t, f.Gap, "end/http-4*/status")
	}
	assert.DeepEqual(t, r.Stale, []string(nil)) // cases of the last two gaps did not run
	assert.Assert(t, !r.Failed())

	r = checked(t, "", o)
	assert.DeepEqual(t, r.Stale, []string{"end/http-4*/status", "end/http-429"})
	assert.Assert(t, r.Failed())
}

// TestUnderLoad checks that a fault that occurs only beside other streams is found, and with how few of them.
func TestUnderLoad(t *testing.T) {
	t.Parallel()
	o := Options{Classes: []string{"fidelity/whole"}}
	assert.Assert(t, !checked(t, "mixes answers under load", o).Failed())
	o.Streams = 16
	r := checked(t, "mixes answers under load", o)
	assert.Assert(t, len(r.Findings()) > 0)
	f := r.Findings()[0]
	assert.Assert(t, f.Streams >= 2 && f.Streams < 16, "%v", f) // the fault needs three requests at once

	o.Gaps = []string{"fidelity/whole/*"}
	r = checked(t, "mixes answers under load", o)
	assert.Assert(t, !r.Failed(), "%v, %v", r.Findings(), r.Stale)
}

// TestShrinking checks that a finding is shown with the fewest tokens.
func TestShrinking(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]int{"repeats events": 1, "loses event 700": 1000} {
		found := checked(t, fault, Options{Classes: []string{"fidelity/burst"}}).Findings()
		assert.Equal(t, len(found), 1)
		assert.Equal(t, found[0].Tokens, want)
		assert.Assert(t, strings.Contains(found[0].String(), fmt.Sprintf("%d in the answer\n", want)), found[0])
	}
}

// TestAccounted checks that tokens are compared that a gateway has accounted, also of streams that broke.
func TestAccounted(t *testing.T) {
	t.Parallel()
	seen := regexp.MustCompile(`gwt[0-9a-z]+x[0-9]+\.[0-9]+`)
	var mu sync.Mutex
	bills := map[string][2]int{}
	bill := func(fault string) func(testing.TB, []string) string {
		return func(t testing.TB, upstreams []string) string {
			inner := startReference("")(t, upstreams)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				out, _ := http.NewRequestWithContext(r.Context(), r.Method, inner+r.URL.RequestURI(), r.Body)
				out.Header = r.Header
				resp, err := http.DefaultTransport.RoundTrip(out)
				if err != nil {
					panic(http.ErrAbortHandler)
				}
				defer resp.Body.Close()
				var answer []byte
				for buf := make([]byte, 4096); err == nil; {
					var n int
					n, err = resp.Body.Read(buf)
					answer = append(answer, buf[:n]...)
					w.Write(buf[:n])
					w.(http.Flusher).Flush()
				}
				tokens := len(seen.FindAll(answer, -1))
				if fault != "forgets reasoning" && strings.Contains(string(answer), "reasoning_content") {
					tokens *= 2 // as many as the answer has
				}
				if fault == "forgets streams that broke" && err != io.EOF {
					tokens = 0
				}
				mu.Lock()
				bills[r.Header.Get("X-Request-Id")] = [2]int{3, tokens}
				mu.Unlock()
				if err != io.EOF {
					panic(http.ErrAbortHandler)
				}
			}))
			s.Config.ErrorLog = nil
			t.Cleanup(s.Close)
			return s.URL
		}
	}
	o := Options{Classes: []string{"usage/stream", "usage/whole", "usage/reasoning", "usage/cut"}, Accounted: func(r Request) (int, int, error) {
		mu.Lock()
		defer mu.Unlock()
		b, has := bills[r.ID]
		if !has {
			return 0, 0, fmt.Errorf("no bill of %s", r.ID)
		}
		return b[0], b[1], nil
	}}
	for fault, want := range map[string][]string{"": nil, "forgets streams that broke": {"usage/cut/accounted"}, "forgets reasoning": {"usage/reasoning/accounted"}} {
		r, err := Check(func(upstreams []string) (string, error) { return bill(fault)(t, upstreams), nil }, nil, o)
		assert.NilError(t, err)
		var ids []string
		for _, f := range r.Findings() {
			ids = append(ids, f.ID())
		}
		assert.DeepEqual(t, ids, want)
	}
}

// TestDoesNotRead checks that the kit goes on if a gateway keeps the upstream's connection and does not read from it.
func TestDoesNotRead(t *testing.T) {
	t.Parallel()
	o, err := Options{Wait: time.Second, LeaveWithin: time.Second}.withDefaults()
	assert.NilError(t, err)
	k, err := newKit(o, nil)
	assert.NilError(t, err)
	t.Cleanup(k.close)
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		resp, err := http.Post(k.urls()[0]+r.URL.Path, "application/json", r.Body)
		if err == nil {
			<-over
			resp.Body.Close()
		}
	}))
	k.url = s.URL
	full := func(b []byte) []byte { return bytes.Repeat(b, 1000) } // fills the buffers of the connection
	ended := make(chan *exchange, 1)
	go func() { ended <- k.once(plan{stream: true, config: endless, edit: full}) }()
	select {
	case x := <-ended:
		assert.Assert(t, x.hung > 0)
		assert.Assert(t, x.last().late)
	case <-time.After(time.Minute):
		t.Error("the request did not end within a minute")
	}
	close(over)
	s.Close()
}

// TestKeysAreHidden checks that findings have no keys of the options.
func TestKeysAreHidden(t *testing.T) {
	t.Parallel()
	keys := []string{"sk-tenant-one-4711", "sk-tenant-two-4712"}
	for fault, class := range map[string]string{"leaks the tenant's key": "isolation/keys", "passes the upstream's key on": "isolation/upstream-key"} {
		r := checked(t, fault, Options{Keys: keys, UpstreamKey: upstreamKey, Classes: []string{class}})
		assert.Equal(t, len(r.Findings()), 1)
		for _, key := range append(keys, upstreamKey) {
			assert.Assert(t, !strings.Contains(r.Text(), key), r.Text())
		}
	}
}

// TestOptions checks the errors of options.
func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		`Options.API: "telnet": want one of openai-chat, `: {API: "telnet"},
		`Options.Upstreams: 3: want 1 or 2`:                {Upstreams: 3},
		`Options.Streams: -1: want 0 or more`:              {Streams: -1},
		`Options.Wait: -1ns: want 0 or more`:               {Wait: -1},
		`Options.Gaps: "end/rest" matches no case`:         {Gaps: []string{"end/rest"}},
		`Options.Classes: "speed" matches no case`:         {Classes: []string{"speed"}},
		`Options.Classes: "end/reset/clean-end" matches`:   {Classes: []string{"end/reset/clean-end"}}, // a rule
		`Options.GrowWithin: -1: want 0 or more`:           {GrowWithin: -1},
		`Options.Measure: no such process`:                 {Measure: func() (Footprint, error) { return Footprint{}, errors.New("no such process") }},
		`Options.Keys: "": want a key`:                     {Keys: []string{"a", ""}},
	} {
		_, err := Check(nil, nil, o)
		assert.ErrorContains(t, err, want)
	}
}

// TestCases checks that the names of cases are unique, and that the cases of a class follow each other.
func TestCases(t *testing.T) {
	var ids []string
	for _, c := range Cases() {
		ids = append(ids, c.Class+"/"+c.Name)
		assert.Assert(t, c.Does != "")
	}
	slices.Sort(ids)
	assert.Equal(t, len(slices.Compact(ids)), len(cases))
	all := classes()
	slices.Sort(all)
	assert.Equal(t, len(slices.Compact(all)), len(classes()))
}

// FuzzReference checks that the reference gateway passes for any drawn exchange.
func FuzzReference(f *testing.F) { Fuzz(f, startReference(""), Options{}) }

// TestDrawnBeside checks that Fuzz tells what goes wrong in the streams beside an exchange.
func TestDrawnBeside(t *testing.T) {
	t.Parallel()
	start := func(upstreams []string) (string, error) {
		return startReference("drops the finish reason")(t, upstreams), nil
	}
	all, err := newKits(Options{Streams: 8}, nil, start, t.Cleanup)
	assert.NilError(t, err)
	k := all.all[0]
	k.load.start(k.o.Streams)
	for began := time.Now(); time.Since(began) < time.Minute; {
		for _, f := range k.drawn([]byte{31, 0, 0, 8}) {
			if strings.HasPrefix(f.ID(), "fidelity/stream/beside-") && f.Streams == 8 {
				return
			}
		}
	}
	t.Error("no finding in the streams within a minute")
}

// TestDrawn checks that drawn exchanges find faults, and name the cases of Run.
func TestDrawn(t *testing.T) {
	t.Parallel()
	for fault, c := range map[string]struct {
		data func(i byte) []byte
		want string
	}{
		"replaces halves of characters":  {func(i byte) []byte { return []byte{31, 0, 1, 8, 0, i, 3} }, "fidelity/stream/text"},
		"ends a cut stream with [DONE]":  {func(i byte) []byte { return []byte{i, 3, 1, 8} }, "end/reset/success"},
		"turns 400 into 500":             {func(i byte) []byte { return []byte{i} }, "end/http-400-whole/status"},
		"reads on after the client left": {func(i byte) []byte { return []byte{i, 0, 3} }, "leaving/mid-stream/goes-on"},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			all, err := newKits(Options{LeaveWithin: time.Second}, nil, func(upstreams []string) (string, error) { return startReference(fault)(t, upstreams), nil }, t.Cleanup)
			assert.NilError(t, err)
			k := all.all[0]
			found := map[string]bool{}
			for i := range byte(32) {
				for _, f := range k.drawn(c.data(i)) {
					found[f.ID()] = true
					assert.Assert(t, slices.ContainsFunc(cases, func(c testCase) bool { return covers(c.id(), f.ID()) }), "%v", f)
				}
				if found[c.want] {
					return
				}
			}
			t.Errorf("want %s, got %v", c.want, found)
		})
	}
}

// TestSkippedFinding checks that reports show a finding of a case that could not be checked to its end.
func TestSkippedFinding(t *testing.T) {
	f := Finding{Class: "failover", Case: "dead", Rule: "success", Says: "the client got a complete answer"}
	r := &Report{Results: []Result{{Class: "failover", Case: "dead", Findings: []Finding{f}, Skipped: "no address"}}}
	assert.Assert(t, r.Failed())
	for _, text := range []string{r.Summary(), r.Text(), r.Markdown()} {
		assert.Assert(t, strings.Contains(text, "1 of 1 cases failed"), "%s", text)
	}
	assert.Assert(t, strings.Contains(string(r.JUnit()), `failures="1" skipped="0"`), "%s", r.JUnit())
}

// TestKnownGaps checks that a report with several findings has one line that declares them all.
func TestKnownGaps(t *testing.T) {
	of := func(kind, rule, gap string) Finding { return Finding{Class: "end", Case: kind, Rule: rule, Gap: gap} }
	r := &Report{Results: []Result{{Findings: []Finding{of("fin", "success", ""), of("fin", "success", ""), of("fin", "usage", "end/fin/usage")}}}}
	assert.Assert(t, !strings.Contains(r.Text(), "all known gaps"), "%s", r.Text())
	r.Results = append(r.Results, Result{Findings: []Finding{of("reset", "clean-end", "")}})
	assert.Assert(t, strings.Contains(r.Text(), `all known gaps: gatewaytest.Options{Gaps: []string{"end/fin/success", "end/reset/clean-end"}}`), "%s", r.Text())
}
