package sample

import (
	"fmt"
	"slices"
)

// ClientError is the name of the unit that says how much the client may have
// distorted the other units.
const ClientError = "client-err-%"

// Accuracy is the name of the unit that states the share of right answers, and CheckedRequests that of
// the unit that states of how many answers.
const (
	Accuracy        = "accuracy-%"
	CheckedRequests = "checked-req"
)

// WarmCache is the name of the unit that says that a control found a warm prefix cache.
const WarmCache = "warm-cache"

// GoodRate is the name of the unit that counts the requests within the SLO.
const GoodRate = "good-req/s"

// Units are the units of any benchmark, in the order of reports: [Summarize] computes
// all of them but [ClientError] and [WarmCache]. Scenarios and backends have further ones.
var Units = slices.Concat(rateUnits, latencyUnits(), turnUnits(), speculativeUnits, otherUnits)

// Named returns the units of [Units] of those names, in their order. It panics if there
// is no unit of a name.
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

// rateUnits are the units per second.
var rateUnits = []Unit{
	{Name: "output-tok/s", Better: "higher", Core: true, Gate: "2%", Family: FamilyRate, Means: "Output tokens of successful requests / elapsed."},
	{Name: "steady-output-tok/s", Better: "higher", Family: FamilyRate, Means: "Output tokens that came in the steady part of each pass / the time of these parts. The steady part ends with the last send, and begins where MSER-5 puts the end of the warm-up. Left out, with the reason, when a pass has no steady part."},
	{Name: "total-tok/s", Better: "higher", Family: FamilyRate, Means: "Prompt and output tokens of successful requests / elapsed."},
	{Name: "prompt-tok/s", Better: "higher", Family: FamilyRate, Means: "Prompt tokens of successful requests / elapsed."},
	{Name: "output-chars/s", Better: "higher", Family: FamilyRate, Means: "Generated characters (Unicode code points) of successful requests / elapsed."},
	{Name: "prompt-chars/s", Better: "higher", Family: FamilyRate, Means: "Characters (Unicode code points) of the prompts of successful requests, as sent / elapsed."},
	{Name: "req/s", Better: "higher", Core: true, Family: FamilyRate, Means: "Successful requests / elapsed."},
	{Name: "offered-req/s", Core: true, Means: "The rate of an open loop's schedule: (scheduled requests - 1) / time from the first due instant of a pass to the last, both summed over passes. Unlike req/s it does not count the time in which the last requests end. Later turns of a session have no schedule. Left out if no time is between the instants."},
	{Name: GoodRate, Better: "higher", Core: true, Family: FamilyRate, Means: "Successful requests that keep every limit of the SLO / elapsed. Left out without an SLO."},
	{Name: "user-tok/s", Better: "higher", Family: FamilyUserRate, Statistic: Mean, Means: "Mean over successful requests of output tokens / E2E latency."},
}

// otherUnits are the units of the generator, of token counts and of outcomes.
var otherUnits = []Unit{
	{Name: "p99-lag-ns", Better: "lower", Core: true, Statistic: P99, Means: "99th percentile of how late the load generator sent a request of an open loop: send - due instant. For a request that waited for one of MaxInFlight to end: send - the instant of that end."},
	{Name: ClientError, Better: "lower", Core: true, Means: "The largest share by which the client may have distorted a reported figure, as a point estimate. Left out if it is unknown."},
	{Name: "in-tok/req", Core: true, Statistic: Mean, Means: "Mean prompt tokens of successful requests."},
	{Name: "asked-in-tok/req", Core: true, Statistic: Mean, Means: "Mean prompt tokens that successful requests were meant to have. Left out when it equals in-tok/req."},
	{Name: "out-tok/req", Core: true, Same: "2%", Statistic: Mean, Means: "Mean output tokens of successful requests."},
	{Name: "asked-out-tok/req", Core: true, Statistic: Mean, Means: "Mean output tokens that successful requests asked for, if each asked for exactly that number. Left out when it equals out-tok/req."},
	{Name: "reason-tok/req", Statistic: Mean, Means: "Mean reasoning tokens of successful requests, as the server states them. Most servers count them in out-tok/req, too. Left out when no answer states any, or when one states more than output tokens."},
	{Name: "hidden-tok/req", Core: true, Statistic: Mean, Means: "Mean reasoning tokens of successful requests that the server counted and did not stream. They are in out-tok/req, and no latency per token counts them. Left out when no answer hides any."},
	{Name: "cached-%", Better: "higher", Core: true, Same: "5", Means: "Prompt tokens that answers state as taken from a cache / prompt tokens of successful requests. Left out when no answer states any, or when one states more than its prompt has."},
	{Name: Accuracy, Better: "higher", Core: true, Gate: "2pp", Of: CheckedRequests, Apart: "question-set", Means: "Right answers / checked answers. An answer is checked if its request had a check and ended well: a failed request is no wrong answer, and counts for fail-%. Left out when no answer was checked."},
	{Name: CheckedRequests, Core: true, Means: "Checked answers of all passes, from which accuracy-% is computed. Left out when no answer was checked."},
	{Name: WarmCache, Core: true, Same: "0", Means: "1 if prompts repeat, the server does not state what it took from its prefix cache, and a control after the passes tells that prompts which were sent before have a shorter TTFT than new ones. Otherwise left out."},
	{Name: "fail-%", Better: "lower", Core: true, Means: "Failed requests / all requests. Reported when failures are tolerated."},
	{Name: "left-%", Core: true, Means: "Requests whose client left before the end, as the load planned / all requests. Left out when none left."},
}

// The units of speculative decoding, and of servers that send several tokens in a delta for another
// reason. The acceptance length is the mean number of tokens that a decode step yields for a
// request: one, and the drafted tokens that are accepted
// (Leviathan et al., https://arxiv.org/abs/2211.17192).
var speculativeUnits = []Unit{
	{Name: "tok/delta", Core: true, Statistic: Mean, Means: "Mean tokens of a delta after the first: the acceptance length of speculative decoding if each decode step has one delta. They are what the server states with each delta, or else (output tokens - 1) / (deltas - 1), over all requests. An answer that max_tokens cuts within a step makes it smaller. Left out below 1.05, because a token without text of its own, as at the end of an answer, has no delta."},
	{Name: "accept-len", Better: "higher", Core: true, Statistic: Mean, Means: "Mean tokens of a decode step of a request with speculative decoding, as answers state them: (output tokens - 1) / decode steps, over all requests. Steps without a draft count. Left out when no answer states drafts or steps."},
	{Name: "accept-%", Better: "higher", Means: "Drafted tokens that were accepted / drafted tokens, as answers state them. Left out when no answer states them."},
}
