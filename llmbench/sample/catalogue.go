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
	{Name: "output-tok/s", Better: "higher", Core: true, Gate: "2%", Family: FamilyRate, Means: "Output tokens of successful requests / elapsed."},
	{Name: "steady-output-tok/s", Better: "higher", Family: FamilyRate, Means: "Output tokens / time, in the steady part of each pass: from the end of the warm-up by MSER-5 to the last send. Omitted, with the reason, if a pass has no steady part."},
	{Name: "total-tok/s", Better: "higher", Family: FamilyRate, Means: "Prompt and output tokens of successful requests / elapsed."},
	{Name: "prompt-tok/s", Better: "higher", Family: FamilyRate, Means: "Prompt tokens of successful requests / elapsed."},
	{Name: "output-chars/s", Better: "higher", Family: FamilyRate, Means: "Characters (Unicode code points) of the answers of successful requests / elapsed."},
	{Name: "prompt-chars/s", Better: "higher", Family: FamilyRate, Means: "Characters (Unicode code points) of the prompts of successful requests / elapsed."},
	{Name: "req/s", Better: "higher", Core: true, Family: FamilyRate, Means: "Successful requests / elapsed."},
	{Name: "inputs/s", Better: "higher", Core: true, Gate: "2%", Family: FamilyRate, Means: "Texts of successful requests that were embedded or ranked / elapsed."},
	{Name: "offered-req/s", Core: true, Means: "Rate at which an open loop's requests were due: (scheduled requests - 1) / time from the first due instant of a pass to the last. Unlike req/s, without the time in which the last requests end, and without later turns of sessions. Omitted if all requests are due at once."},
	{Name: GoodRate, Better: "higher", Core: true, Family: FamilyRate, Means: "Successful requests that keep every limit of the SLO / elapsed."},
	{Name: "user-tok/s", Better: "higher", Family: FamilyUserRate, Statistic: Mean, Means: "Mean over successful requests of output tokens / E2E latency."},
}

// VectorLength is the name of the unit for the length of the vectors of embeddings.
const VectorLength = "dimensions"

// otherUnits are the units about the load generator, token counts and outcomes.
var otherUnits = []Unit{
	{Name: "p99-lag-ns", Better: "lower", Core: true, Statistic: P99, Means: "99th percentile of how late the client sent a request of an open loop: send - due instant. For a request that MaxInFlight held back, send - end of the request that made room."},
	{Name: ClientError, Better: "lower", Core: true, Means: "Largest share by which the client is likely to have distorted a reported value."},
	{Name: "in-tok/req", Core: true, Statistic: Mean, Means: "Mean prompt tokens of successful requests."},
	{Name: "asked-in-tok/req", Core: true, Statistic: Mean, Means: "Mean intended prompt tokens of successful requests, where they differ from in-tok/req."},
	{Name: "out-tok/req", Core: true, Same: "2%", Statistic: Mean, Means: "Mean output tokens of successful requests."},
	{Name: "asked-out-tok/req", Core: true, Statistic: Mean, Means: "Mean output tokens that successful requests asked for, if each asked for an exact number and the mean differs from out-tok/req."},
	{Name: "reason-tok/req", Statistic: Mean, Means: "Mean reasoning tokens of successful requests, as answers report them. Most servers also count them in out-tok/req. Omitted if an answer reports more reasoning tokens than output tokens."},
	{Name: "hidden-tok/req", Core: true, Statistic: Mean, Means: "Mean reasoning tokens of successful requests that the server counted and did not stream. They are in out-tok/req and in no latency per token."},
	{Name: VectorLength, Core: true, Same: "0", Means: "Length of the vectors of embeddings. Omitted if answers differ in it."},
	{Name: "cached-%", Better: "higher", Core: true, Same: "5", Means: "Prompt tokens from a cache, as answers report them / prompt tokens of successful requests. Omitted if an answer reports more than its prompt has."},
	{Name: Accuracy, Better: "higher", Core: true, Gate: "2pp", Of: CheckedRequests, Apart: "question-set", Means: "Correct answers / checked answers. Only answers of successful requests are checked."},
	{Name: CheckedRequests, Core: true, Means: "Checked answers of all passes, the base of accuracy-%."},
	{Name: WarmCache, Core: true, Same: "0", Means: "1 if a control after the passes found that repeated prompts have a shorter TTFT than new ones. Otherwise omitted."},
	{Name: "fail-%", Better: "lower", Core: true, Means: "Failed requests, except shed ones / all requests. Only if Load.MaxFail tolerates failures; otherwise they fail the benchmark."},
	{Name: "shed-%", Better: "lower", Core: true, Same: "5", Means: "Requests that the server refused because of its load (status 429 or 529, or 503 with Retry-After), and later turns of their sessions / all requests. They fail the benchmark unless Load.MaxShed or Load.MaxFail tolerates them."},
	{Name: ArmsSeed, Core: true, Pairs: true, Means: "Seed of the random order in which the passes of several targets took turns (`llmbench.Arms`). Results with the same seed are a pair."},
	{Name: "left-%", Core: true, Means: "Requests whose client left early, as the load planned / all requests."},
}

// speculativeUnits are the units of speculative decoding, and of servers that send several tokens in a
// delta for another reason. The acceptance length is the mean number of tokens that a decode step yields
// for a request: one token, and the drafted tokens that are accepted (Leviathan et al.,
// https://arxiv.org/abs/2211.17192).
var speculativeUnits = []Unit{
	{Name: "tok/delta", Core: true, Statistic: Mean, Means: "Mean tokens of a delta after the first, as the server reports them, or otherwise (output tokens - 1) / (deltas - 1), over all requests. The acceptance length of speculative decoding, if each decode step makes one delta. Omitted below 1.05, because tokens without text have no delta."},
	{Name: "accept-len", Better: "higher", Core: true, Statistic: Mean, Means: "Mean tokens of a decode step with speculative decoding, as answers report them: (output tokens - 1) / decode steps, over all requests. Steps without a draft count."},
	{Name: "accept-%", Better: "higher", Means: "Accepted tokens / drafted tokens, as answers report them."},
}
