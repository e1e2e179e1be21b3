package scenarios

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

func init() {
	llmbench.RegisterUnits(units...)
	llmbench.RegisterUnits(errorUnits()...)
}

// heldShare is the name of the unit that says that a gateway holds back the first tokens, and that figures are missing.
const heldShare = "held-%"

// units lists the units of individual scenarios.
var units = []sample.Unit{
	{Name: "question-set", Core: true, Means: "`BenchmarkAccuracy`: checksum of the questions asked. Processes that asked the same questions have equal checksums."},
	{Name: "agree-%", Better: "higher", Core: true, Gate: "5%", Means: "`BenchmarkAgreement`: answers whose text equals the reference's / answers that have a reference."},
	{Name: "agree-prefix-tok/req", Better: "higher", Core: true, Means: "`BenchmarkAgreement`: mean tokens at the beginning of an answer that equal the reference's. Without LLMBENCH_TOKENIZER, estimated from characters."},
	{Name: "implied-hit-%", Better: "higher", Core: true, Means: "`BenchmarkPrefixCache`, `BenchmarkRouting`: prompt tokens whose prefix was sent before / prompt tokens. `BenchmarkAgent`: the same by the file, if its turns came one after another."},
	{Name: "p50-session-ns", Better: "lower", Core: true, Family: sample.FamilyE2E, Statistic: sample.P50, Means: "`BenchmarkAgent`: median time of a session, from t0 of its first turn to the end of its last one. Sessions with a failed turn have none. [If the end of the time has cut some](#runs-of-agents), it is estimated from all."},
	{Name: "p99-session-ns", Better: "lower", Core: true, Family: sample.FamilyE2E, Statistic: sample.P99, Means: "`BenchmarkAgent`: 99th percentile of the same."},
	{Name: "adj-p50-session-ns", Better: "lower", Core: true, Family: sample.FamilyE2E, Statistic: sample.P50, Means: "`BenchmarkAgent`: the median if a session with a failed turn counts as longer than any other. Only if there is one. Omitted if it would be the time of such a session."},
	{Name: "adj-p99-session-ns", Better: "lower", Core: true, Family: sample.FamilyE2E, Statistic: sample.P99, Means: "`BenchmarkAgent`: the 99th percentile of the same."},
	{Name: "cut-sessions", Core: true, Means: "`BenchmarkAgent`: sessions that had not ended when [the time was over](#runs-of-agents)."},
	{Name: "recycled-sessions", Core: true, Means: "`BenchmarkAgent`: sessions that were sent after all of the file had been: the same again, with other words."},
	{Name: "turns/session", Core: true, Means: "`BenchmarkAgent`: mean turns of a session whose turns all succeeded."},
	{Name: "tok/session", Core: true, Means: "`BenchmarkAgent`: mean tokens of all prompts and answers of such a session."},
	{Name: sample.SessionOutput, Core: true, Means: "`BenchmarkAgent`: mean tokens of all answers of such a session."},
	{Name: "session-fail-%", Better: "lower", Core: true, Means: "`BenchmarkAgent`: sessions with a turn that failed / sessions."},
	{Name: "lost-turns", Better: "lower", Core: true, Means: "`BenchmarkAgent`: turns that were not sent, because a turn of their session had failed."},
	{Name: "mean-sessions", Core: true, Parts: sample.P50E2E, Means: "`BenchmarkAgent`: mean number of sessions that had begun and not ended."},
	{Name: "mean-requests", Core: true, Parts: sample.P50E2E, Means: "`BenchmarkAgent`: mean number of requests in flight. It is more than mean-sessions where sub-agents run side by side, and less because of pauses."},
	{Name: "p50-ttft-depth1-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkAgent`: median TTFT of turns that begin a conversation, of the agent or of a sub-agent."},
	{Name: "p50-ttft-depth2-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkAgent`: median TTFT of turns 2 to 8 of a conversation."},
	{Name: "p50-ttft-depth9-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkAgent`: median TTFT of turns 9 to 32 of a conversation."},
	{Name: "p50-ttft-depth33-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkAgent`: median TTFT of turns from 33 on of a conversation."},
	{Name: "p50-ttft-main-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkAgent`: median TTFT of turns of the agent itself, if the sessions have sub-agents."},
	{Name: "p50-ttft-sub-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkAgent`: median TTFT of turns of sub-agents."},
	{Name: "sub-req-%", Core: true, Means: "`BenchmarkAgent`: successful turns of sub-agents / successful turns."},
	{Name: "sub-tok-%", Core: true, Means: "`BenchmarkAgent`: tokens of the prompts and answers of sub-agents / of all."},
	{Name: "ttft-ms/10ktok", Better: "lower", Core: true, Parts: sample.P50TTFT, Means: "`BenchmarkAgent`: milliseconds by which the TTFT grows with 10,000 tokens of the prompt: slope of the line of least squares through ten turns or more."},
	{Name: "p50-turn-late-ms", Better: "lower", Means: "`BenchmarkAgent`: median over turns of the time from the end of the recorded pause to the send, by the client's clock."},
	{Name: "p99-turn-late-ms", Better: "lower", Means: "`BenchmarkAgent`: 99th percentile of the same."},
	{Name: "p50-ttft-miss-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkPrefixCache`, `BenchmarkRouting`: median TTFT of prompts whose prefix was not sent before."},
	{Name: "p50-ttft-hit-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkPrefixCache`, `BenchmarkRouting`: median TTFT of prompts whose prefix was sent before."},
	{Name: "p50-ttft-before-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkInterference`: median TTFT of short requests before, during and after the TTFT of a long prompt. During: both waited for their first token."},
	{Name: "p50-ttft-during-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkInterference`: median TTFT of short requests before, during and after the TTFT of a long prompt. During: both waited for their first token."},
	{Name: "p50-ttft-after-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkInterference`: median TTFT of short requests before, during and after the TTFT of a long prompt. During: both waited for their first token."},
	{Name: "p50-max-itl-before-ns", Better: "lower", Core: true, Family: sample.FamilyITL, Statistic: sample.P50, Means: "`BenchmarkInterference`: median over short requests of the longest gap between their deltas before, during and after the TTFT of a long prompt."},
	{Name: "p50-max-itl-during-ns", Better: "lower", Core: true, Family: sample.FamilyITL, Statistic: sample.P50, Means: "`BenchmarkInterference`: median over short requests of the longest gap between their deltas before, during and after the TTFT of a long prompt."},
	{Name: "p50-max-itl-after-ns", Better: "lower", Core: true, Family: sample.FamilyITL, Statistic: sample.P50, Means: "`BenchmarkInterference`: median over short requests of the longest gap between their deltas before, during and after the TTFT of a long prompt."},
	{Name: "mean-ttft-long-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.Mean, Means: "`BenchmarkInterference`: mean TTFT of long prompts beside short requests."},
	{Name: "mean-ttft-idle-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.Mean, Means: "`BenchmarkInterference`: mean TTFT of a short request to a server that was idle for 5 seconds (full form: 30)."},
	{Name: "added-ttft-ms", Better: "lower", Core: true, Gate: "10%,0.2ms", Parts: sample.P50TTFT, Means: "`GatewayOverhead`: milliseconds that the gateway adds to the TTFT. A round's value is the median of all differences between a request through the gateway and a direct one; the unit is the middle of all rounds (Hodges-Lehmann). With the log of a simulated server, a request's TTFT is the client's less the log's."},
	{Name: "added-ttft-low-ms", Core: true, Parts: sample.P50TTFT, Means: "`GatewayOverhead`: ends of the 95 % confidence interval of added-ttft-ms, by the signed-rank test. It needs six rounds."},
	{Name: "added-ttft-high-ms", Core: true, Parts: sample.P50TTFT, Means: "`GatewayOverhead`: ends of the 95 % confidence interval of added-ttft-ms, by the signed-rank test. It needs six rounds."},
	{Name: "added-p99-ttft-ms", Better: "lower", Core: true, Parts: sample.P99TTFT, Means: "`GatewayOverhead`: 99th percentile of the TTFT through the gateway less the one without it. With the log of a simulated server: 99th percentile of what the gateway adds to a request's TTFT."},
	{Name: "added-itl-ms", Better: "lower", Core: true, Gate: "10%,0.02ms", Parts: sample.MeanITL, Means: "`GatewayOverhead`: the same for the ITL. A request's value is the mean of its gaps from the second delta on. Omitted if the gateway holds back the first tokens, because later gaps are then shorter than the server's."},
	{Name: "added-itl-low-ms", Core: true, Parts: sample.MeanITL, Means: "`GatewayOverhead`: ends of the 95 % confidence interval of added-itl-ms."},
	{Name: "added-itl-high-ms", Core: true, Parts: sample.MeanITL, Means: "`GatewayOverhead`: ends of the 95 % confidence interval of added-itl-ms."},
	{Name: heldShare, Better: "lower", Core: true, Withheld: "server", Says: "holds-back-the-first-tokens:hold-back-the-first-tokens", Means: "`GatewayOverhead`: streams whose first tokens the gateway holds back / streams that could be judged, if added-itl-ms is omitted for that reason."},
	{Name: "added-e2e-ms", Better: "lower", Core: true, Parts: sample.P50E2E, Means: "`GatewayOverhead`: the same for the E2E latency of streams."},
	{Name: "added-e2e-low-ms", Core: true, Parts: sample.P50E2E, Means: "`GatewayOverhead`: ends of the 95 % confidence interval of added-e2e-ms."},
	{Name: "added-e2e-high-ms", Core: true, Parts: sample.P50E2E, Means: "`GatewayOverhead`: ends of the 95 % confidence interval of added-e2e-ms."},
	{Name: "added-p99-e2e-ms", Better: "lower", Core: true, Parts: sample.P99E2E, Means: "`GatewayOverhead`: the same as added-p99-ttft-ms for the E2E latency of streams."},
	{Name: "added-whole-ms", Better: "lower", Core: true, Parts: sample.P50E2E, Means: "`GatewayOverhead`: the same for the E2E latency of answers that are not streamed."},
	{Name: "added-whole-low-ms", Core: true, Parts: sample.P50E2E, Means: "`GatewayOverhead`: ends of the 95 % confidence interval of added-whole-ms."},
	{Name: "added-whole-high-ms", Core: true, Parts: sample.P50E2E, Means: "`GatewayOverhead`: ends of the 95 % confidence interval of added-whole-ms."},
	{Name: "added-p99-whole-ms", Better: "lower", Core: true, Parts: sample.P99E2E, Means: "`GatewayOverhead`: the same as added-p99-ttft-ms for the E2E latency of answers that are not streamed."},
	{Name: "tail-req/s", Better: "higher", Core: true, Gate: "10%", Means: "`BenchmarkGateway`: highest rate at which 99 of 100 requests got their first token no later than the row's bound after the simulated server's log says, in two passes. The path without the gateway is subtracted, and carried 1.25 times the rate."},
	{Name: "tail-missed-req/s", Core: true, Means: "`BenchmarkGateway`: lowest rate at which two passes missed that bound."},
	{Name: "max-streams", Better: "higher", Core: true, Gate: "10%", Means: "`BenchmarkGateway`: most streams at once of which none failed, and of which 99 of 100 got each token at most 100 ms after the simulated server sent it."},
	{Name: "gw-kB/stream", Better: "lower", Core: true, Gate: "10%,2", Means: "`BenchmarkGateway`: resident memory of the gateway while streams are open less gw-idle-MB, in 1,000 bytes / open streams."},
	{Name: "gw-cpu-%/stream", Better: "lower", Core: true, Means: "`BenchmarkGateway`: share of a core that the gateway uses while streams are open / open streams."},
	{Name: "gw-idle-MB", Better: "lower", Core: true, Means: "`BenchmarkGateway`: resident memory of the gateway before any load, in 1,000,000 bytes."},
	{Name: "gw-idle-cpu-%", Better: "lower", Core: true, Means: "`BenchmarkGateway`: share of a core that the gateway uses before any load."},
	{Name: "gw-open-MB", Better: "lower", Core: true, Means: "`BenchmarkGateway`: resident memory of the gateway while the row's streams are open, in 1,000,000 bytes."},
	{Name: "gw-after-MB", Better: "lower", Core: true, Means: "`BenchmarkGateway`: least resident memory of the gateway within 10 seconds after the streams (full form: 30), in 1,000,000 bytes."},
	{Name: "gw-growth-MB/Mreq", Better: "lower", Core: true, Gate: "10%,256", Means: "`BenchmarkGateway`: megabytes by which the gateway's resident memory grows with a million requests: the median of the slopes between any two readings after blocks of requests (Theil-Sen)."},
	{Name: "gw-growth-low-MB/Mreq", Core: true, Means: "`BenchmarkGateway`: ends of the 99 % confidence interval of gw-growth-MB/Mreq."},
	{Name: "gw-growth-high-MB/Mreq", Core: true, Means: "`BenchmarkGateway`: ends of the 99 % confidence interval of gw-growth-MB/Mreq."},
	{Name: "capacity-req/s", Better: "higher", Core: true, Parts: sample.RequestRate, Means: "`BenchmarkShedding`: requests per second of the closed loop before the measurement. About half of offered-req/s."},
	{Name: "p50-ttft-alone-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkFairness`: median TTFT of the light tenant alone."},
	{Name: "p50-ttft-light-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkFairness`: median TTFT of the light tenant beside the heavy one."},
	{Name: "p50-ttft-heavy-ns", Better: "lower", Core: true, Family: sample.FamilyTTFT, Statistic: sample.P50, Means: "`BenchmarkFairness`: median TTFT of the heavy tenant."},
	{Name: "light-slowdown", Better: "lower", Core: true, Parts: "p50-ttft-light-ns p50-ttft-alone-ns", Means: "`BenchmarkFairness`: p50-ttft-light-ns / p50-ttft-alone-ns."},
	{Name: "valid-%", Better: "higher", Core: true, Means: "`BenchmarkToolCalls`, `BenchmarkStructuredOutput`: answers that conform to the request's tools or schema / answers."},
	{Name: sample.SLORate, Better: "higher", Core: true, Means: "`BenchmarkSLO`: highest rate at which two passes met the SLO with 95 % confidence and completions kept up with arrivals."},
	{Name: sample.SLOUncertifiedRate, Better: "higher", Core: true, Means: "`BenchmarkSLO`: instead of slo-req/s, if passes had too few requests for 95 % confidence."},
	{Name: "slo-missed-req/s", Core: true, Means: "`BenchmarkSLO`: lowest rate at which two passes missed the SLO. The server's limit is between slo-req/s and this rate."},
	{Name: sample.SLOUsers, Better: "higher", Core: true, Means: "`BenchmarkSLO`: highest concurrency at which two passes met the SLO with 95 % confidence."},
	{Name: sample.SLOUncertifiedUsers, Better: "higher", Core: true, Means: "`BenchmarkSLO`: instead of slo-concurrency, if passes had too few requests for 95 % confidence."},
	{Name: "slo-missed-concurrency", Core: true, Means: "`BenchmarkSLO`: lowest concurrency at which two passes missed the SLO."},
	{Name: "passes/op", Core: true, Means: "`BenchmarkSLO`: passes that one search took."},
	{Name: sample.KneeUsers, Core: true, Means: "`BenchmarkSweep`: the knee, the concurrency with the greatest output-tok/s / p50-e2e-ns."},
	{Name: "knee-output-tok/s", Better: "higher", Core: true, Parts: sample.OutputRate, Means: "`BenchmarkSweep`: output-tok/s at knee-concurrency."},
	{Name: "start-to-ready-ns", Better: "lower", Core: true, Means: "`BenchmarkColdStart`: time from the start of the server's container until the server listed its model, or from the start of the first program until the last one was healthy."},
	{Name: "start-to-first-token-ns", Better: "lower", Core: true, Means: "`BenchmarkColdStart`: the same, until the first token of a completion."},
	{Name: sample.ServerPromptRate, Better: "higher", Core: true, Means: "`BenchmarkPrefill`, `BenchmarkDecode`: prompt tokens / processing time, as the server reports both."},
	{Name: sample.ServerOutputRate, Better: "higher", Core: true, Means: "`BenchmarkPrefill`, `BenchmarkDecode`: output tokens after the first / time for them, as the server reports both."},
}

// errorUnits returns the units of BenchmarkError, which measure the client's error by comparison with the
// mock server's log.
func errorUnits() (all []sample.Unit) {
	for _, e := range []struct{ name, means string }{
		{"ttft-err", "the difference between the instants of the first token by the client and by the mock server's log (`BenchmarkError`)"},
		{"itl-err", "the difference between gaps of tokens by the client and by the mock server's log (`BenchmarkError`)"},
		{"wire-err", "the time from the server's write of a token to the kernel's receive timestamp (`BenchmarkError`)"},
		{"user-err", "the time from the kernel's receive timestamp, or else from the server's write, to the client's read (`BenchmarkError`)"},
	} {
		for _, s := range []struct {
			statistic sample.Statistic
			phrase    string
		}{{sample.P50, "Median"}, {sample.P99, "99th percentile"}, {sample.Max, "Maximum"}} {
			all = append(all, sample.Unit{
				Name: fmt.Sprintf("%s-%s-ns", s.statistic, e.name), Better: "lower", Core: true,
				Statistic: s.statistic, Means: s.phrase + " of " + e.means + ".",
			})
		}
	}
	return all
}
