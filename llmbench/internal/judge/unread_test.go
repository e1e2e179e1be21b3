package judge

import (
	"errors"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// streamed returns a successful stream with the given token source, and the name of an unknown member or "".
func streamed(source sample.TokenSource, unread string) sample.Sample {
	return sample.Sample{
		Outcome: sample.OK, Streamed: true, OutputTokens: 3, TokenSource: source, Unread: unread,
		First: 10, Last: 30, End: 40, Deltas: 3, Outputs: 3, Gaps: []time.Duration{10, 10}, Clock: sample.KernelClock,
	}
}

// TestJudgeUnread checks which metrics are withheld if answers have an unknown member that may have text, and what
// the note says.
func TestJudgeUnread(t *testing.T) {
	hidden := streamed(sample.FromUsage, "delta.foo")
	hidden.ReasoningTokens, hidden.OutputTokens = 30, 33
	many := make([]sample.Sample, 9)
	for i := range many {
		many[i] = streamed(sample.FromUsage, "delta."+string(rune('a'+i)))
	}
	last := streamed(sample.FromUsage, "delta.foo")
	last.UnreadLast = true
	failed, whole := streamed(sample.FromUsage, "delta.foo"), streamed(sample.FromUsage, "message.foo")
	failed.Outcome, failed.Err, whole.Streamed = sample.Truncated, errors.New("cut"), false
	const end = ": switch the member off at the server or with LLMBENCH_BODY, or report its name"
	for _, c := range []struct {
		name    string
		samples []sample.Sample
		slo     sample.SLO
		units   []string
		text    string
	}{
		{"nothing unknown", []sample.Sample{streamed(sample.FromUsage, "")}, sample.SLO{}, nil, ""},
		{"a failed request, and one that was not streamed", []sample.Sample{failed, whole}, sample.SLO{}, nil, ""},
		{"one of two", []sample.Sample{streamed(sample.FromUsage, ""), streamed(sample.FromUsage, "delta.foo")}, sample.SLO{}, []string{"mean-tpot-ns", "mean-ttft-ns"},
			"mean-tpot-ns, mean-ttft-ns are omitted: of 2 streams, some have a member that this release does not know, with possible text before or between the text that was read (streams by member: delta.foo 1)" + end},
		{"tokens that the client counted", []sample.Sample{streamed(sample.FromDeltas, "delta.foo")}, sample.SLO{}, []string{"mean-tpot-ns", "mean-ttft-ns", "out-tok/req", "output-tok/s", "user-tok/s"}, ""},
		{"reasoning that was not seen", []sample.Sample{hidden}, sample.SLO{TTFT: time.Second}, []string{"good-req/s", "hidden-tok/req", "mean-ttft-ns"}, ""},
		{"text may have come last", []sample.Sample{last}, sample.SLO{}, []string{"mean-e2e-ns", "mean-tpot-ns", "mean-ttft-ns", "user-tok/s"}, ""},
		{"many members", many, sample.SLO{}, []string{"mean-tpot-ns", "mean-ttft-ns"},
			"mean-tpot-ns, mean-ttft-ns are omitted: of 9 streams, some have a member that this release does not know, with possible text before or between the text that was read (streams by member: delta.a 1, delta.b 1, delta.c 1, delta.d 1, delta.e 1, others 4)" + end},
	} {
		facts := FindFacts(sample.All(c.samples...), time.Second, 0, c.slo, Tolerated{})
		f := Figures{
			Metrics: facts.Summary.Metrics, Reported: true,
			Units: sample.Named("mean-ttft-ns", "mean-tpot-ns", "mean-e2e-ns", "req/s", "good-req/s", "output-tok/s", "user-tok/s", "out-tok/req", "hidden-tok/req", "p50-itl-ns"),
			Shown: func(u sample.Unit) bool { return u.Name != "p50-itl-ns" },
		}
		text := f.JudgeUnread(facts.Unread, c.slo)
		assert.Equal(t, text != "", c.units != nil, c.name)
		assert.Equal(t, f.Metrics[sample.UnreadShare], map[string]float64{"one of two": 50, "tokens that the client counted": 100, "reasoning that was not seen": 100,
			"text may have come last": 100, "many members": 100}[c.name], c.name)
		if c.text != "" {
			assert.Equal(t, text, c.text)
		}
		assert.DeepEqual(t, f.Unread, c.units)
		if c.units != nil {
			assert.Equal(t, len(f.Withheld), 1)
			assert.DeepEqual(t, f.Withheld[0].Units, c.units)
			assert.Assert(t, f.Withheld[0].Why == ByUnread && slices.Contains(f.Withheld[0].Also, "p50-itl-ns"), "%+v", f.Withheld[0])
		}
		for _, unit := range c.units {
			_, has := f.Metrics[unit]
			assert.Assert(t, !has, unit)
		}
		_, itl := f.Metrics["p50-itl-ns"] // only the table shows it
		assert.Assert(t, !itl || c.units == nil, c.name)
		_, rate := f.Metrics["req/s"]
		_, e2e := f.Metrics["mean-e2e-ns"]
		assert.Assert(t, rate && e2e == (c.name != "text may have come last") || c.name == "a failed request, and one that was not streamed", c.name)
	}
}

// TestUnknownEnds checks the note about finish reasons that are not documented.
func TestUnknownEnds(t *testing.T) {
	const has, cut = "; they have all tokens that were asked for", ": these answers may be cut, because the requests did not ask for an exact number of tokens; see the server's log"
	answer := func(reason string, unknown, fixed bool) sample.Sample {
		s := answered(3)
		s.Finish, s.UnknownFinish, s.FixedOutput, s.MaxTokens = reason, unknown, fixed, 3
		return s
	}
	failed := answer("bored", true, true)
	failed.Outcome, failed.Err = sample.Truncated, errors.New("cut")
	for _, c := range []struct {
		samples []sample.Sample
		want    []string
		doubt   bool
	}{
		{[]sample.Sample{answer("stop", false, true), failed}, nil, false},
		{[]sample.Sample{answer("bored", true, true), answer("bored", true, true), answer("stop", false, true)}, []string{`2 of 3 answers ended with a finish reason that the API does not document: "bored" 2` + has}, false},
		{[]sample.Sample{answer("bored", true, false), answer("", true, false)}, []string{`2 of 2 answers ended with a finish reason that the API does not document: "bored" 1, none 1` + cut}, true},
	} {
		notes := FindFacts(sample.All(c.samples...), time.Second, 0, sample.SLO{}, Tolerated{}).Notes()
		assert.DeepEqual(t, textsOf(notes), c.want)
		for _, n := range notes {
			assert.Assert(t, n.Kind == records.NoteFinish && n.Doubt == c.doubt, "%v", n)
		}
	}
}
