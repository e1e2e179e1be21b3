package metrics_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
)

func TestParseNames(t *testing.T) {
	for _, c := range []struct {
		text string
		want metrics.Names
		err  string
	}{
		{`{"requests":"a_total"}`, metrics.Names{Path: "/metrics", Requests: metrics.Alternatives{"a_total"}}, ""},
		{`{"path":"/stats","digits":6,"ttft":["a_seconds","b:seconds"],"prompt-tokens":"t_total{kind=\"prompt\",ok=\"a}b\"}"}`,
			metrics.Names{Path: "/stats", Digits: 6, TTFT: metrics.Alternatives{"a_seconds", "b:seconds"}, PromptTokens: metrics.Alternatives{`t_total{kind="prompt",ok="a}b"}`}}, ""},
		{`requests=a`, metrics.Names{}, "not a JSON object: "},
		{`[]`, metrics.Names{}, "not a JSON object: "},
		{`{}`, metrics.Names{}, "no name of a metric: want at least one of requests, prompt-tokens, "},
		{`{"path":"/metrics"}`, metrics.Names{}, "no name of a metric: want at least one of requests, "},
		{`{"path":"metrics","requests":"a"}`, metrics.Names{}, `path: "metrics": want a path like "/metrics"`},
		{`{"digits":-1,"requests":"a"}`, metrics.Names{}, "digits: -1: want the number of significant digits"},
		{`{"Requests":"a","TTFT":"b","e":7,"f":[]}`, metrics.Names{}, `"Requests": want path, digits, requests, `},
		{`{"open-requests":"a"}`, metrics.Names{}, `"open-requests": want path, `},
		{`{"requests":7}`, metrics.Names{}, "requests: want the name of a metric, or a list of names"},
		{`{"requests":[]}`, metrics.Names{}, "requests: want the name of a metric, or a list of names"},
		{`{"requests":""}`, metrics.Names{}, `requests: "" is not the name of a metric: want a name like my_requests_total, or with labels`},
		{`{"requests":"a b"}`, metrics.Names{}, `requests: "a b" is not the name`},
		{`{"requests":"a{b}"}`, metrics.Names{}, `requests: "a{b}" is not the name`},
		{`{"requests":"a{b=\"c\"} 1\nd{e=\"f\"}"}`, metrics.Names{}, `is not the name`},
		{`{"requests":"sum(a)"}`, metrics.Names{}, `requests: "sum(a)" is not the name`},
	} {
		got, err := metrics.ParseNames([]byte(c.text))
		if c.err != "" {
			assert.ErrorContains(t, err, c.err, c.text)
			continue
		}
		assert.NilError(t, err, c.text)
		assert.DeepEqual(t, got, c.want)
	}
}

// TestSelectors reads the metrics of a server that nobody knows, with the names that its user gives.
func TestSelectors(t *testing.T) {
	names, err := metrics.ParseNames([]byte(`{"cache-hits":"tok_total{kind=\"cached\"}","cache-queries":"tok_total{kind=\"prompt\"}","requests":"req_seconds_count{status=\"ok\"}","prompt-tokens":"none_total","output-tokens":"out_sum","e2e":"req_seconds{status=\"ok\"}"}`))
	assert.NilError(t, err)
	pass := 0
	s := source(t, names, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "# TYPE tok counter\ntok_total{kind=\"cached\",m=\"a\"} %d\ntok_total{kind=\"prompt\",m=\"a\"} %d\ntok_total{kind=\"output\",m=\"a\"} 7\n", 10*pass, 40*pass)
		fmt.Fprintf(w, "# TYPE req_seconds histogram\nreq_seconds_sum{status=\"ok\"} %d\nreq_seconds_count{status=\"ok\"} %d\nreq_seconds_sum{status=\"error\"} 100\nreq_seconds_count{status=\"error\"} %d\n", 8*pass, 4*pass, 50*pass)
		fmt.Fprintf(w, "# TYPE out summary\nout_sum %d\nout_count 3\n", 9*pass)
	})
	o := metrics.NewObserver(s, false)
	assert.NilError(t, o.Before(t.Context()))
	pass++
	counts, err := o.Counts(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, counts.Requests, 4)
	assert.Equal(t, counts.PromptTokens, -1)
	assert.Equal(t, counts.OutputTokens, 9)
	figures, err := o.After(t.Context())
	assert.NilError(t, err)
	assert.DeepEqual(t, figures, map[string]float64{"srv-prefix-hit-%": 25, "srv-e2e-ns": 2e9})

	info, err := s.Info(t.Context())
	assert.NilError(t, err)
	assert.Equal(t, strings.Join(info.Missing(names), "; "), "prompt-tokens none_total")
	assert.Equal(t, info.Label("tok_total", "m"), "a")
	assert.Equal(t, info.Label("tok_total", "kind"), "") // they differ
	assert.Equal(t, info.Label("tok_total", "x"), "")
	assert.Equal(t, info.Value(`tok_total{kind="output"}`), "7")
	assert.Equal(t, info.Value("tok_total"), "")
	assert.Equal(t, info.Value("x"), "")
}
