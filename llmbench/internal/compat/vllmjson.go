package compat

import "fmt"

// save returns the file that `vllm bench serve --save-result` writes, without the per-request arrays. It
// has the same members in the same order, on one line. Unknown values are null, and the rate of a closed
// loop is "inf", as in vLLM. The backend is openai-chat if the dialect is openai-chat, and otherwise
// openai.
func (v vllm) save(sel selection, p Pass) ([]byte, error) {
	f := v.figures(p)
	n := 0
	for range p.Requests {
		n++
	}
	backend := "openai-chat"
	if p.Head.Dialect != "openai-chat" {
		backend = "openai"
	}
	var rate, burst, most any = "inf", float(exact(1)), nil
	if p.Head.Concurrency > 0 {
		most = p.Head.Concurrency
	} else {
		rate, burst = float(requestRate(p)), float(burstiness(p))
	}
	members := []member{
		{"date", p.Head.Start.Format("20060102-150405")},
		{"endpoint_type", backend}, {"backend", backend}, {"label", nil},
		{"model_id", p.Head.Model}, {"tokenizer_id", p.Head.Model}, {"num_prompts", n},
		{"request_rate", rate}, {"burstiness", burst}, {"max_concurrency", most},
		{"duration", float(f.Duration)}, {"completed", f.Completed},
	}
	if v.failedLine {
		members = append(members, member{"failed", f.Failed})
	}
	members = append(members, []member{
		{"total_input_tokens", f.InputTokens}, {"total_output_tokens", f.OutputTokens},
		{"request_throughput", float(f.Requests)}, {"request_goodput", float(f.Good)},
		{"output_throughput", float(f.Output)}, {"total_token_throughput", float(f.Total)},
	}...)
	if v.peakLines {
		members = append(members, member{"max_output_tokens_per_s", float(f.PeakOutput)}, member{"max_concurrent_requests", f.PeakRequests})
	}
	if v.resultRTFx {
		members = append(members, member{"rtfx", float(exact(0))}) // for audio, which these runs do not have
	}
	for _, s := range vllmSections(sel, f) {
		members = append(members, member{"mean_" + s.key + "_ms", float(ms(s.of.Mean))}, member{"median_" + s.key + "_ms", float(ms(s.of.At(50)))}, member{"std_" + s.key + "_ms", float(ms(s.of.Std()))})
		for _, percent := range sel.percentiles {
			members = append(members, member{fmt.Sprintf("p%s_%s_ms", percentWord(percent), s.key), float(ms(s.of.At(percent)))})
		}
	}
	return object(members)
}
