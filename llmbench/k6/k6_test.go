package k6

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.k6.io/k6/v2/cmd"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// asK6 is the environment variable that makes the test binary run k6.
const asK6 = "TEST_RUNS_K6"

func TestMain(m *testing.M) {
	if os.Getenv(asK6) != "" {
		cmd.Execute()
		return
	}
	os.Exit(m.Run())
}

// A run holds the results of a run of k6.
type run struct {
	out     string // standard output and standard error
	code    int    // exit status
	metrics map[string]struct {
		Values map[string]float64 `json:"values"`
	}
	records []*records.Run
}

// prelude is the beginning of each script.
const prelude = `
import exec from 'k6/execution';
import { Client } from 'k6/x/llmbench';
export function handleSummary(data) { return { [__ENV.SUMMARY]: JSON.stringify(data.metrics) }; }
`

// start starts k6 with a script. The environment of k6 has no LLMBENCH_ variables other than those in env.
// The function end waits until k6 has ended.
func start(t *testing.T, script string, env []string, args ...string) (end func() run) {
	t.Helper()
	dir := t.TempDir()
	file, summary, out := filepath.Join(dir, "script.js"), filepath.Join(dir, "summary.json"), filepath.Join(dir, "out")
	assert.NilError(t, os.WriteFile(file, []byte(script), 0o600))
	self, err := os.Executable()
	assert.NilError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	k6 := exec.CommandContext(ctx, self, slices.Concat([]string{"run", "--no-usage-report", "--quiet", "--address="}, args, []string{file})...)
	k6.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LLMBENCH_") || strings.HasPrefix(v, "K6_") })
	k6.Env = append(k6.Env, slices.Concat([]string{asK6 + "=1", "SUMMARY=" + summary, "LLMBENCH_OUT=" + out}, env)...)
	var text bytes.Buffer
	k6.Stdout, k6.Stderr = &text, &text
	assert.NilError(t, k6.Start())
	return func() run {
		t.Helper()
		err := k6.Wait()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
			t.Fatalf("k6: %v\n%s", err, &text)
		}
		r := run{out: text.String(), code: k6.ProcessState.ExitCode()}
		if written, err := os.ReadFile(summary); err == nil {
			assert.NilError(t, json.Unmarshal(written, &r.metrics), "%s", written)
		}
		files, err := filepath.Glob(filepath.Join(out, "*.jsonl"))
		assert.NilError(t, err)
		for _, name := range files {
			one, err := records.Open(name)
			assert.NilError(t, err)
			r.records = append(r.records, one)
		}
		return r
	}
}

// serve starts a simulated server. If see is not nil, it is called with each request and its body.
func serve(t *testing.T, cfg mockserver.Config, see func(r *http.Request, body []byte)) (mock *mockserver.Server, url string) {
	t.Helper()
	mock, err := mockserver.New(cfg)
	assert.NilError(t, err)
	url, stop, err := mockserver.Listen("127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if see != nil {
			body, _ := io.ReadAll(r.Body)
			see(r, body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		mock.ServeHTTP(w, r)
	}))
	assert.NilError(t, err)
	t.Cleanup(func() { stop(0) })
	return mock, url
}

