package dashboard

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// text has two samples of each of two loads. The unit things has no direction, and the direction of score comes
// from a Unit line.
const text = `Unit score better=higher
Unit req/s better=higher
backend: vllm
model: yi-6b
date: 2026-01-02T03:04:05Z
BenchmarkServe/rate=2-2 1 200 output-tok/s 2 req/s 31000000 p50-ttft-ns 33000000 mean-ttft-ns 9000000 p99-itl-ns 512 in-tok/req 128 out-tok/req 0 fail-%
BenchmarkServe/concurrency=8-2 1 1000 output-tok/s 7 score 5 things
PASS
BenchmarkServe/rate=2-2 1 210 output-tok/s 2 req/s 32000000 p50-ttft-ns 34000000 mean-ttft-ns 8000000 p99-itl-ns 512 in-tok/req 128 out-tok/req 0 fail-%
BenchmarkServe/concurrency=8-2 1 1010 output-tok/s 7.5 score 5 things
PASS
`

func read(t *testing.T, text string) *Results {
	t.Helper()
	r, err := Read([]byte(text), "a.txt")
	assert.NilError(t, err)
	return r
}

// strict decodes JSON, and fails if the JSON has unknown keys.
func strict(t *testing.T, data []byte, v any) {
	t.Helper()
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	assert.NilError(t, in.Decode(v))
}

func TestGitHubActionBenchmark(t *testing.T) {
	files, notes, err := GitHubActionBenchmark(read(t, text))
	assert.NilError(t, err)
	assert.DeepEqual(t, notes, []string{"left out, because they have no direction: in-tok/req, out-tok/req, things"})
	assert.Equal(t, len(files), 2)
	names := map[string]bool{}
	for _, f := range files {
		golden.Assert(t, string(f.Data), f.Name+".golden")
		// The tool's parser requires an array of these, and the action compares entries that have the same name
		// (https://github.com/benchmark-action/github-action-benchmark/blob/master/src/extract.ts, write.ts).
		var entries []struct {
			Name, Unit   *string
			Value        *float64
			Range, Extra string
		}
		strict(t, f.Data, &entries)
		for _, e := range entries {
			assert.Assert(t, e.Name != nil && e.Unit != nil && e.Value != nil && !names[*e.Name], "%+v", e)
			names[*e.Name] = true
		}
	}
}

// TestDirections checks that each unit is in the file for its direction, and not in the other.
func TestDirections(t *testing.T) {
	line := "BenchmarkA 1 1 ns/op 1 B/op 1 allocs/op 1 MB/s 1 audio-tok/s"
	want := map[string]string{"ns/op": "lower", "B/op": "lower", "allocs/op": "lower", "MB/s": "higher", "audio-tok/s": "higher"}
	for _, u := range sample.Units {
		line += " 1 " + u.Name
		want[u.Name] = u.Better
	}
	files, _, err := GitHubActionBenchmark(read(t, line+"\n"))
	assert.NilError(t, err)
	got := map[string]string{}
	for i, better := range []string{"lower", "higher"} {
		var entries []struct{ Unit string }
		assert.NilError(t, json.Unmarshal(files[i].Data, &entries))
		for _, e := range entries {
			got[e.Unit] = better
		}
	}
	for unit, better := range want {
		assert.Equal(t, got[unit], better, unit)
	}
	for _, unit := range resultfile.UnitLines([]*resultfile.File{{Results: []resultfile.Result{{Values: []resultfile.Value{{Unit: "mean-tpot-incl-ttft-ns"}, {Unit: "audio-s/s"}, {Unit: "accept-len"}}}}}}) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(unit, "Unit "), " better=")
		better, _, _ := strings.Cut(rest, " ")
		r := read(t, unit+"\nBenchmarkA 1 1 "+name+"\n")
		assert.Equal(t, r.Figures[0].Better, better, unit)
	}
	_, _, err = GitHubActionBenchmark(read(t, "BenchmarkA 1 1 things\n"))
	assert.ErrorContains(t, err, `no unit has a direction: want a line such as "Unit things better=lower"`)
	files, _, err = GitHubActionBenchmark(read(t, "BenchmarkA 1 1 req/s\n"))
	assert.Assert(t, err == nil && len(files) == 1 && files[0].Name == "customBiggerIsBetter.json")
}

