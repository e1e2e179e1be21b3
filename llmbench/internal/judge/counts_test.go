package judge

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// answered returns a successful streamed request with 10 prompt tokens. The server reported its usage.
func answered(output int) sample.Sample {
	return sample.Sample{PromptTokens: 10, OutputTokens: output, TokenSource: sample.FromUsage, Outcome: sample.OK}
}

func TestCompareCounts(t *testing.T) {
	two := func(change func(s *sample.Sample)) []sample.Sample {
		samples := []sample.Sample{answered(5), answered(6)} // 20 prompt tokens and 11 output tokens
		if change != nil {
			change(&samples[1])
		}
		return samples
	}
	agrees := Counts{2, 20, 11, true, true}
	more, loose := Counts{2, 20, 12, true, true}, Counts{2, 20, 12, false, false}
	left := func(s *sample.Sample) { s.Outcome = sample.Left }
	const part = ": these counters do not include all processes that answered, and neither do the server's metrics"
	const others = ": cannot tell whether the counts agree, because the server also served other clients; its metrics include their requests"
	const perhaps = ": cannot tell whether the counts agree, because the server may also have served other clients; its metrics then include their requests"
	const before = ": it also counted requests from before the pass"
	for _, c := range []struct {
		name    string
		server  Counts
		samples []sample.Sample
		want    Difference
	}{
		{"as many", agrees, two(nil), Difference{}},
		{"as many, and neither", Counts{2, 20, 11, false, false}, two(nil), Difference{}},
		{"the server counts nothing", Counts{-1, -1, -1, true, true}, two(nil), Difference{}},
		{"a request too few", Counts{1, 20, 11, false, false}, two(nil), Difference{"the server counted 1 requests, and the client 2 of successful requests" + part, true, false}},
		{"a prompt too short", Counts{2, 19, 11, false, false}, two(nil), Difference{"the server counted 19 prompt tokens, and the client 20 of successful requests" + part, true, false}},
		{"an output too short", Counts{2, 20, 10, true, true}, two(nil), Difference{"the server counted 10 output tokens, and the client 11 of successful requests", true, true}},
		{"a token too many", more, two(nil), Difference{"the server counted 12 output tokens, and the client 11", false, true}},
		{"a request too many", Counts{3, 20, 11, true, true}, two(nil), Difference{"the server counted 3 requests, and the client 2", false, true}},
		{"other clients", Counts{3, 30, 20, false, false}, two(nil), Difference{Text: "the server counted 3 requests, and the client sent 2" + others}},
		{"other clients of a server that counts no requests", Counts{-1, 30, 20, false, false}, two(nil), Difference{Text: "the server counted 30 prompt tokens, and its answers report 20" + perhaps}},
		{"other clients, and one replica of several", Counts{3, 30, 10, false, false}, two(nil), Difference{"the server counted 10 output tokens, and the client 11 of successful requests" + part, true, false}},
		{"the server counts what its answers do not state", loose, two(nil), Difference{Text: "the server counted 12 output tokens, and its answers report 11"}},
		{"an output too short, and other clients", Counts{3, 30, 10, true, false}, two(nil), Difference{"the server counted 10 output tokens, and the client 11 of successful requests", true, true}},
		{"other clients, and nothing is missing", Counts{3, 30, 20, true, false}, two(nil), Difference{Text: "the server counted 3 requests, and the client sent 2" + others}},
		{"a request of before the pass", Counts{3, 20, 11, false, true}, two(nil), Difference{Text: "the server counted 3 requests, and its answers report 2" + before}},
		{"one was not successful", more, two(left), Difference{}},
		{"one was not successful, and is counted", loose, two(left), Difference{}},
		{"one was not successful, and there are other clients", Counts{3, 30, 20, false, false}, two(left), Difference{Text: "the server counted 3 requests, and the client sent 2" + others}},
		{"too few tokens, and one request was not successful", Counts{2, 20, 4, true, true}, two(left), Difference{"the server counted 4 output tokens, and the client 5 of successful requests", true, true}},
		{"one was sent twice", more, two(func(s *sample.Sample) { s.Resent = 1 }), Difference{}},
		{"one was sent twice and counted twice", Counts{3, 30, 17, false, false}, two(func(s *sample.Sample) { s.Resent = 1 }), Difference{}},
		{"one has no usage", more, two(func(s *sample.Sample) { s.TokenSource = sample.FromDeltas }), Difference{}},
		{"too few tokens, and one request has no usage", Counts{2, 20, 5, true, true}, two(func(s *sample.Sample) { s.TokenSource = sample.FromDeltas }), Difference{}},
		{"the length of a prompt is unknown", Counts{2, 25, 11, true, true}, two(func(s *sample.Sample) { s.PromptTokens = 0 }), Difference{}},
	} {
		assert.Equal(t, CountOwn(sample.All(c.samples...)).Compare(c.server), c.want, c.name)
	}
}