// TestOutcomes checks that the outcomes in k6's metrics and in the records match the faults that the server
// injected.
func TestOutcomes(t *testing.T) {
	want := map[fault.Kind]sample.Outcome{
		"": sample.OK, fault.HTTP500: sample.HTTP, fault.Reset: sample.Truncated, fault.FIN: sample.Truncated, fault.ErrorEvent: sample.ServerError,
		fault.Malformed: sample.Malformed, fault.Empty: sample.Empty, fault.Stall: sample.Stalled,
	}
	mock, url := serve(t, mockserver.Config{Faults: []fault.Fault{
		{Kind: fault.HTTP500, Every: 7}, {Kind: fault.Reset, Every: 11, At: 2}, {Kind: fault.FIN, Every: 13, At: 2}, {Kind: fault.ErrorEvent, Every: 17, At: 1},
		{Kind: fault.Malformed, Every: 19, At: 1}, {Kind: fault.Empty, Every: 23}, {Kind: fault.Stall, Every: 67, At: 1},
	}}, nil)
	thresholds := map[string][]string{} // thresholds make k6 list the outcomes in its summary
	for _, o := range want {
		thresholds[fmt.Sprintf("llm_requests{outcome:%s}", o)] = []string{"count>=0"}
	}
	text, err := json.Marshal(thresholds)
	assert.NilError(t, err)
	const requests = 200
	r := start(t, prelude+fmt.Sprintf(`
		export const options = { scenarios: { a: { executor: 'shared-iterations', vus: 8, iterations: %d } }, thresholds: %s };
		const client = new Client({ idleTimeout: '3s', slo: 'ttft=1h' });
		export default function () { client.chat({ prompt: 'one two three', maxTokens: 6, fixedOutput: true }); }
	`, requests, text), []string{"LLMBENCH_URL=" + url})()
	assert.Equal(t, r.code, 0, "%s", r.out)

	truth := map[sample.Outcome]float64{}
	for _, e := range mock.Log() {
		o, known := want[e.Fault]
		assert.Assert(t, known, "fault %q", e.Fault)
		truth[o]++
	}
	assert.Equal(t, len(truth), 7, "%v", truth)
	measured := map[sample.Outcome]float64{}
	for o := range truth {
		measured[o] = r.metrics[fmt.Sprintf("llm_requests{outcome:%s}", o)].Values["count"]
	}
	assert.DeepEqual(t, measured, truth)
	good := truth[sample.OK]
	for metric, value := range map[string]float64{"llm_requests": requests, "llm_prompt_tokens": 3 * good, "llm_output_tokens": 6 * good, "llm_cached_tokens": 0} {
		assert.Equal(t, r.metrics[metric].Values["count"], value, metric)
	}
	assert.Equal(t, r.metrics["llm_failed"].Values["rate"], (requests-good)/requests)
	assert.Equal(t, r.metrics["llm_good"].Values["rate"], good/requests)

	assert.Equal(t, len(r.records), 1)
	assert.Equal(t, r.records[0].Failed(), "")
	assert.Equal(t, r.records[0].Head.Benchmark, "k6/dialect=openai-chat")
	recorded := map[sample.Outcome]float64{}
	for q := range r.records[0].All() {
		recorded[q.Outcome]++
	}
	assert.DeepEqual(t, recorded, truth)
}

// TestLatencies checks that k6 reports the same latencies as the records, and that they are not shorter
// than in the server's log. How much longer they are depends on the machine; the command accuracy measures
// it.
func TestLatencies(t *testing.T) {
	mock, url := serve(t, mockserver.Config{TTFT: 50 * time.Millisecond, PerToken: 5 * time.Millisecond}, nil)
	r := start(t, prelude+`
		export const options = { vus: 4, iterations: 40, summaryTrendStats: ['min', 'med', 'max', 'count'] };
		const client = new Client();
		export default function () { // a mock that is late sends the next tokens sooner
			const r = client.chat({ prompt: 'one', maxTokens: 11, fixedOutput: true });
			if (!(r.ok && r.ttft >= 49 && r.tpot > 0 && r.e2e >= r.ttft && r.outputTokens === 11)) { console.error(JSON.stringify(r)); exec.test.fail(); }
		}
	`, []string{"LLMBENCH_URL=" + url})()
	assert.Equal(t, r.code, 0, "%s", r.out)
	figures := r.records[0].Figures().Metrics
	for metric, unit := range map[string]string{"llm_ttft": "p50-ttft-ns", "llm_e2e": "p50-e2e-ns"} {
		// The records are exact, but k6 stores milliseconds as floating-point numbers.
		got, want := r.metrics[metric].Values["med"]*1e6, figures[unit]
		assert.Assert(t, want > 0 && got > want-1 && got < want+1, "%s: %v, and %v in records", metric, got, want)
	}
	assert.Equal(t, r.metrics["llm_itl"].Values["count"], 400.0)
	assert.Equal(t, len(mock.Log()), 40)
	for metric, least := range map[string]float64{"llm_ttft": 49, "llm_e2e": 99} { // 1 ms less than on the server, whose clock differs from the kernel's
		assert.Assert(t, r.metrics[metric].Values["min"] >= least, "%s %v", metric, r.metrics[metric].Values)
	}
	assert.Equal(t, r.records[0].Len(), 40)
}

