package sample

import (
	"fmt"
	"slices"
)

// ClientError is the name of the unit for how much the client may have distorted the other units.
const ClientError = "client-err-%"

// Accuracy is the name of the unit for the share of correct answers. CheckedRequests is the name of the
// unit for the number of answers that were checked.
const (
	Accuracy        = "accuracy-%"
	CheckedRequests = "checked-req"
)

// ArmsSeed is the name of the unit with the seed of the order in which the passes of several targets took turns.
const ArmsSeed = "arms-seed"

// WarmCache is the name of the unit that says that a control found a warm prefix cache.
const WarmCache = "warm-cache"

// GoodRate is the name of the unit for the rate of requests within the SLO.
const GoodRate = "good-req/s"

// Units are the units of any benchmark, in the order of reports: [Summarize] computes
// all of them but [ArmsSeed], [ClientError] and [WarmCache]. Scenarios and backends have further ones.
var Units = slices.Concat(rateUnits, latencyUnits(), turnUnits(), speculativeUnits, otherUnits)

// Named returns the units with the given names, in the order of names. It panics if [Units] has no unit
// with one of the names.
func Named(names ...string) []Unit {
	units := make([]Unit, len(names))
	for i, name := range names {
		at := slices.IndexFunc(Units, func(u Unit) bool { return u.Name == name })
		if at < 0 {
			panic(fmt.Sprintf("sample: no unit %q", name))
		}
		units[i] = Units[at]
	}
	return units
}

// rateUnits are the rates: amounts per second.
var rateUnits = []Unit{
	{Name: "output-tok/s", Better: "higher", Core: true, Gate: "2%", Family: FamilyRate, Means: "Output tokens / elapsed."},
	{Name: "steady-output-tok/s", Better: "higher", Family: FamilyRate, Means: "Output tokens / time in the steady part of each pass, from the end of the warm-up (by MSER-5) to the last send."},
	{Name: "total-tok/s", Better: "higher", Family: FamilyRate, Means: "Prompt and output tokens / elapsed."},
	{Name: "prompt-tok/s", Better: "higher", Family: FamilyRate, Means: "Prompt tokens / elapsed."},
	{Name: "output-chars/s", Better: "higher", Family: FamilyRate, Means: "Unicode code points of the answers / elapsed."},
	{Name: "prompt-chars/s", Better: "higher", Family: FamilyRate, Means: "Unicode code points of the prompts / elapsed."},
	{Name: "req/s", Better: "higher", Core: true, Family: FamilyRate, Means: "Successful requests / elapsed."},
	{Name: "inputs/s", Better: "higher", Core: true, Gate: "2%", Family: FamilyRate, Means: "Texts that were embedded or ranked / elapsed."},
	{Name: "offered-req/s", Core: true, Means: "Rate at which an open loop's requests were due: (requests - 1) / time from the first due instant of a pass to the last, without later turns of sessions."},
	{Name: GoodRate, Better: "higher", Core: true, Family: FamilyRate, Means: "Requests that keep every limit of the SLO / elapsed."},
	{Name: "user-tok/s", Better: "higher", Family: FamilyUserRate, Statistic: Mean, Means: "Mean over requests of output tokens / E2E latency."},
}

// VectorLength is the name of the unit for the length of the vectors of embeddings.
const VectorLength = "dimensions"

// otherUnits are the units about the load generator, token counts and outcomes.
var otherUnits = []Unit{
	{Name: "p99-lag-ns", Better: "lower", Core: true, Statistic: P99, Means: "99th percentile of how late the client sent a request of an open loop: send - due instant. If MaxInFlight held the request back: send - end of the request that made room."},
	{Name: ClientError, Better: "lower", Core: true, Means: "Largest share by which the client is likely to have distorted a reported value."},
	{Name: "in-tok/req", Core: true, Statistic: Mean, Means: "Mean prompt tokens of a request."},
	{Name: "asked-in-tok/req", Core: true, Statistic: Mean, Means: "Mean intended prompt tokens, if they differ from in-tok/req."},
	{Name: "out-tok/req", Core: true, Same: "2%", Statistic: Mean, Means: "Mean output tokens of a request."},
	{Name: "asked-out-tok/req", Core: true, Statistic: Mean, Means: "Mean output tokens that requests asked for exactly, if it differs from out-tok/req."},
	{Name: "reason-tok/req", Statistic: Mean, Means: "Mean reasoning tokens, as answers report them. Most servers also count them in out-tok/req."},
	{Name: "hidden-tok/req", Core: true, Statistic: Mean, Means: "Mean reasoning tokens that the server counted and did not stream. They are in out-tok/req and in no latency per token."},
	{Name: VectorLength, Core: true, Same: "0", Means: "Length of the vectors of embeddings. Omitted if answers differ in it."},
	{Name: "cached-%", Better: "higher", Core: true, Same: "5", Means: "Prompt tokens from a cache, as answers report them / prompt tokens."},
	{Name: Accuracy, Better: "higher", Core: true, Gate: "2pp", Of: CheckedRequests, Apart: "question-set", Means: "Correct answers / checked answers."},
	{Name: CheckedRequests, Core: true, Means: "Checked answers of all passes, the base of accuracy-%."},
	{Name: WarmCache, Core: true, Same: "0", Means: "1 if a control after the passes found that repeated prompts have a shorter TTFT than new ones."},
	{Name: "fail-%", Better: "lower", Core: true, Same: "5", Means: "Failed requests, except shed ones / all requests, if Load.MaxFail tolerates failures."},
	{Name: "shed-%", Better: "lower", Core: true, Same: "5", Means: "Requests that the server shed, and later turns of their sessions / all requests, if Load.MaxShed or Load.MaxFail tolerates them."},
	{Name: ArmsSeed, Core: true, Pairs: true, Means: "`llmbench.Arms`: seed of the random order of the passes. Results with the same seed are a pair."},
	{Name: "left-%", Core: true, Means: "Requests whose client left early, as the load planned / all requests."},
}

// speculativeUnits are the units of speculative decoding, and of servers that send several tokens in a
// delta for another reason. The acceptance length is the mean number of tokens that a decode step yields
// for a request: one token, and the drafted tokens that are accepted (Leviathan et al.,
// https://arxiv.org/abs/2211.17192).
var speculativeUnits = []Unit{
	{Name: "tok/delta", Core: true, Statistic: Mean, Means: "Mean tokens of a delta after the first, as the server reports them, or else (output tokens - 1) / (deltas - 1). The acceptance length of speculative decoding, if each decode step makes one delta. Omitted below 1.05."},
	{Name: "accept-len", Better: "higher", Core: true, Statistic: Mean, Means: "Mean tokens of a decode step with speculative decoding, as answers report them: (output tokens - 1) / decode steps. Steps without a draft count."},
	{Name: "accept-%", Better: "higher", Means: "Accepted tokens / drafted tokens, as answers report them."},
}
