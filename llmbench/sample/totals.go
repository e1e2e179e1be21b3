package sample

import (
	"fmt"
	"slices"
	"time"
)

// totals holds sums over the successful requests of samples, and their latencies.
type totals struct {
	slo SLO

	n, good                  float64 // all requests, and requests within the SLO
	checked, correct         float64 // requests whose answer was checked, and requests whose answer was correct
	prompt, asked, cached    float64 // prompt tokens
	output, askedOutput      float64 // output tokens
	promptChars, outputChars float64
	inputs                   float64 // inputs that were embedded or ranked
	dimensions               int     // length of the vectors; 0 if there are none
	mixed                    bool    // answers differ in the length of their vectors
	users                    float64 // requests with a latency
	perUser                  sum     // sum of these requests' tokens per second
	promptKnown, outputKnown bool    // for every request
	cachedKnown              bool    // for every request
	askedKnown               bool    // for every request
	askedOutputKnown         bool    // every request asked for a fixed length
	speculation              speculation
	reasoning, hidden        float64                // all reasoning tokens, and reasoning tokens that were not streamed
	contradicted             bool                   // the tokens of at least one answer are Contradicted
	reasoned                 bool                   // at least one answer has reasoning
	overCached               contradiction          // the server reported more cached tokens than the prompt has
	overReasoned             contradiction          // the server reported more reasoning tokens than the answer has
	turned                   bool                   // at least one request is a later turn of a session
	durations                []Distribution         // one for each element of latencies
	turns                    [maxTurns]Distribution // TTFT of each turn
	late                     Distribution           // how late the requests of an open loop were sent
	schedules                map[int]*span          // the due instants of an open loop, by pass
	outside                  outside
	carried                  bool // a request of a warm-up counts in rates
	failed                   int  // requests that are neither successful nor left, as [Summary.Failed] counts them
}

func newTotals(slo SLO) *totals {
	return &totals{slo: slo, promptKnown: true, outputKnown: true, cachedKnown: true, askedKnown: true, askedOutputKnown: true, durations: make([]Distribution, len(latencies)), schedules: map[int]*span{}}
}

// add adds a request.
func (t *totals) add(r *Sample) {
	t.eachDuration(r, (*Distribution).Add)
	if r.Scheduled {
		t.addDue(r)
	}
	if r.Outcome != OK {
		if r.Outcome != Left {
			t.failed++
		}
		return
	}
	t.n++
	good := t.slo.Met(r)
	if good {
		t.good++
	}
	t.outside.add(r, good)
	if r.Checked {
		t.checked++
	}
	if r.Checked && r.Correct {
		t.correct++
	}
	t.addTokens(r)
	t.speculation.add(r)
	t.reasoned = t.reasoned || r.Outputs < r.Deltas
	t.turned = t.turned || r.Turn > 0
	if d, has := r.E2E(); has && d > 0 {
		t.perUser.add(float64(r.OutputTokens) / d.Seconds())
		t.users++
	}
}

// carry adds a request of a warm-up that is part of the pass.
func (t *totals) carry(r *Sample) {
	if r.Outcome != OK || r.Within() == 0 {
		return
	}
	t.carried = true
	t.outside.add(r, t.slo.Met(r))
	t.promptKnown = t.promptKnown && r.PromptTokens > 0
	t.outputKnown = t.outputKnown && r.OutputTokens > 0
}

// eachDuration calls add with each duration of a request and the distribution to which the duration
// belongs.
func (t *totals) eachDuration(r *Sample, add func(*Distribution, time.Duration)) {
	if r.Scheduled {
		add(&t.late, r.Late())
	}
	if r.Outcome != OK {
		return
	}
	for i, l := range latencies {
		if l.several != nil {
			for _, d := range l.several(r) {
				add(&t.durations[i], d)
			}
		} else if d, has := l.one(r); has {
			add(&t.durations[i], d)
		}
	}
	if d, has := r.TTFT(); has && r.Turn < maxTurns {
		add(&t.turns[r.Turn], d)
	}
}

