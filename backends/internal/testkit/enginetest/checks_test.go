//go:build unix

package enginetest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/enginetest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// checkScenarios runs the scenarios, each in a process of its own. Exactly those that the engine lacks have no results.
// Without LLMBENCH_FULL, scenarios that would take minutes are left out, and without -demand those that are like Serve.
func checkScenarios(t *testing.T, c contract) {
	var times []string
	for _, s := range scenarios {
		if s.long && os.Getenv("LLMBENCH_FULL") == "" || s.onDemand && !*demand {
			continue
		}
		began := time.Now()
		m := c.measure(t, s.name, append([]string{"LLMBENCH_IDLE_TIMEOUT=5m"}, s.env...)...) // the machine may be busy
		times = append(times, fmt.Sprintf("%s %.1f s", s.name, time.Since(began).Seconds()))
		assert.Check(t, m.err == nil, "%s: %v: %s", s.name, m.err, m.out)
		assert.Check(t, len(m.rows) > 0 != slices.Contains(c.Lacks, s.name), "%s has %d rows: %s", s.name, len(m.rows), m.out)
		assert.Check(t, !strings.Contains(m.out, "the server counted"), "%s", m.out)
	}
	t.Log(strings.Join(times, ", "))
}

// totals are what a client has counted, in the order of [contract.counted].
func (m measurement) totals() (all [3]float64) {
	for _, q := range m.requests {
		all[0]++
		all[1] += float64(q.PromptTokens)
		all[2] += float64(q.OutputTokens)
	}
	return all
}

// counted returns how many requests, prompt tokens and output tokens the engine counted between two instants. A count
// that the engine lacks is 0.
func (c contract) counted(before, after enginetest.Metrics) (all [3]float64) {
	for i, names := range [][]string{c.Counters.Requests, c.Counters.Prompt, c.Counters.Output} {
		all[i] = after.Sum(names...) - before.Sum(names...)
	}
	return all
}

// metrics reads the engine's metrics.
func (c contract) metrics(t *testing.T) enginetest.Metrics {
	t.Helper()
	m, err := c.Metrics(t.Context())
	assert.NilError(t, err)
	return m
}

// checkCounts compares the records of two loads with the engine's counters, in each dialect. The key is a bearer token,
// because vLLM wants one in all dialects, and LLMBENCH_API_KEY would go into x-api-key for Messages. The requests before each load, such as those
// that find the lengths of prompts, are in the counters only, and are the same for both loads. So the loads differ in the
// counters by as much as in the records.
func checkCounts(t *testing.T, c contract) {
	for _, dialect := range append([]string{"openai-chat"}, c.Dialects...) {
		t.Run(dialect, func(t *testing.T) { checkCountsOf(t, c, dialect) })
	}
}

func checkCountsOf(t *testing.T, c contract, dialect string) {
	var unmeasured [2][3]float64
	for i, requests := range []int{8, 40} {
		before := c.metrics(t)
		m := c.measure(t, "Serve", load(requests, "LLMBENCH_WARMUP=0", "LLMBENCH_SALT=7", "LLMBENCH_DIALECT="+dialect, "LLMBENCH_API_KEY=", "LLMBENCH_HEADER=Authorization: Bearer "+c.Key)...)
		assert.NilError(t, m.err, "%s", m.out)
		after := c.metrics(t)
		client, server := m.totals(), c.counted(before, after)
		assert.Equal(t, client[0], float64(requests))
		assert.Equal(t, client[2], float64(24*requests))
		for j := range client {
			unmeasured[i][j] = server[j] - client[j]
		}
		c.compare(t, before, after, m)
	}
	if c.Counters.Requests == nil {
		unmeasured[0][0], unmeasured[1][0] = 0, 0
	}
	assert.DeepEqual(t, unmeasured[0], unmeasured[1])
	t.Logf("beside the requests that were measured, the engine counted %v requests, prompt and output tokens", unmeasured[0])
}

