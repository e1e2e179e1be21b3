package sample

import (
	"fmt"
	"slices"
	"strings"
)

// Units are the units of any benchmark, in the order of reports: [Summarize] computes
// all of them but [ArmsSeed], [ClientError], [WarmCache] and the withheldUnits. Scenarios and backends have further ones.
var Units = slices.Concat(rateUnits, latencyUnits(), adjustedUnits(), turnUnits(), speculativeUnits, otherUnits, withheldUnits)

// Named returns the units with the given names, in the order of names. It panics if [Units] has no unit
// with one of the names.
func Named(names ...string) []Unit {
	units := make([]Unit, len(names))
	for i, name := range names {
		var found bool
		if units[i], found = Find(Units, name); !found {
			panic(fmt.Sprintf("sample: no unit %q", name))
		}
	}
	return units
}

// Find returns the unit with the given name, among the given units.
func Find(units []Unit, name string) (u Unit, found bool) {
	at := slices.IndexFunc(units, func(u Unit) bool { return u.Name == name })
	if at < 0 {
		return Unit{}, false
	}
	return units[at], true
}

// Better returns which values of a unit are better: "higher" or "lower", or "" if neither is. If [Units] does not have the
// unit, its name tells.
func Better(name string) string {
	if u, found := Find(Units, name); found {
		return u.Better
	}
	switch {
	case strings.HasSuffix(name, "-ns"):
		return "lower"
	case strings.HasSuffix(name, TokenRate), strings.HasSuffix(name, RequestRate), name == AudioRate:
		return "higher"
	}
	return ""
}