// wants reports whether again must be called with all requests before the latencies are known.
func (t *totals) wants() (more bool) {
	for i, l := range latencies {
		d := &t.durations[i]
		ranks := ranksOf(d, l.statistics()...)
		if slices.Contains(adjusted, l.name) {
			ranks = append(ranks, adjustedRanks(d, t.failed)...)
		}
		more = d.WantsRanks(ranks...) || more
	}
	for i := range t.turns {
		more = wants(&t.turns[i], P50) || more
	}
	return wants(&t.late, P99) || more
}

// again adds the durations of a request in a further round over all requests.
func (t *totals) again(r *Sample) { t.eachDuration(r, (*Distribution).Again) }

// addDue adds a request to the schedule of its pass. It ignores a request that was not sent because the
// pass had ended, because the Due of this request may be the end of the pass.
func (t *totals) addDue(r *Sample) {
	if r.Outcome == Canceled && r.Start == r.End {
		return
	}
	p := t.schedules[r.Pass]
	if p == nil {
		p = new(span)
		t.schedules[r.Pass] = p
	}
	p.add(r.Due)
}

// addTokens adds the tokens and characters of a successful request.
func (t *totals) addTokens(r *Sample) {
	t.contradicted = t.contradicted || r.TokenSource == Contradicted
	t.promptKnown = t.promptKnown && r.PromptTokens > 0
	t.outputKnown = t.outputKnown && r.OutputTokens > 0
	t.cachedKnown = t.cachedKnown && r.CachedStated
	t.askedKnown = t.askedKnown && r.AskedTokens > 0
	t.askedOutputKnown = t.askedOutputKnown && r.FixedOutput
	t.prompt += float64(r.PromptTokens)
	t.asked += float64(r.AskedTokens)
	t.cached += float64(r.CachedTokens)
	t.output += float64(r.OutputTokens)
	t.askedOutput += float64(r.MaxTokens)
	t.reasoning += float64(r.ReasoningTokens)
	if r.Streamed && r.HidesReasoning() {
		t.hidden += float64(r.ReasoningTokens)
	}
	t.overCached.check(r.CachedTokens, r.PromptTokens)
	t.overReasoned.check(r.ReasoningTokens, r.OutputTokens)
	t.mixed = t.mixed || t.n > 1 && t.dimensions != r.Dimensions
	t.dimensions = r.Dimensions
	t.inputs += float64(r.Inputs)
	t.promptChars += float64(r.PromptChars)
	t.outputChars += float64(r.OutputChars)
}

// setRates sets the units per second.
func (t *totals) setRates(s *Summary) {
	seconds := s.Elapsed.Seconds()
	timed := (t.n > 0 || t.carried) && seconds > 0
	rate := func(unit string, all float64, outside *sum, known bool) {
		s.set(unit, (all-outside.value())/seconds, timed && known)
	}
	a := &t.outside
	rate(OutputRate, t.output, &a.output, t.outputKnown)
	rate(PromptRate, t.prompt, &a.prompt, t.promptKnown)
	s.set(TotalRate, (t.prompt-a.prompt.value()+t.output-a.output.value())/seconds, timed && t.promptKnown && t.outputKnown)
	rate(PromptCharRate, t.promptChars, &a.promptChars, t.promptChars > 0)
	rate(OutputCharRate, t.outputChars, &a.outputChars, t.outputChars > 0)
	rate(RequestRate, t.n, &a.n, true)
	rate(InputRate, t.inputs, &a.inputs, t.inputs > 0)
	rate(GoodRate, t.good, &a.good, t.slo != SLO{})
	offered, due := offered(t.schedules)
	s.set(OfferedRate, offered/due.Seconds(), due > 0)
	s.set(UserRate, t.perUser.value()/t.users, t.users > 0 && t.outputKnown)
}