// TestCountsContradict checks which answers contradict the output tokens that the server reports for them,
// and the row in the records.
func TestCountsContradict(t *testing.T) {
	answer := func(deltas, reasoning, tokens int) sample.Sample {
		s := answered(tokens)
		s.Streamed, s.Deltas, s.Outputs = true, deltas, deltas-reasoning
		return s
	}
	silent := answer(30, 0, 30)
	silent.TokenSource = sample.FromTokenizer
	failed := answer(30, 0, 1)
	failed.Outcome = sample.Truncated
	for _, c := range []struct {
		name    string
		samples []sample.Sample
		want    string
	}{
		{"a token a delta", []sample.Sample{answer(10, 0, 10)}, ""},
		{"an end token", []sample.Sample{answer(10, 0, 11)}, ""},
		{"several tokens a delta", []sample.Sample{answer(3, 0, 12)}, ""},
		{"a held back character and a tool's name", []sample.Sample{answer(12, 0, 10)}, ""},
		{"more deltas than tokens", []sample.Sample{answer(13, 0, 10)}, "in 1 of 1 successful requests the answer came in more deltas"},
		{"half of the tokens", []sample.Sample{answer(20, 0, 10), answer(30, 0, 15), answer(10, 0, 10)}, "in 2 of 3 successful requests"},
		{"one answer in ten", append(slices.Repeat([]sample.Sample{answer(10, 0, 10)}, 9), answer(20, 0, 10)), ""},
		{"reasoning that is not counted", []sample.Sample{answer(110, 100, 10)}, ""},
		{"not stated", []sample.Sample{silent}, ""},
		{"a failed request", []sample.Sample{failed, answer(10, 0, 10)}, ""},
		{"nothing", nil, ""},
	} {
		got := CountOwn(sample.All(c.samples...)).Contradiction()
		assert.Assert(t, strings.HasPrefix(got, c.want) && (got == "") == (c.want == ""), "%s: %q", c.name, got)
	}
	row := CountOwn(sample.All(answer(10, 0, 11), silent, failed)).Record(3, Counts{2, 20, -1, true, true})
	assert.DeepEqual(t, row, records.Counts{Pass: 3, Requests: 2, Deltas: 40, StatedRequests: 1, StatedPrompt: 20, StatedOutput: 11, Tokenizer: 30, ServerRequests: 2, ServerPrompt: 20, ServerOutput: -1})
}

// TestUnderstated checks which texts have clearly more tokens than the server reports.
func TestUnderstated(t *testing.T) {
	answer := func(stated, text int) sample.Sample {
		s := answered(stated)
		s.TextTokens = text
		return s
	}
	for _, c := range []struct {
		name    string
		samples []sample.Sample
		want    string
	}{
		{"equal", []sample.Sample{answer(100, 100)}, ""},
		{"a tenth and two more", []sample.Sample{answer(100, 112)}, ""},
		{"more", []sample.Sample{answer(100, 113)}, "the server reports 100 output tokens in 1 answers, but the tokenizer counts 113 in their text"},
		{"half is stated", slices.Repeat([]sample.Sample{answer(50, 100)}, 3), "the server reports 150 output tokens in 3 answers, but the tokenizer counts 300 in their text"},
		{"hidden reasoning", []sample.Sample{answer(1000, 10)}, ""},
		{"not counted", []sample.Sample{answer(1, 0)}, ""},
		{"nothing", nil, ""},
	} {
		err := CountOwn(sample.All(c.samples...)).Understated()
		if c.want == "" {
			assert.NilError(t, err, c.name)
		} else {
			assert.ErrorContains(t, err, c.want, c.name)
		}
	}
}