func TestBencher(t *testing.T) {
	data, notes, err := Bencher(read(t, text))
	assert.NilError(t, err)
	golden.Assert(t, string(data), "bencher.json.golden")
	assert.DeepEqual(t, notes, []string{
		"higher is better: thresholds of bencher run want --threshold-lower-boundary for output-tok/s, req/s, score",
		"lower is better: thresholds of bencher run want --threshold-upper-boundary for p50-ttft-ns, mean-ttft-ns, p99-itl-ns, fail-%",
	})
	// JsonNewMetric in https://github.com/bencherdev/bencher/blob/main/lib/bencher_json/src/project/metric/mod.rs
	var all map[string]map[string]struct {
		Value *float64
		Lower *float64 `json:"lower_value"`
		Upper *float64 `json:"upper_value"`
	}
	strict(t, data, &all)
	for name, measures := range all {
		for measure, m := range measures {
			assert.Assert(t, m.Value != nil && *m.Lower <= *m.Value && *m.Value <= *m.Upper, "%s %s", name, measure)
		}
	}
	_, _, err = Bencher(read(t, "BenchmarkA/"+strings.Repeat("x", 1024)+" 1 1 req/s\n"))
	assert.ErrorContains(t, err, "the name has 1026 bytes: Bencher takes 1024")
	_, _, err = Bencher(read(t, "BenchmarkA 1 1 "+strings.Repeat("x", 51)+"\n"))
	assert.ErrorContains(t, err, "the name has 51 bytes: Bencher takes 50")
}

func TestCSV(t *testing.T) {
	data, err := CSV(read(t, text))
	assert.NilError(t, err)
	golden.Assert(t, string(data), "results.csv.golden")
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	assert.NilError(t, err)
	assert.Equal(t, len(rows), 1+2*(8+3))
}

// TestCSVFormulas checks that a spreadsheet takes no text for a formula, and that numbers remain numbers.
func TestCSVFormulas(t *testing.T) {
	data, err := CSV(read(t, "server: =1+1\nother: -1.5\nBenchmarkA/x=@a/y=-np 1 -5 =ops\nPASS\n"))
	assert.NilError(t, err)
	assert.Equal(t, string(data), "benchmark,sample,unit,value,better,x,y,server,other\nA/x=@a/y=-np,1,'=ops,-5,,'@a,'-np,'=1+1,-1.5\n")
}

// llmdSchema is a JSON schema for the parts of Benchmark Report 0.2 that the package writes. It was written for
// this test from
// https://github.com/llm-d/llm-d-benchmark/blob/main/llmdbenchmark/analysis/benchmark_report/schema_v0_2.py.
const llmdSchema = `{"$defs": {
  "stats": {"type": "object", "required": ["units", "mean"], "properties": {"units": {"enum": ["count", "s", "ms", "s/token", "ms/token", "tokens/s", "queries/s"]}, "mean": {"type": "number"}}},
  "time": {"$ref": "#/$defs/stats", "properties": {"units": {"enum": ["s", "ms"]}}},
  "token": {"$ref": "#/$defs/stats", "properties": {"units": {"enum": ["s/token", "ms/token"]}}},
  "rate": {"$ref": "#/$defs/stats", "properties": {"units": {"enum": ["tokens/s"]}}},
  "length": {"type": "object", "required": ["distribution", "value"], "additionalProperties": false, "properties": {"distribution": {"enum": ["fixed", "gaussian", "uniform", "other"]}, "value": {"type": "number", "minimum": 0}}}},
 "type": "object", "required": ["version", "run", "results"], "additionalProperties": false, "properties": {
  "version": {"const": "0.2"},
  "run": {"type": "object", "required": ["uid"], "additionalProperties": false, "properties": {"uid": {"type": "string"}, "description": {"type": "string"},
   "time": {"type": "object", "additionalProperties": false, "properties": {"start": {"type": "string"}}}}},
  "scenario": {"type": "object", "additionalProperties": false, "properties": {
   "stack": {"type": "array", "items": {"type": "object", "required": ["metadata", "standardized", "native"], "additionalProperties": false, "properties": {
    "metadata": {"type": "object", "required": ["label", "cfg_id"]}, "standardized": {"type": "object", "required": ["kind", "tool", "tool_version"], "properties": {"kind": {"const": "generic"}}},
    "native": {"type": "object", "additionalProperties": false, "properties": {"config": {}}}}}},
   "load": {"type": "object", "required": ["metadata", "standardized", "native"], "additionalProperties": false, "properties": {"metadata": {}, "native": {"type": "object", "additionalProperties": false, "properties": {"args": {"type": "object"}}},
    "standardized": {"type": "object", "required": ["tool", "tool_version", "source", "input_seq_len"], "additionalProperties": false, "properties": {
     "tool": {"type": "string"}, "tool_version": {"type": "string"}, "source": {"enum": ["random", "sampled", "unknown"]}, "input_seq_len": {"$ref": "#/$defs/length"}, "output_seq_len": {"$ref": "#/$defs/length"},
     "rate_qps": {"type": "number", "exclusiveMinimum": 0}, "concurrency": {"type": "integer", "minimum": 1}}}}}}},
  "results": {"type": "object", "additionalProperties": false, "properties": {"request_performance": {"type": "object", "additionalProperties": false, "properties": {
   "aggregate": {"type": "object", "additionalProperties": false, "properties": {
    "throughput": {"type": "object", "additionalProperties": false, "properties": {"output_token_rate": {"$ref": "#/$defs/rate"}, "input_token_rate": {"$ref": "#/$defs/rate"}, "total_token_rate": {"$ref": "#/$defs/rate"},
     "request_rate": {"$ref": "#/$defs/stats", "properties": {"units": {"const": "queries/s"}}}}},
    "latency": {"type": "object", "additionalProperties": false, "properties": {"time_to_first_token": {"$ref": "#/$defs/time"}, "request_latency": {"$ref": "#/$defs/time"},
     "time_per_output_token": {"$ref": "#/$defs/token"}, "normalized_time_per_output_token": {"$ref": "#/$defs/token"}, "inter_token_latency": {"$ref": "#/$defs/token"}}}}}}}}}}}`