// compare logs the latencies that the engine measured beside the client's latencies. The engine's means include the
// requests that were not measured.
func (c contract) compare(t *testing.T, before, after enginetest.Metrics, m measurement) {
	t.Helper()
	var ttft, e2e, tpot time.Duration
	for _, q := range m.requests {
		ttft, e2e, tpot = ttft+q.First-q.Start, e2e+q.Last-q.Start, tpot+(q.Last-q.First)/time.Duration(q.OutputTokens-1)
	}
	n := time.Duration(len(m.requests))
	for _, h := range []struct {
		name, histogram string
		client          time.Duration
	}{{"TTFT", c.Counters.TTFT, ttft / n}, {"E2E", c.Counters.E2E, e2e / n}, {"TPOT", c.Counters.TPOT, tpot / n}} {
		if mean, count := after.Mean(before, h.histogram); h.histogram != "" && count > 0 {
			t.Logf("%d requests: mean %s %.2f ms, the engine's %.2f ms over %.0f requests", n, h.name, 1e3*h.client.Seconds(), 1e3*mean, count)
		}
	}
}

// value returns a unit of the only row.
func (m measurement) value(t *testing.T, unit string) float64 {
	t.Helper()
	assert.Equal(t, len(m.rows), 1, "%s", m.out)
	v, ok := m.rows[0].Value(unit)
	assert.Assert(t, ok, "no %s in:\n%s", unit, m.out)
	return v
}

// checkCache compares the cached tokens that answers state with those that the engine counts.
func checkCache(t *testing.T, c contract) {
	before := c.metrics(t)
	m := c.measure(t, "PrefixCache", "LLMBENCH_CONCURRENCY=1")
	assert.NilError(t, m.err, "%s", m.out)
	cached, prompt := 0.0, 0.0
	for _, q := range m.requests {
		cached, prompt = cached+float64(q.CachedTokens), prompt+float64(q.PromptTokens)
	}
	after := c.metrics(t)
	hits := after.Sum(c.Counters.Cached...) - before.Sum(c.Counters.Cached...)
	t.Logf("%.0f of %.0f prompt tokens were cached, as answers state; the engine counted %.0f", cached, prompt, hits)
	assert.Assert(t, cached > prompt/2 && cached <= hits, "the requests that were not measured are in the engine's count only")
	share := m.value(t, "cached-%")
	assert.Assert(t, math.Abs(share-100*cached/prompt) < 0.01, "%v cached-%% of %v / %v tokens", share, cached, prompt) // four digits are printed
}

// checkQueue sends more requests at once than the engine serves at once.
func checkQueue(t *testing.T, c contract) {
	before := c.metrics(t)
	m := c.measure(t, "Serve", "LLMBENCH_CONCURRENCY=40", "LLMBENCH_REQUESTS=40", "LLMBENCH_INPUT=64", "LLMBENCH_OUTPUT=16", "LLMBENCH_WARMUP=0")
	assert.NilError(t, m.err, "%s", m.out)
	mean, count := c.metrics(t).Mean(before, c.Counters.Queue)
	queue := m.value(t, "srv-queue-sec") // package benchfmt turns nanoseconds into seconds
	t.Logf("mean time in the queue %.2f ms, the engine's %.2f ms over %.0f requests", 1e3*queue, 1e3*mean, count)
	assert.Assert(t, queue > 0 && 40*queue <= 1.001*mean*count)
}