// TestSegments checks that two processes with execution segments together send what one process sends.
func TestSegments(t *testing.T) {
	for name, executor := range map[string]string{
		"shared-iterations": `{ executor: 'shared-iterations', vus: 4, iterations: 60 }`,
		"per-vu-iterations": `{ executor: 'per-vu-iterations', vus: 6, iterations: 10 }`,
	} {
		var mu sync.Mutex
		var prompts []string
		_, url := serve(t, mockserver.Config{}, func(_ *http.Request, body []byte) {
			var sent struct{ Prompt string }
			err := json.Unmarshal(body, &sent)
			mu.Lock()
			defer mu.Unlock()
			assert.Check(t, err)
			prompts = append(prompts, sent.Prompt)
		})
		script := prelude + `
			export const options = { scenarios: { a: ` + executor + ` } };
			const client = new Client();
			export default function () { client.completion({ prompt: 'prompt ' + exec.scenario.iterationInTest, maxTokens: 2 }); }`
		sent := func(segments ...string) (counts []float64) {
			var ends []func() run
			for _, s := range segments {
				args := []string{"--execution-segment=" + s, "--execution-segment-sequence=0,1/2,1"}
				if s == "" {
					args = nil
				}
				ends = append(ends, start(t, script, []string{"LLMBENCH_URL=" + url}, args...))
			}
			for _, end := range ends {
				r := end()
				assert.Equal(t, r.code, 0, "%s", r.out)
				assert.Equal(t, float64(r.records[0].Len()), r.metrics["llm_requests"].Values["count"])
				counts = append(counts, r.metrics["llm_requests"].Values["count"])
			}
			return counts
		}
		assert.DeepEqual(t, sent(""), []float64{60})
		alone := slices.Sorted(slices.Values(prompts))
		assert.Equal(t, len(slices.Compact(slices.Clone(alone))), 60, name)
		prompts = nil
		assert.DeepEqual(t, sent("0:1/2", "1/2:1"), []float64{30, 30})
		assert.DeepEqual(t, slices.Sorted(slices.Values(prompts)), alone)
	}
}

// TestInterrupted checks that a request that ends with its iteration is canceled and does not count as
// failed.
func TestInterrupted(t *testing.T) {
	_, url := serve(t, mockserver.Config{TTFT: time.Hour}, nil)
	r := start(t, prelude+`
		export const options = { scenarios: { a: { executor: 'constant-vus', vus: 4, duration: '1s', gracefulStop: '0s' } },
			thresholds: { 'llm_requests{outcome:canceled}': ['count==4'], llm_requests: ['count==4'] } };
		const client = new Client();
		export default function () { client.chat({ prompt: 'one', maxTokens: 1 }); }
	`, []string{"LLMBENCH_URL=" + url})()
	assert.Equal(t, r.code, 0, "%s", r.out)
	_, failed := r.metrics["llm_failed"]
	assert.Assert(t, !failed, "%v", r.metrics)
	assert.Equal(t, r.records[0].Len(), 4)
	for q := range r.records[0].All() {
		assert.Equal(t, q.Outcome, sample.Canceled)
	}
	assert.Equal(t, r.records[0].Failed(), "")
}

// TestOpenAhead checks that no request has to open its own connection.
func TestOpenAhead(t *testing.T) {
	_, url := serve(t, mockserver.Config{TTFT: 20 * time.Millisecond}, nil)
	r := start(t, prelude+`
		export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 16, iterations: 2 } } };
		const client = new Client();
		export default function () { client.chat({ prompt: 'one', maxTokens: 2 }); }
	`, []string{"LLMBENCH_URL=" + url})()
	assert.Equal(t, r.code, 0, "%s", r.out)
	assert.Equal(t, r.records[0].Len(), 32)
	for q := range r.records[0].All() {
		assert.Equal(t, q.Connect, time.Duration(0))
	}
}