// TestWithheldUnits checks the units that say that figures are missing because of the client, or of the usage.
func TestWithheldUnits(t *testing.T) {
	for _, c := range []struct {
		reported bool
		report   distortion.Report
		want     map[string]float64
	}{
		{false, distortion.Report{}, map[string]float64{"req/s": 9, "p50-ttft-ns": 5}},
		{false, distortion.Report{Likely: map[string]float64{"req/s": 0.1, "p50-ttft-ns": 0.2}, Distorted: []distortion.Distorted{{Unit: "p50-ttft-ns", Most: 0.3}}}, map[string]float64{"req/s": 9, sample.ClientError: 10, sample.ClientBound: 30}},
		{true, distortion.Report{Likely: map[string]float64{"req/s": 0.1, "p50-ttft-ns": 0.2}, Distorted: []distortion.Distorted{{Unit: "p50-ttft-ns", Most: 0.3}}}, map[string]float64{"req/s": 9, "p50-ttft-ns": 5, sample.ClientError: 20}},
	} {
		f := &Figures{Metrics: map[string]float64{"req/s": 9, "p50-ttft-ns": 5}, Units: sample.Units, Shown: func(sample.Unit) bool { return true }, Reported: c.reported}
		f.JudgeClient(c.report)
		assert.DeepEqual(t, f.Metrics, c.want)
	}
	good, bad := streamed(sample.FromUsage, ""), streamed(sample.Contradicted, "")
	for samples, want := range map[*[]sample.Sample]float64{{good, good}: 0, {good, good, good, bad}: 25} {
		m := FindFacts(sample.All(*samples...), time.Second, 0, sample.SLO{}, Tolerated{}).Summary.Metrics
		share, has := m[sample.UsageError]
		assert.Assert(t, share == want && has == (want > 0), "%v", share)
	}
}

// TestJudgeGaps checks that ITLs and TPOTs of 0 are removed, with what is computed from them, and no other metric.
func TestJudgeGaps(t *testing.T) {
	derived := []sample.Unit{{Name: "added-itl", Parts: "mean-itl-ns"}, {Name: "added-ttft", Parts: "p50-ttft-ns"}}
	f := &Figures{Metrics: map[string]float64{"added-itl": -5, "added-ttft": 1, "p50-itl-ns": 1, "p99-itl-ns": 5, "mean-itl-ns": 1, "p50-tpot-ns": 1, "mean-tpot-ns": 2, "p50-ttft-ns": 1, "output-tok/s": 1},
		Units: append(slices.Clone(sample.Units), derived...), Shown: func(u sample.Unit) bool { return u.Name != "mean-itl-ns" }}
	assert.DeepEqual(t, f.JudgeGaps(0.5), []string{"p50-tpot-ns", "p50-itl-ns", "added-itl"})
	assert.DeepEqual(t, f.Metrics, map[string]float64{"added-ttft": 1, "p99-itl-ns": 5, "mean-tpot-ns": 2, "p50-ttft-ns": 1, "output-tok/s": 1, sample.TogetherShare: 50})
}

// TestHasResult checks which metrics are a result, although the client may have distorted all others.
func TestHasResult(t *testing.T) {
	units := append(slices.Clone(sample.Units),
		sample.Unit{Name: "agree-%", Better: "higher"}, sample.Unit{Name: "m-fail-%", Better: "lower"}, sample.Unit{Name: "srv-x", Better: "higher"})
	for _, c := range []struct {
		metrics string
		own     string
		want    bool
	}{
		{"out-tok/req cached-% fail-% client-err-% p99-lag-ns", "", false},
		{"out-tok/req mean-e2e-ns", "", true},
		{"out-tok/req accuracy-%", "", true},
		{"out-tok/req agree-%", "agree-%", true},
		{"out-tok/req m-fail-%", "m-fail-%", false},
		{"out-tok/req srv-x", "", false},
		{"out-tok/req", "agree-%", false},
	} {
		values := func(names string) map[string]float64 {
			all := map[string]float64{}
			for name := range strings.FieldsSeq(names) {
				all[name] = 1
			}
			return all
		}
		f := &Figures{Metrics: values(c.metrics), Units: units, Shown: func(sample.Unit) bool { return true }}
		assert.Equal(t, f.HasResult(values(c.own)), c.want, "%+v", c)
	}
}