// checkAnotherClient measures while another client sends requests, too. The figures stay, and a note says that the engine
// counted more.
func checkAnotherClient(t *testing.T, c contract) {
	const requests = 80 // so many that the run goes on while the other client sends
	cmd, dir := c.command(t, "Serve", load(requests)...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	assert.NilError(t, cmd.Start())
	c.awaitRecords(t, dir)
	for range 3 {
		_, err := c.post(t, `{"model":"tiny","prompt":"the sea","max_tokens":2}`)
		assert.NilError(t, err)
	}
	m := read(t, "", cmd.Wait(), dir)
	assert.NilError(t, m.err, "%s", &out)
	assert.Assert(t, strings.Contains(out.String(), "other clients"), "%s", &out)
	assert.Equal(t, m.totals()[2], 24.0*requests)
}

// post sends a completion, and returns the body of the answer.
func (c contract) post(t *testing.T, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+"/v1/completions", strings.NewReader(body))
	assert.NilError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+c.Key)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, answer)
	}
	return answer, err
}

// awaitRecords waits until a request that is measured has ended.
func (c contract) awaitRecords(t *testing.T, dir string) {
	t.Helper()
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && strings.Count(string(text), "\n") > 1 {
				return poll.Success()
			}
		}
		return poll.Continue("no request has ended")
	}, poll.WithTimeout(2*time.Minute), poll.WithDelay(20*time.Millisecond))
}

// refused checks that a measurement failed before it had a result, and that its output matches a pattern.
func refused(t *testing.T, m measurement, pattern string) {
	t.Helper()
	assert.Assert(t, m.err != nil && len(m.rows) == 0, "%s", m.out)
	assert.Assert(t, regexp.MustCompile(pattern).MatchString(m.out), "no %s in:\n%s", pattern, m.out)
}

func checkTooLong(t *testing.T, c contract) {
	m := c.measure(t, "Serve", "LLMBENCH_CONCURRENCY=1", "LLMBENCH_REQUESTS=4", fmt.Sprintf("LLMBENCH_INPUT=%d", c.MaxLen+1000), "LLMBENCH_OUTPUT=4")
	refused(t, m, fmt.Sprint(c.MaxLen))
}

func checkWrongModel(t *testing.T, c contract) {
	refused(t, c.measure(t, "Serve", load(8, "LLMBENCH_MODEL=no-such-model")...), "no-such-model")
}

func checkKey(t *testing.T, c contract, key string) {
	refused(t, c.measure(t, "Serve", load(8, "LLMBENCH_API_KEY="+key)...), "LLMBENCH_API_KEY")
}

// checkContinuousUsage asks for the usage in each event, as the note on deltas of several tokens advises.
func checkContinuousUsage(t *testing.T, c contract) {
	m := c.measure(t, "Serve", load(8, `LLMBENCH_BODY={"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`)...)
	assert.NilError(t, m.err, "%s", m.out)
	assert.Equal(t, m.totals()[2], 24.0*8)
	for _, q := range m.requests {
		tokens := q.Deltas // if no delta has several tokens
		if q.DeltaTokens != nil {
			tokens = 0
		}
		for _, n := range q.DeltaTokens {
			tokens += n
		}
		assert.Equal(t, int(tokens), 24)
	}
}

// checkPooling measures an engine that answers embeddings and rankings in place of completions, with one text and with
// several texts in a request.
func checkPooling(t *testing.T, c contract) {
	c = newContract(t, c.Engine, enginetest.Options{Args: c.Pooling})
	for _, scenario := range []string{"Embeddings", "Rerank"} {
		m := c.measure(t, scenario, "LLMBENCH_CONCURRENCY=2", "LLMBENCH_REQUESTS=8", "LLMBENCH_BATCH=1,4")
		assert.NilError(t, m.err, "%s", m.out)
		assert.Equal(t, len(m.rows), 2, "%s", m.out)
		assert.Assert(t, !strings.Contains(m.out, "the server counted"), "%s", m.out)
	}
}