// TestAborted checks that the records say whether the test was cut off. A threshold that is crossed at the
// end does not cut off the test.
func TestAborted(t *testing.T) {
	_, url := serve(t, mockserver.Config{}, nil)
	for _, tt := range []struct {
		name, options, call string
		code                int
		why                 string
	}{
		{"ends well", `{}`, ``, 0, ""},
		{"threshold", `{ thresholds: { llm_requests: ['count>1'] } }`, ``, 99, ""},
		{"marked as failed", `{}`, `exec.test.fail('slow');`, 110, ""},
		{"aborted", `{}`, `exec.test.abort('enough');`, 108, "test aborted: enough"},
	} {
		r := start(t, prelude+`
			export const options = `+tt.options+`;
			const client = new Client();
			export default function () { client.chat({ prompt: 'one', maxTokens: 1 }); `+tt.call+` }
		`, []string{"LLMBENCH_URL=" + url})()
		assert.Equal(t, r.code, tt.code, "%s: %s", tt.name, r.out)
		assert.Equal(t, len(r.records), 1, tt.name)
		assert.Equal(t, r.records[0].Len(), 1, tt.name)
		assert.Equal(t, strings.Contains(r.records[0].Failed(), tt.why), true, "%s: %s", tt.name, r.records[0].Failed())
		assert.Equal(t, r.records[0].Failed() == "", tt.why == "", "%s: %s", tt.name, r.records[0].Failed())
	}
}

// TestRecordsFail checks that a test whose records cannot be written is aborted.
func TestRecordsFail(t *testing.T) {
	_, url := serve(t, mockserver.Config{}, nil)
	file := filepath.Join(t.TempDir(), "file")
	assert.NilError(t, os.WriteFile(file, nil, 0o600))
	r := start(t, prelude+`
		export const options = { vus: 2, iterations: 1000000 };
		const client = new Client();
		export default function () { client.chat({ prompt: 'one', maxTokens: 1 }); }
	`, []string{"LLMBENCH_URL=" + url, "LLMBENCH_OUT=" + file})()
	assert.Equal(t, r.code, 108, "%s", r.out)
	assert.Assert(t, strings.Contains(r.out, "k6/x/llmbench: LLMBENCH_OUT: "), r.out)
}

// TestDialects checks each method, and the options whose effects a script can see.
func TestDialects(t *testing.T) {
	var mu sync.Mutex
	paths := map[string]int{}
	_, url := serve(t, mockserver.Config{}, func(r *http.Request, _ []byte) {
		mu.Lock()
		defer mu.Unlock()
		paths[r.URL.Path]++
	})
	r := start(t, prelude+`
		const cases = [
			[{}, 'chat', '/v1/chat/completions'],
			[{ stream: false }, 'chat', '/v1/chat/completions'],
			[{}, 'completion', '/v1/completions'],
			[{ dialect: 'openai-responses' }, 'chat', '/v1/responses'],
			[{ dialect: 'tgi' }, 'completion', '/generate_stream'],
			[{ dialect: 'llamacpp' }, 'completion', '/completion'],
			[{ dialect: 'ollama' }, 'chat', '/api/chat'],
		];
		const clients = cases.map(([o, method]) => [new Client({ ...o, keepText: true, timeout: 60000, model: 'm' }), method]);
		export default function () {
			for (const [client, method] of clients) {
				const r = client[method]({ prompt: 'one two', maxTokens: 3 });
				if (!r.ok || r.text.trim() !== 'the quick brown' || r.outputTokens !== 3) { exec.test.fail(JSON.stringify(r)); console.error(JSON.stringify(r)); }
			}
			const r = clients[0][0].chat({ messages: [{ role: 'system', content: 'be brief' }, { role: 'user', content: 'hello' }],
				tools: [{ name: 'f', parameters: { type: 'object', properties: { a: { type: 'string' } } } }], maxTokens: 64 });
			if (r.toolNames !== 'f' || r.ttft === null) { exec.test.fail(); console.error(JSON.stringify(r)); }
			const whole = clients[1][0].chat({ prompt: 'one', maxTokens: 1 });
			if (whole.ttft !== null || !(whole.e2e > 0)) { exec.test.fail(); console.error(JSON.stringify(whole)); }
		}
	`, []string{"LLMBENCH_URL=" + url})()
	assert.Equal(t, r.code, 0, "%s", r.out)
	assert.DeepEqual(t, paths, map[string]int{"/v1/chat/completions": 4, "/v1/completions": 1, "/v1/responses": 1, "/generate_stream": 1, "/completion": 1, "/api/chat": 1})
	assert.Equal(t, len(r.records), 7)
}