// TestLLMDReports checks that reports match the schema and contain the values of the results.
func TestLLMDReports(t *testing.T) {
	files, notes, err := LLMDReports(read(t, text))
	assert.NilError(t, err)
	assert.DeepEqual(t, notes, []string{
		"p99-itl-ns: left out, because a Benchmark Report demands mean-itl-ns beside it, which LLMBENCH_UNITS=all reports",
		"fail-%: left out, because a Benchmark Report has no place for it",
		"score: left out, because a Benchmark Report has no place for it",
		"things: left out, because a Benchmark Report has no place for it",
	})
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(llmdSchema))
	assert.NilError(t, err)
	compiler := jsonschema.NewCompiler()
	assert.NilError(t, compiler.AddResource("report.json", document))
	schema, err := compiler.Compile("report.json")
	assert.NilError(t, err)
	dir := t.TempDir()
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		var value any
		assert.NilError(t, yaml.Unmarshal(f.Data, &value))
		asJSON, err := json.Marshal(value)
		assert.NilError(t, err)
		plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
		assert.NilError(t, err)
		assert.NilError(t, schema.Validate(plain), f.Name)
		assert.NilError(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600))
	}
	assert.DeepEqual(t, names, []string{"Serve_rate=2-2.1.yaml", "Serve_concurrency=8-2.1.yaml", "Serve_rate=2-2.2.yaml", "Serve_concurrency=8-2.2.yaml"})
	golden.Assert(t, string(files[0].Data), "llmd.yaml.golden")
	back, err := resultfile.Read(filepath.Join(dir, names[0]), resultfile.Options{})
	assert.NilError(t, err)
	got := map[string]string{}
	for _, v := range back.Results[0].Values {
		got[v.Unit] = fmt.Sprintf("%.9g", v.Value)
	}
	assert.DeepEqual(t, got, map[string]string{"output-tok/s": "200", "req/s": "2", "p50-ttft-ns": "31000000", "mean-ttft-ns": "33000000"})
	assert.Equal(t, back.Results[0].Name, "LLMDReport/rate=2")
	_, _, err = LLMDReports(read(t, "BenchmarkA 1 1 things\n"))
	assert.ErrorContains(t, err, "A: no unit that a Benchmark Report has a place for")
	_, _, err = LLMDReports(read(t, "BenchmarkA/x 1 1 req/s\nBenchmarkA_x 1 1 req/s\n"))
	assert.ErrorContains(t, err, "two benchmarks would be written to A_x.1.yaml")
}

// TestLLMDTools checks that a report has each tool's times per token in a place from which package resultfile reads
// the same units, and the name that llm-d has for the tool.
func TestLLMDTools(t *testing.T) {
	for _, c := range []struct{ tool, name, values, want string }{
		{"GuideLLM", "tool: guidellm\n", "6640000 mean-tpot-incl-ttft-ns 6610000 mean-token-itl-ns 6600000 p50-token-itl-ns", "6610000 mean-token-itl-ns 6600000 p50-token-itl-ns 6640000 mean-tpot-incl-ttft-ns"},
		{"AIPerf", "tool: aiperf\n", "6610000 mean-tpot-ns", "6610000 mean-tpot-ns"},
		{"vLLM", "tool: vllm-benchmark\n", "6610000 mean-tpot-ns 6600000 mean-itl-ns", "6610000 mean-tpot-ns 6600000 mean-itl-ns"},
		{"unknown", "tool: llmbench\n", "6600000 mean-itl-ns 6610000 mean-token-itl-ns", "6600000 mean-itl-ns"},
	} {
		files, _, err := LLMDReports(read(t, "tool: "+c.tool+"\nBenchmarkA 1 512 in-tok/req "+c.values+"\n"))
		assert.NilError(t, err)
		assert.Check(t, strings.Contains(string(files[0].Data), c.name), "%s", files[0].Data)
		path := filepath.Join(t.TempDir(), files[0].Name)
		assert.NilError(t, os.WriteFile(path, files[0].Data, 0o600))
		back, err := resultfile.Read(path, resultfile.Options{})
		assert.NilError(t, err)
		var got []string
		for _, v := range back.Results[0].Values {
			got = append(got, fmt.Sprintf("%.9g %s", v.Value, v.Unit))
		}
		assert.Equal(t, strings.Join(got, " "), c.want, c.tool)
	}
}