// Alike returns the rates and latencies, among the given units, that measure the same as one of the units with the given
// names: they are of the same family.
func Alike(units []Unit, names []string) (alike []Unit) {
	families := map[Family]bool{}
	for _, name := range names {
		if u, found := Find(units, name); found && u.Timed() {
			families[u.Family] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(units), func(u Unit) bool { return !families[u.Family] })
}

// rateUnits are the rates: amounts per second.
var rateUnits = []Unit{
	{Name: OutputRate, Better: "higher", Core: true, Gate: "2%", Family: FamilyRate, Means: "Output tokens / elapsed."},
	{Name: SteadyRate, Better: "higher", Family: FamilyRate, Means: "Output tokens / time in the steady part of each pass, from the end of the warm-up (by MSER-5) to the last send."},
	{Name: TotalRate, Better: "higher", Family: FamilyRate, Means: "Prompt and output tokens / elapsed."},
	{Name: PromptRate, Better: "higher", Family: FamilyRate, Means: "Prompt tokens / elapsed."},
	{Name: OutputCharRate, Better: "higher", Family: FamilyRate, Means: "Unicode code points of the answers / elapsed."},
	{Name: PromptCharRate, Better: "higher", Family: FamilyRate, Means: "Unicode code points of the prompts / elapsed."},
	{Name: RequestRate, Better: "higher", Core: true, Family: FamilyRate, Means: "Successful requests / elapsed."},
	{Name: InputRate, Better: "higher", Core: true, Gate: "2%", Family: FamilyRate, Means: "Texts that were embedded or ranked / elapsed."},
	{Name: OfferedRate, Core: true, Means: "Rate at which an open loop's requests were due: (requests - 1) / time from the first due instant of a pass to the last, without later turns of sessions."},
	{Name: GoodRate, Better: "higher", Core: true, Family: FamilyRate, Means: "Requests that keep every limit of the SLO / elapsed."},
	{Name: UserRate, Better: "higher", Family: FamilyUserRate, Statistic: Mean, Means: "Mean over requests of output tokens / E2E latency."},
}

// otherUnits are the units about the load generator, token counts and outcomes.
var otherUnits = []Unit{
	{Name: TokenPrice, Better: "lower", Core: true, Parts: OutputRate, Means: "Price of a million output tokens, if LLMBENCH_PRICE is set: price of an hour / (output-tok/s x 3600) x 10^6, in the currency of that price. None of the price counts for prompts."},
	{Name: SessionPrice, Better: "lower", Core: true, Parts: OutputRate, Means: "`BenchmarkAgent`: price/Mtok x out-tok/session / 10^6: the price of a session whose turns all succeeded, with a part of the price for all else that the server did."},
	{Name: P99Lag, Better: "lower", Core: true, Statistic: P99, Means: "99th percentile of how late the client sent a request of an open loop: send - due instant. If MaxInFlight held the request back: send - end of the request that made room."},
	{Name: ClientError, Better: "lower", Core: true, Means: "Largest share by which the client is likely to have distorted a reported value."},
	{Name: PromptLength, Core: true, Statistic: Mean, Means: "Mean prompt tokens of a request."},
	{Name: AskedPromptLength, Core: true, Statistic: Mean, Means: "Mean intended prompt tokens, if they differ from in-tok/req."},
	{Name: OutputLength, Core: true, Same: "2%", Statistic: Mean, Means: "Mean output tokens of a request."},
	{Name: AskedOutputLength, Core: true, Statistic: Mean, Means: "Mean output tokens that requests asked for exactly, if it differs from out-tok/req."},
	{Name: ReasoningLength, Statistic: Mean, Means: "Mean reasoning tokens, as answers report them. Most servers also count them in out-tok/req."},
	{Name: HiddenLength, Core: true, Statistic: Mean, Means: "Mean reasoning tokens that the server counted and did not stream. They are in out-tok/req and in no latency per token."},
	{Name: VectorLength, Core: true, Same: "0", Means: "Length of the vectors of embeddings. Omitted if answers differ in it."},
	{Name: CachedShare, Better: "higher", Core: true, Same: "5", Means: "Prompt tokens from a cache, as answers report them / prompt tokens. 0 if each answer reports 0."},
	{Name: Accuracy, Better: "higher", Core: true, Gate: "2pp", Of: CheckedRequests, Apart: "question-set", Means: "Correct answers / checked answers."},
	{Name: CheckedRequests, Core: true, Means: "Checked answers of all passes, the base of accuracy-%."},
	{Name: WarmCache, Core: true, Same: "0", Means: "1 if a control after the passes found that repeated prompts have a shorter TTFT than new ones."},
	{Name: FailShare, Better: "lower", Core: true, Same: "5", Means: "Failed requests, except shed ones / all requests, if Load.MaxFail tolerates failures."},
	{Name: ShedShare, Better: "lower", Core: true, Same: "5", Means: "Requests that the server shed, and later turns of their sessions / all requests, if Load.MaxShed or Load.MaxFail tolerates them."},
	{Name: ResentShare, Better: "lower", Core: true, Means: "Requests that the client sent again, because the server had closed their kept connection / all requests, if there are any. Each of them counts by its last answer."},
	{Name: ArmsSeed, Core: true, Pairs: true, Means: "`llmbench.Arms`: seed of the random order of the passes. Results with the same seed are a pair."},
	{Name: LeftShare, Core: true, Means: "Requests whose client left early, as the load planned / all requests."},
}

// withheldUnits say why figures were withheld. A result has one of them only if figures were withheld for that reason. If
// these figures are computed from withheld figures of another result, the unit has its value in the other result.
var withheldUnits = []Unit{
	{Name: BurstShare, Better: "lower", Core: true, Withheld: "server", Says: "buffers-streams:come-in-bursts", Means: "Streams that came in bursts / streams that could be judged, if figures are withheld for that reason."},
	{Name: TogetherShare, Better: "lower", Core: true, Withheld: "server", Says: "sends-deltas-together:have-no-time-between-deltas", Means: "Deltas that came together with the delta before / deltas after the first, if figures are omitted for that reason."},
	{Name: UsageError, Better: "lower", Core: true, Withheld: "server", Says: "reports-an-impossible-usage:have-an-impossible-usage", Means: "Answers whose reported usage cannot be the number of output tokens / successful requests, if figures are omitted for that reason."},
	{Name: UnreadShare, Better: "lower", Core: true, Withheld: "client", Says: "sends-members-that-this-client-does-not-know:may-have-text-that-was-not-read", Means: "Streams with a member that is not read and may have text / streams, if figures are withheld for that reason."},
	{Name: IdleShare, Better: "lower", Core: true, Withheld: "client", Says: "got-too-few-sessions:had-too-few-sessions", Means: "Time for which users had no session / time of all users, if figures are withheld for that reason: [the load was not the one that was asked for](#runs-of-agents)."},
	{Name: ClientBound, Better: "lower", Core: true, Withheld: "client", Says: "cannot-be-measured-by-this-client:are-disturbed-by-the-client", Means: "Largest share by which the client may have distorted a value that is withheld for that reason, in the result or in another one from which a value is computed."},
}

// speculativeUnits are the units of speculative decoding, and of servers that send several tokens in a
// delta for another reason. The acceptance length is the mean number of tokens that a decode step yields
// for a request: one token, and the drafted tokens that are accepted (Leviathan et al.,
// https://arxiv.org/abs/2211.17192).
var speculativeUnits = []Unit{
	{Name: DeltaLength, Core: true, Statistic: Mean, Means: "Mean tokens of a delta after the first, as the server reports them, or else (output tokens - 1) / (deltas - 1). The acceptance length of speculative decoding, if each decode step makes one delta. Omitted below 1.05."},
	{Name: AcceptLength, Better: "higher", Core: true, Statistic: Mean, Means: "Mean tokens of a decode step with speculative decoding, as answers report them: (output tokens - 1) / decode steps. Steps without a draft count."},
	{Name: AcceptShare, Better: "higher", Means: "Accepted tokens / drafted tokens, as answers report them."},
}