// TestSharing checks that the clients of all VUs write one file of records per method, even if their tags
// differ, and that requests may come from data that VUs share.
func TestSharing(t *testing.T) {
	_, url := serve(t, mockserver.Config{}, nil)
	r := start(t, prelude+`
		import { SharedArray } from 'k6/data';
		const data = new SharedArray('requests', () => [{ messages: [{ role: 'user', content: 'one two' }], maxTokens: 3, tags: { kind: 'a' } }]);
		const client = new Client(__VU % 2 ? { name: 'mine', model: 'm', tags: { vu: __VU } } : { model: 'm', name: 'mine' });
		export const options = { scenarios: { a: { executor: 'per-vu-iterations', vus: 4, iterations: 3 } } };
		export default function () {
			const r = client.chat(data[0]);
			const s = client.completion({ prompt: 'one', maxTokens: 1 });
			if (!r.ok || !s.ok) { exec.test.fail(); console.error(JSON.stringify([r, s])); }
		}
	`, []string{"LLMBENCH_URL=" + url})()
	assert.Equal(t, r.code, 0, "%s", r.out)
	lengths := map[string]int{}
	for _, one := range r.records {
		lengths[one.Head.Benchmark] += one.Len()
	}
	assert.DeepEqual(t, lengths, map[string]int{"mine/dialect=openai-chat": 12, "mine/dialect=openai-completions": 12})
	assert.Equal(t, len(r.records), 2)
}