// checkLoRA measures an engine that serves a model and an adapter of it. Without LLMBENCH_MODEL, the model is measured. The
// adapter answers otherwise than the model.
func checkLoRA(t *testing.T, c contract) {
	c = newContract(t, c.Engine, enginetest.Options{Args: c.LoRA})
	for name, env := range map[string][]string{
		enginetest.ModelName:   nil,
		enginetest.AdapterName: {"LLMBENCH_MODEL=" + enginetest.AdapterName},
	} {
		m := c.measure(t, "Serve", load(8, env...)...)
		assert.NilError(t, m.err, "%s", m.out)
		assert.Equal(t, len(m.rows), 1, "%s", m.out)
		assert.Assert(t, strings.Contains(string(m.rows[0].Name), "/model="+name+"/"), "%s", m.out)
	}
	m := c.measure(t, "Serve", load(8, "LLMBENCH_MIX="+enginetest.ModelName+"=1,"+enginetest.AdapterName+"=1")...)
	assert.NilError(t, m.err, "%s", m.out)
	assert.Assert(t, c.answer(t, enginetest.ModelName) != c.answer(t, enginetest.AdapterName))
}

// answer returns the most likely answer of a model to a prompt.
func (c contract) answer(t *testing.T, model string) string {
	t.Helper()
	var answer struct{ Choices []struct{ Text string } }
	body, err := c.post(t, fmt.Sprintf(`{"model":%q,"prompt":"Tell me about the sea.","max_tokens":16,"temperature":0}`, model))
	assert.NilError(t, err)
	assert.NilError(t, json.Unmarshal(body, &answer))
	assert.Assert(t, len(answer.Choices) == 1 && answer.Choices[0].Text != "", "%s", body)
	return answer.Choices[0].Text
}

// stopTime is how long an engine is stopped.
const stopTime = 5 * time.Second

// checkStop stops the engine's processes in the middle of a run, and continues them. The records show the stop, and no
// request fails but those that the engine itself gave up in the meantime, after as long a time.
func checkStop(t *testing.T, c contract) {
	cmd, dir := c.command(t, "Serve", load(128, "LLMBENCH_MAX_FAIL=0.05")...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	assert.NilError(t, cmd.Start())
	c.awaitRecords(t, dir)
	assert.NilError(t, c.Signal(syscall.SIGSTOP))
	<-time.After(stopTime)
	assert.NilError(t, c.Signal(syscall.SIGCONT))
	m := read(t, "", cmd.Wait(), dir)
	assert.NilError(t, m.err, "%s", &out)
	var longest time.Duration
	for _, q := range m.requests {
		// An engine behind uvicorn closes connections that were idle for 5 s. After the stop it resets such a connection also if a
		// request has arrived meanwhile (https://www.uvicorn.org/settings/#timeouts).
		reset := q.Outcome == sample.Connect && q.End-q.Start > stopTime*9/10
		assert.Assert(t, q.OK() || q.Status == http.StatusGatewayTimeout || reset, "%+v", q)
		longest = max(longest, q.First-q.Start, slices.Max(slices.AppendSeq([]time.Duration{0}, q.Gaps())))
		if !q.OK() {
			longest = max(longest, q.End-q.Start)
		}
	}
	t.Logf("the longest wait for a token was %.2f s", longest.Seconds())
	assert.Assert(t, longest > stopTime*9/10, "%s", &out)
}

// checkEnd ends the engine in the middle of a run. The run fails, says how the requests failed, and keeps those that were
// complete.
func checkEnd(t *testing.T, c contract, sig syscall.Signal) {
	cmd, dir := c.command(t, "Serve", load(400)...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	assert.NilError(t, cmd.Start())
	c.awaitRecords(t, dir)
	began := time.Now()
	assert.NilError(t, c.Terminate(sig))
	m := read(t, out.String(), cmd.Wait(), dir)
	t.Logf("the run ended %.1f s after %v", time.Since(began).Seconds(), sig)
	assert.Assert(t, m.err != nil && len(m.rows) == 0, "%s", &out)
	outcomes := map[string]int{}
	for _, q := range m.requests {
		outcomes[string(q.Outcome)]++
	}
	t.Logf("outcomes: %v", outcomes)
	assert.Assert(t, outcomes["ok"] > 0 && len(outcomes) > 1, "%v in:\n%s", outcomes, &out)
}
