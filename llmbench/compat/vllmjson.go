package compat

import (
	"encoding/json"
	"strings"
)

// SaveResult is the file that `vllm bench serve --save-result` writes, without the arrays of
// requests: the same keys in the same order, on one line. Unknown values are null, and the
// rate of a closed loop is "inf", as in vLLM.
type SaveResult struct {
	Date           string  `json:"date"`
	EndpointType   string  `json:"endpoint_type"`
	Backend        string  `json:"backend"`
	Label          *string `json:"label"`
	ModelID        string  `json:"model_id"`
	TokenizerID    string  `json:"tokenizer_id"`
	NumPrompts     int     `json:"num_prompts"`
	RequestRate    any     `json:"request_rate"`
	Burstiness     any     `json:"burstiness"`
	MaxConcurrency *int    `json:"max_concurrency"`

	Duration    Value  `json:"duration"`
	Completed   Value  `json:"completed"`
	Failed      Value  `json:"failed"`
	TotalInput  Value  `json:"total_input_tokens"`
	TotalOutput Value  `json:"total_output_tokens"`
	Requests    Value  `json:"request_throughput"`
	Goodput     Value  `json:"request_goodput"`
	Output      Value  `json:"output_throughput"`
	Total       Value  `json:"total_token_throughput"`
	MaxOutput   Value  `json:"max_output_tokens_per_s"`
	MaxRequests Value  `json:"max_concurrent_requests"`
	RTFX        *Value `json:"rtfx"`

	MeanTTFT   Value `json:"mean_ttft_ms"`
	MedianTTFT Value `json:"median_ttft_ms"`
	StdTTFT    Value `json:"std_ttft_ms"`
	P99TTFT    Value `json:"p99_ttft_ms"`
	MeanTPOT   Value `json:"mean_tpot_ms"`
	MedianTPOT Value `json:"median_tpot_ms"`
	StdTPOT    Value `json:"std_tpot_ms"`
	P99TPOT    Value `json:"p99_tpot_ms"`
	MeanITL    Value `json:"mean_itl_ms"`
	MedianITL  Value `json:"median_itl_ms"`
	StdITL     Value `json:"std_itl_ms"`
	P99ITL     Value `json:"p99_itl_ms"`
	MeanE2EL   Value `json:"mean_e2el_ms"`
	MedianE2EL Value `json:"median_e2el_ms"`
	StdE2EL    Value `json:"std_e2el_ms"`
	P99E2EL    Value `json:"p99_e2el_ms"`
}

// VLLMResult returns the JSON of a [SaveResult] for a pass.
func VLLMResult(p Pass) ([]byte, error) {
	f := VLLM(p)
	n := 0
	for range p.Requests {
		n++
	}
	backend := "openai-chat"
	if p.Head.Dialect != "openai-chat" {
		backend = "openai"
	}
	r := SaveResult{
		Date: p.Head.Start.Format("20060102-150405"), EndpointType: backend, Backend: backend,
		ModelID: p.Head.Model, TokenizerID: p.Head.Model, NumPrompts: n, RequestRate: "inf", Burstiness: 1.0,
		Duration: f.Duration, Completed: f.Completed, Failed: f.Failed, TotalInput: f.InputTokens, TotalOutput: f.OutputTokens,
		Requests: f.Requests, Goodput: f.Good, Output: f.Output, Total: f.Total, MaxOutput: f.PeakOutput, MaxRequests: f.PeakRequests,
	}
	if p.Head.Concurrency > 0 {
		r.MaxConcurrency = &p.Head.Concurrency
	} else {
		r.RequestRate, r.Burstiness = requestRate(p), burstiness(p)
	}
	fill := func(l Latency, mean, median, std, p99 *Value) {
		*mean, *median, *std, *p99 = ms(l.Mean), ms(l.At(50)), ms(l.Std()), ms(l.At(99))
	}
	fill(f.TTFT, &r.MeanTTFT, &r.MedianTTFT, &r.StdTTFT, &r.P99TTFT)
	fill(f.TPOT, &r.MeanTPOT, &r.MedianTPOT, &r.StdTPOT, &r.P99TPOT)
	fill(f.ITL, &r.MeanITL, &r.MedianITL, &r.StdITL, &r.P99ITL)
	fill(f.E2E, &r.MeanE2EL, &r.MedianE2EL, &r.StdE2EL, &r.P99E2EL)
	text := &strings.Builder{}
	enc := json.NewEncoder(text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(r)
	return []byte(text.String()), err
}