// TestBadArguments checks that an invalid argument throws an exception that names the field, its value and
// what is allowed, and that nothing is sent.
func TestBadArguments(t *testing.T) {
	mock, url := serve(t, mockserver.Config{}, nil)
	cases := []struct{ code, want string }{
		{`new Client('http://host')`, `Client: "http://host": want an object`},
		{`new Client({ model: 7 })`, `Client: model 7: want a string that is not empty`},
		{`new Client({ modle: 'm' })`, `Client: modle is no field, and model is the nearest: want fields of name, url, model, `},
		{`new Client({ dialect: 'openai' })`, `Client: dialect "openai": want one of `},
		{`new Client({ url: 'ftp://host' })`, `Client: target: URL "ftp://host": want a base URL`},
		{`new Client({ timeout: 'soon' })`, `Client: timeout "soon": want a duration above 0, such as "10s", or a number of milliseconds`},
		{`new Client({ idleTimeout: -1 })`, `Client: idleTimeout -1: want a duration above 0`},
		{`new Client({ stream: 'no' })`, `Client: stream "no": want true or false`},
		{`new Client({ slo: 'fast' })`, `Client: slo "fast": want limits like ttft=500ms`},
		{`new Client({ slo: 'ttft=1s', stream: false })`, `Client: slo ttft=1s: answers that are not streamed have no TTFT and no TPOT`},
		{`new Client({ header: ['secret'] })`, `Client: header of type Array: want an object of strings`},
		{`new Client({ header: { A: { secret: 1 } } })`, `Client: header.A of type Object: want an object of strings`},
		{`new Client({ header: { 'A B': 'secret' } })`, `Client: target: header "A B": want letters, digits and hyphens`},
		{`new Client({ body: 'secret' })`, `Client: body of type string: want an object that JSON can express`},
		{`new Client({ body: { stream: true } })`, `Client: target: body: `},
		{`client.chat()`, `chat: prompt or messages missing: want one of them`},
		{`client.chat('Hello')`, `chat: "Hello": want an object`},
		{`client.chat({ prompt: 'a' })`, `chat: maxTokens missing: want a whole number of at least 1`},
		{`client.chat({ prompt: 'a', maxTokens: 1.5 })`, `chat: maxTokens 1.5: want a whole number from 1 to 2147483647`},
		{`client.chat({ prompt: 'a', maxTokens: '8' })`, `chat: maxTokens "8": want a whole number from 1 to 2147483647`},
		{`client.chat({ prompt: 'a', max_tokens: 8 })`, `chat: max_tokens is no field, and maxTokens is the nearest: want fields of prompt, messages, `},
		{`client.chat({ prompt: '', maxTokens: 8 })`, `chat: prompt "": want a string that is not empty`},
		{`client.chat({ prompt: 'a', messages: [{ role: 'user', content: 'b' }], maxTokens: 8 })`, `chat: prompt and messages present: want one of them`},
		{`client.chat({ messages: 'a', maxTokens: 8 })`, `chat: messages "a": want an array of messages such as`},
		{`client.chat({ messages: [], maxTokens: 8 })`, `chat: messages []: want an array of messages such as`},
		{`client.chat({ messages: [{ role: 'user', contents: 'b' }], maxTokens: 8 })`, `chat: messages[0].contents is no field, and content is the nearest: want fields of role, content`},
		{`client.chat({ messages: [{ role: 'user' }], maxTokens: 8 })`, `chat: messages[0].role or content missing: want both`},
		{`client.chat({ messages: ['b'], maxTokens: 8 })`, `chat: messages[0] "b": want an object`},
		{`client.chat({ prompt: 'a', maxTokens: 8, tags: { a: {} } })`, `chat: tags.a of type Object: want an object of strings, numbers and booleans`},
		{`client.completion({ messages: [], maxTokens: 8 })`, `completion: messages is no field`},
		{`tgi.chat({ prompt: 'a', maxTokens: 8 })`, `chat: dialect "tgi" has no conversations: want completion, or another dialect`},
		{`ollama.completion({ prompt: 'a', maxTokens: 8 })`, `completion: dialect "ollama" has conversations: want chat, or another dialect`},
	}
	var calls []string
	for _, c := range cases {
		calls = append(calls, "() => "+c.code)
	}
	r := start(t, prelude+`
		const client = new Client(), tgi = new Client({ dialect: 'tgi' }), ollama = new Client({ dialect: 'ollama' });
		let early = '';
		try { client.chat({ prompt: 'a', maxTokens: 8 }); } catch (e) { early = e.message; }
		export default function () {
			console.log('EARLY ' + early);
			[`+strings.Join(calls, ",\n")+`].forEach((call, i) => { try { call(); console.log('CASE ' + i + ' none'); } catch (e) { console.log('CASE ' + i + ' ' + e.message); } });
		}
	`, []string{"LLMBENCH_URL=" + url}, "--log-format=raw")()
	assert.Equal(t, r.code, 0, "%s", r.out)
	assert.Assert(t, strings.Contains(r.out, "EARLY k6/x/llmbench: chat: no request can be sent in the init context: want a call in a function that k6 runs\n"), r.out)
	lines := slices.Collect(strings.Lines(r.out))
	for i, c := range cases {
		prefix := fmt.Sprintf("CASE %d ", i)
		at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) })
		assert.Assert(t, at >= 0, "%s: %s", c.code, r.out)
		assert.Check(t, strings.HasPrefix(lines[at], prefix+"k6/x/llmbench: "+c.want), "%s: %s", c.code, lines[at])
		assert.Check(t, !strings.Contains(lines[at], "secret"), lines[at])
	}
	assert.Equal(t, len(mock.Log()), 0)
	assert.Equal(t, len(r.records), 0)
}

// TestBadEnvironment checks that k6 does not start if a variable is invalid.
func TestBadEnvironment(t *testing.T) {
	script := prelude + `const client = new Client({ url: 'http://127.0.0.1:1' }); export default function () {}`
	for variable, want := range map[string]string{
		"LLMBENCH_TIMEOUT=soon":          `LLMBENCH_TIMEOUT`,
		"LLMBENCH_MODLE=m":               `LLMBENCH_MODEL`,
		"LLMBENCH_API_KEY=0123456789abc": `LLMBENCH_URL`,
		"LLMBENCH_URL=http://127.0.0.1:2 LLMBENCH_API_KEY=0123456789abc": `Client: url differs from LLMBENCH_URL, and LLMBENCH_API_KEY`,
	} {
		r := start(t, script, strings.Fields(variable))()
		assert.Equal(t, r.code, 107, "%s: %s", variable, r.out)
		assert.Assert(t, strings.Contains(r.out, want), "%s: %s", variable, r.out)
		assert.Assert(t, !strings.Contains(r.out, "0123456789abc"), r.out)
	}
}