// setMeans sets the tokens per request, and the share of cached tokens.
func (t *totals) setMeans(s *Summary) {
	s.set(PromptLength, t.prompt/t.n, t.n > 0 && t.promptKnown)
	s.set(AskedPromptLength, t.asked/t.n, t.n > 0 && t.askedKnown && t.asked != t.prompt)
	s.set(OutputLength, t.output/t.n, t.n > 0 && t.outputKnown)
	s.set(AskedOutputLength, t.askedOutput/t.n, t.n > 0 && t.askedOutputKnown && t.askedOutput != t.output)
	s.set(ReasoningLength, t.reasoning/t.n, t.reasoning > 0 && t.overReasoned.requests == 0)
	s.set(HiddenLength, t.hidden/t.n, t.hidden > 0)
	s.set(VectorLength, float64(t.dimensions), t.dimensions > 0 && !t.mixed)
	if t.mixed {
		s.Contradictions = append(s.Contradictions, VectorLength+" is omitted: answers differ in the length of their vectors")
	}
	t.setSpeculation(s)
	s.set(CachedShare, 100*t.cached/t.prompt, (t.cached > 0 || t.n > 0 && t.cachedKnown) && t.promptKnown && t.overCached.requests == 0)
	t.overCached.tell(s, "cached than prompt", CachedShare)
	t.overReasoned.tell(s, "reasoning than output", ReasoningLength)
	s.set(Accuracy, 100*t.correct/t.checked, t.checked > 0)
	s.set(CheckedRequests, t.checked, t.checked > 0)
}

// A contradiction counts requests for which the server reports a part that is larger than the whole. The
// fields part and whole are from the first such request.
type contradiction struct{ requests, part, whole int }

// check counts a request if its part is larger than its whole. A whole of 0 is unknown.
func (c *contradiction) check(part, whole int) {
	if whole > 0 && part > whole {
		if c.requests++; c.requests == 1 {
			c.part, c.whole = part, whole
		}
	}
}

// tell adds a sentence to s.Contradictions if there is a contradiction. The sentence names the unit that is
// therefore omitted.
func (c *contradiction) tell(s *Summary, of, unit string) {
	if c.requests > 0 {
		s.Contradictions = append(s.Contradictions, fmt.Sprintf("%s is omitted: %d answers report more %s tokens, the first %d of %d", unit, c.requests, of, c.part, c.whole))
	}
}

// setLatencies sets the statistics of latencies, and of how late requests were sent.
func (t *totals) setLatencies(s *Summary) {
	for i, l := range latencies {
		if l.name == ttfo && !t.reasoned || l.family == FamilyTPOT && t.contradicted { // the TTFO equals the TTFT
			continue
		}
		for _, st := range l.statistics() {
			v, known := statistic(&t.durations[i], st)
			s.set(unitName(st, l.name), v, known)
		}
		s.setAdjusted(l.name, &t.durations[i])
	}
	for turn := range t.turns {
		v, known := statistic(&t.turns[turn], P50)
		s.set(turnUnit(turn), v, known && t.turned)
	}
	v, known := statistic(&t.late, P99)
	s.set(P99Lag, v, known)
}

// fewTokens is the smallest mean number of tokens in a delta that is reported. Below it, deltas are assumed
// to have one token each.
const fewTokens = 1.05

// setSpeculation sets the units of speculative decoding, and DeltaTokens.
func (t *totals) setSpeculation(s *Summary) {
	p := &t.speculation
	mean := p.tokens / p.deltas
	s.set(DeltaLength, mean, p.deltas > 0 && mean >= fewTokens)
	s.set(AcceptLength, p.accepted/p.steps, p.steps > 0)
	s.set(AcceptShare, 100*p.ofDrafts/p.drafted, p.drafted > 0)
	s.DeltaTokens = p.counts
}