// TestDistinct checks that results with equal names get distinct names if their configurations differ, but not
// if only their dates differ.
func TestDistinct(t *testing.T) {
	r := read(t, "model: a b\ndate: 1\nBenchmarkA 1 1 req/s\nmodel: c\ndate: 2\nBenchmarkA 1 2 req/s\nBenchmarkB 1 2 req/s\n")
	var names []string
	for _, f := range r.Figures {
		names = append(names, f.Benchmark)
	}
	assert.DeepEqual(t, names, []string{"A/model=a_b", "A/model=c", "B"})
	_, err := Read([]byte("PASS\n"), "a.txt")
	assert.Error(t, err, "a.txt: no results")
}

// TestJUnit checks the test cases and the counters that verdicts are converted to.
func TestJUnit(t *testing.T) {
	side := func(tokens int, more string) gate.File {
		var b strings.Builder
		for i := range 8 {
			fmt.Fprintf(&b, "Unit output-tok/s better=higher gate=2%%\nBenchmarkChat/concurrency=1 1 %d output-tok/s %d things\n%sPASS\n", tokens+i%2, i, more)
		}
		return gate.File{Name: fmt.Sprintf("%d.txt", tokens), Data: strings.NewReader(b.String())}
	}
	more := "BenchmarkMore 1 5 output-tok/s\n"
	for _, c := range []struct {
		name                             string
		old, new                         gate.File
		options                          gate.Options
		tests, failures, errors, skipped int
	}{
		{"pass", side(1000, ""), side(1000, ""), gate.Options{}, 1, 0, 0, 0},
		{"regression", side(1000, ""), side(900, ""), gate.Options{}, 1, 1, 0, 0},
		{"added", side(1000, ""), side(1000, more), gate.Options{}, 2, 0, 0, 1},
		{"removed", side(1000, more), side(1000, ""), gate.Options{}, 2, 0, 1, 0},
		{"removed-allowed", side(1000, more), side(1000, ""), gate.Options{AllowRemoved: true}, 2, 0, 0, 1},
		{"cut", side(1000, ""), gate.File{Name: "cut.txt", Data: strings.NewReader("BenchmarkChat/concurrency=1 1 1000 output-tok/s\n")}, gate.Options{}, 2, 0, 2, 0},
		{"nothing", side(1000, ""), gate.File{Name: "none.txt", Data: strings.NewReader("")}, gate.Options{}, 2, 0, 2, 0},
	} {
		report, err := gate.Compare(gate.File{}, c.old, c.new, c.options)
		assert.NilError(t, err)
		data, err := JUnit(report)
		assert.NilError(t, err)
		golden.Assert(t, string(data), "junit-"+c.name+".xml.golden")
		var all struct {
			Suites []struct {
				Tests    int `xml:"tests,attr"`
				Failures int `xml:"failures,attr"`
				Errors   int `xml:"errors,attr"`
				Skipped  int `xml:"skipped,attr"`
				Cases    []struct {
					Class    string     `xml:"classname,attr"`
					Name     string     `xml:"name,attr"`
					Failures []struct{} `xml:"failure"`
					Errors   []struct{} `xml:"error"`
					Skipped  []struct{} `xml:"skipped"`
				} `xml:"testcase"`
			} `xml:"testsuite"`
		}
		assert.NilError(t, xml.Unmarshal(data, &all))
		s := all.Suites[0]
		assert.DeepEqual(t, []int{s.Tests, s.Failures, s.Errors, s.Skipped}, []int{c.tests, c.failures, c.errors, c.skipped})
		got := make([]int, 4)
		for _, tc := range s.Cases {
			assert.Assert(t, tc.Class != "" && tc.Name != "" && len(tc.Failures)+len(tc.Errors)+len(tc.Skipped) <= 1, "%+v", tc)
			got = []int{got[0] + 1, got[1] + len(tc.Failures), got[2] + len(tc.Errors), got[3] + len(tc.Skipped)}
		}
		assert.DeepEqual(t, got, []int{c.tests, c.failures, c.errors, c.skipped})
		assert.Equal(t, report.Verdict == gate.Pass, c.failures+c.errors == 0, c.name)
		assert.Equal(t, slices.Contains([]gate.Verdict{gate.Regression}, report.Verdict), c.failures > 0, c.name)
	}
}