// TestTags checks the tags of the metrics, and that neither k6 nor the client writes a credential anywhere.
func TestTags(t *testing.T) {
	const key = "sk-0123456789abcdef"
	var mu sync.Mutex
	keys := map[string]int{}
	_, url := serve(t, mockserver.Config{Faults: []fault.Fault{{Kind: fault.HTTP401, Every: 2}}}, func(r *http.Request, _ []byte) {
		mu.Lock()
		defer mu.Unlock()
		keys[r.Header.Get("Authorization")]++
	})
	out := filepath.Join(t.TempDir(), "metrics.json")
	r := start(t, prelude+`
		export const options = { vus: 1, iterations: 4, tags: { test: 'a' } };
		const client = new Client({ model: 'm', tags: { team: 'b', turn: 0 } });
		export default function () { console.log(JSON.stringify(client.chat({ prompt: 'one', maxTokens: 1, tags: { turn: __ITER } }))); }
	`, []string{"LLMBENCH_URL=" + url, "LLMBENCH_API_KEY=" + key}, "--out=json="+out)()
	assert.Equal(t, r.code, 0, "%s", r.out)
	assert.DeepEqual(t, keys, map[string]int{"Bearer " + key: 4})
	text, err := os.ReadFile(out)
	assert.NilError(t, err)
	written := string(text) + r.out
	for _, one := range r.records {
		file, err := os.ReadFile(one.Name)
		assert.NilError(t, err)
		written += string(file)
	}
	assert.Assert(t, !strings.Contains(written, key))

	seen := map[string]map[string]string{}
	for line := range bytes.Lines(text) {
		var point struct {
			Metric, Type string
			Data         struct{ Tags map[string]string }
		}
		assert.NilError(t, json.Unmarshal(line, &point))
		if turn := point.Data.Tags["turn"]; point.Type == "Point" && strings.HasPrefix(point.Metric, "llm_") {
			seen[point.Metric+" "+turn] = point.Data.Tags
		}
	}
	common := map[string]string{"dialect": "openai-chat", "model": "m", "scenario": "default", "team": "b", "test": "a", "group": "", "turn": "0"}
	delete(seen["llm_ttft 0"], "group")
	delete(common, "group")
	assert.DeepEqual(t, seen["llm_ttft 0"], common)
	assert.Equal(t, seen["llm_requests 0"]["outcome"], "ok")
	assert.Equal(t, seen["llm_requests 1"]["outcome"], "http")
	_, failed := seen["llm_ttft 1"]
	assert.Assert(t, !failed, "%v", slices.Sorted(maps.Keys(seen)))
}

// TestExample checks that the example script passes with a fast server and fails with a slow one.
func TestExample(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("examples", "slo.js"))
	assert.NilError(t, err)
	for _, tt := range []struct {
		ttft time.Duration
		code int
	}{{time.Millisecond, 0}, {time.Second, 99}} {
		_, url := serve(t, mockserver.Config{TTFT: tt.ttft}, nil)
		// The machine may be busy; its own delay is not judged here.
		lenient := strings.NewReplacer("p(99)<50", "p(99)<50000", "p(95)<500'", "p(95)<900'", "ttft=500ms", "ttft=900ms", "count==0", "count<1000").Replace(string(script))
		r := start(t, lenient, []string{"LLMBENCH_URL=" + url, "RATE=10", "RAMP=1s", "DURATION=1s", "MAX_VUS=40"})()
		assert.Equal(t, r.code, tt.code, "%s", r.out)
		assert.Assert(t, r.records[0].Len() >= 5, "%d", r.records[0].Len())
	}
}
