package dashboard

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// llmdPlaces says where in llm-d's Benchmark Report 0.2 a unit of llmbench belongs: the section, the metric,
// the report's unit, and the divisor that converts a value of llmbench to the report's unit
// (https://github.com/llm-d/llm-d-benchmark/blob/main/llmdbenchmark/analysis/benchmark_report/schema_v0_2.py).
var llmdPlaces = map[string]struct {
	section, metric, units string
	divisor                float64
}{
	sample.OutputRate:   {"throughput", "output_token_rate", "tokens/s", 1},
	sample.TotalRate:    {"throughput", "total_token_rate", "tokens/s", 1},
	sample.PromptRate:   {"throughput", "input_token_rate", "tokens/s", 1},
	sample.RequestRate:  {"throughput", "request_rate", "queries/s", 1},
	"ttft-ns":           {"latency", "time_to_first_token", "s", 1e9},
	"tpot-ns":           {"latency", "time_per_output_token", "s/token", 1e9},
	"tpot-incl-ttft-ns": {"latency", "normalized_time_per_output_token", "s/token", 1e9},
	"itl-ns":            {"latency", "inter_token_latency", "s/token", 1e9},
	"token-itl-ns":      {"latency", "inter_token_latency", "s/token", 1e9}, // if the result has no itl-ns
	"e2e-ns":            {"latency", "request_latency", "s", 1e9},
}

// llmdTools maps names of package resultfile to llm-d's names of the same tools. Readers of a report have to know the
// tool, because tools define the times per token differently.
var llmdTools = map[string]string{"vLLM": "vllm-benchmark", "GuideLLM": "guidellm", "AIPerf": "aiperf", "unknown": "llmbench"}

// llmdStatistics lists the report's statistics that units of llmbench have. The report requires the mean of
// each metric.
var llmdStatistics = []string{"mean", "p50", "p90", "p95", "p99", "max"}

// LLMDReports returns a Benchmark Report 0.2 of llm-d for each result, because a report describes a single run
// of a single load. The notes name the units for which the report has no field.
func LLMDReports(r *Results) (files []File, notes []string, err error) {
	names := distinct(r.All)
	samples := map[string]int{}
	for i := range r.All {
		report, left := llmdReport(&r.All[i], names[i])
		for _, note := range left {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
		if report == nil {
			return nil, nil, fmt.Errorf("%s: no unit that a Benchmark Report has a place for: want one such as output-tok/s or mean-ttft-ns", names[i])
		}
		samples[names[i]]++
		var b bytes.Buffer
		out := yaml.NewEncoder(&b)
		out.SetIndent(2)
		if err := out.Encode(report); err != nil {
			return nil, nil, err
		}
		files = append(files, File{fmt.Sprintf("%s.%d.yaml", slug(names[i]), samples[names[i]]), b.Bytes()})
	}
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.Name] {
			return nil, nil, fmt.Errorf("two benchmarks would be written to %s: convert them apart", f.Name)
		}
		seen[f.Name] = true
	}
	return files, notes, nil
}

// object is a YAML mapping.
type object = map[string]any

// llmdReport returns the report of a result, or nil if the result has no unit that belongs in a report. left
// explains which units are omitted.
func llmdReport(r *benchfile.Result, name string) (report object, left []string) {
	aggregate := object{}
	for _, v := range r.Values {
		statistic, rest, _ := strings.Cut(v.Unit, "-")
		place, ok := llmdPlaces[rest]
		if !ok || !slices.Contains(llmdStatistics, statistic) {
			if place, ok = llmdPlaces[v.Unit]; ok {
				statistic = "mean"
			}
		}
		_, hasMean := r.Value("mean-" + rest)
		_, hasITL := r.Value(sample.MeanITL)
		switch {
		case v.Unit == sample.PromptLength || v.Unit == sample.OutputLength:
			continue // part of the load, see llmdScenario
		case !ok:
			left = append(left, v.Unit+": left out, because a Benchmark Report has no place for it")
			continue
		case rest == "token-itl-ns" && hasITL:
			left = append(left, v.Unit+": left out, because a Benchmark Report has one ITL, which is mean-itl-ns here")
			continue
		case statistic != "mean" && !hasMean:
			left = append(left, fmt.Sprintf("%s: left out, because a Benchmark Report demands mean-%s beside it, which LLMBENCH_UNITS=all reports", v.Unit, rest))
			continue
		}
		section, _ := aggregate[place.section].(object)
		if section == nil {
			section = object{}
			aggregate[place.section] = section
		}
		metric, _ := section[place.metric].(object)
		if metric == nil {
			metric = object{"units": place.units}
			section[place.metric] = metric
		}
		metric[statistic] = v.Value / place.divisor
	}
	if len(aggregate) == 0 {
		return nil, left
	}
	run := object{"uid": hash(fmt.Sprint(name, r.Config, r.Values, r.Line)), "description": name}
	if date, err := time.Parse(time.RFC3339, benchfile.Lookup(r.Config, "date")); err == nil {
		run["time"] = object{"start": date.UTC().Format(time.RFC3339)}
	}
	return object{
		"version":  "0.2",
		"run":      run,
		"scenario": llmdScenario(r, name),
		"results":  object{"request_performance": object{"aggregate": aggregate}},
	}, left
}

// llmdScenario returns the report's description of the server and the load. A field that the schema requires
// and the result does not have is "unknown".
func llmdScenario(r *benchfile.Result, name string) object {
	setting := func(keys ...string) string {
		for _, key := range keys {
			for _, all := range [][]benchfile.Setting{r.Name.Keys, r.Config} {
				if v := benchfile.Lookup(all, key); v != "" {
					return v
				}
			}
		}
		return "unknown"
	}
	config := object{}
	for _, s := range r.Config {
		config[s.Key] = s.Value
	}
	server := object{"kind": "generic", "tool": setting("backend"), "tool_version": setting("version", "server-version", "image")}
	if model := setting("model"); model != "unknown" {
		server["model"] = object{"name": model}
	}
	scenario := object{"stack": []object{{
		"metadata":     object{"label": "server", "cfg_id": hash(fmt.Sprint(config))},
		"standardized": server,
		"native":       object{"config": config},
	}}}
	input, ok := r.Value(sample.PromptLength)
	if !ok {
		return scenario // the schema requires the prompt length in a load
	}
	tool := setting("tool")
	load := object{"tool": cmp.Or(llmdTools[tool], tool), "tool_version": "unknown", "source": "unknown", "input_seq_len": object{"distribution": "other", "value": input}}
	if output, ok := r.Value(sample.OutputLength); ok {
		load["output_seq_len"] = object{"distribution": "other", "value": output}
	}
	if rate, err := strconv.ParseFloat(r.Name.Key("rate"), 64); err == nil && rate > 0 && rate < 1e15 {
		load["rate_qps"] = rate
	}
	if n, err := strconv.Atoi(r.Name.Key("concurrency")); err == nil && n >= 1 {
		load["concurrency"] = n
	}
	scenario["load"] = object{"metadata": object{}, "standardized": load, "native": object{"args": object{"benchmark": name}}}
	return scenario
}

// hash returns the first 32 hexadecimal digits of the text's SHA-256.
func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:32] }

// slug returns a name as a file name of at most 120 bytes that does not end with a dot.
func slug(name string) string {
	text := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("=-_.", c) {
			return c
		}
		return '_'
	}, name)
	if len(text) > 120 {
		text = text[:80] + "-" + hash(name)
	}
	return strings.Trim(text, ".")
}
