//go:build unix

package enginetest_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/enginetest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
)

// gatewayDocument has the configuration files of gateways.
const gatewayDocument = "../../../../scenarios/GATEWAY.md"

// example matches a configuration file in the document, and the command that uses it.
var example = regexp.MustCompile("(?m)^`(\\S+)`, started by `([^`]+)`:\n\n```\\w*\n((?s:.*?))^```$")

// gatewayChecks are what is asked of each gateway.
var gatewayChecks = []struct {
	name string
	of   func(enginetest.Gateway) bool // nil means all gateways
	run  func(*testing.T, gatewayContract)
}{
	{"overhead", nil, checkOverhead},
	{"buffers", func(g enginetest.Gateway) bool { return g.Buffers != nil }, checkBuffers},
	{"faults", nil, checkFaults},
	{"closed connections", nil, checkClosed},
	{"balance", func(g enginetest.Gateway) bool { return g.Router() || g.Second != nil }, checkBalance},
	{"a replica dies", func(g enginetest.Gateway) bool { return g.Router() || g.Second != nil }, checkDeath},
}

// TestGateways measures each gateway in front of simulated servers as users do, by a program of the scenarios in another
// process that starts the gateway as GATEWAY.md says, and compares the results with the servers' logs.
func TestGateways(t *testing.T) {
	files := map[string]string{}
	text, err := os.ReadFile(gatewayDocument)
	assert.NilError(t, err)
	for _, m := range example.FindAllStringSubmatch(string(text), -1) {
		files[m[1]] = m[3]
	}
	t.Parallel()
	var wg sync.WaitGroup
	passed := make([]*gatewayContract, len(enginetest.Gateways))
	for i, g := range enginetest.Gateways {
		// The gateways run at the same time, however few processors there are, because they mostly wait.
		test := func(t *testing.T) {
			if testing.Short() {
				t.Skip("-short: a real gateway takes seconds")
			}
			if !g.Each && !*demand {
				t.Skipf("%s runs on demand: go run ./.ci/engines -gateways -check %[1]s", g.Name)
			}
			c := gatewayContract{g, files[g.Template], g.Bin(t), scenariostest.Program(t), map[fault.Kind]string{}}
			assert.Assert(t, (c.file == "") == (g.Template == ""), "GATEWAY.md has no %s", g.Template)
			for _, check := range gatewayChecks {
				if check.of == nil || check.of(g) {
					t.Run(check.name, func(t *testing.T) {
						haveTime(t)
						check.run(t, c)
					})
				}
			}
			if !t.Failed() {
				passed[i] = &c
			}
		}
		wg.Go(func() { t.Run(g.Name, test) })
	}
	wg.Wait()
	for _, c := range passed {
		if c != nil && golden.FlagUpdate() {
			c.document(t)
		}
	}
}

// TestGatewayDocument checks that GATEWAY.md has the file and the command of each gateway that wants a file, and no other
// ones.
func TestGatewayDocument(t *testing.T) {
	text, err := os.ReadFile(gatewayDocument)
	assert.NilError(t, err)
	documented, tested := map[string]string{}, map[string]string{}
	for _, m := range example.FindAllStringSubmatch(string(text), -1) {
		documented[m[1]] = m[2]
		for _, g := range enginetest.Gateways {
			for _, change := range []*enginetest.Change{g.Buffers, g.Second, g.Timeout} {
				if change != nil && g.Template == m[1] {
					_, err := change.Of(m[3])
					assert.NilError(t, err)
				}
			}
		}
	}
	for _, g := range enginetest.Gateways {
		if g.Template != "" {
			tested[g.Template] = g.Command
		}
	}
	assert.DeepEqual(t, documented, tested)
}

// A gatewayContract is a gateway that is measured.
type gatewayContract struct {
	enginetest.Gateway
	file    string                // the configuration file, as GATEWAY.md has it
	bin     string                // folder of the gateway's program
	program string                // the scenarios
	looks   map[fault.Kind]string // what clients saw of streams that broke in these ways
}

// pace is the speed of the simulated servers. Tokens are so far apart that a busy machine does not make bursts of them.
var pace = mockserver.Config{TTFT: 20 * time.Millisecond, PerToken: 10 * time.Millisecond}

// A gatewayRun is one run of a scenario through a gateway.
type gatewayRun struct {
	measurement
	requests map[string]recorded // that were measured, by their X-Request-Id
}

// A recorded is a request as the records have it.
type recorded struct {
	ID      string        `json:"id"`
	Start   time.Duration `json:"start_ns"`
	First   time.Duration `json:"first_ns"`
	End     time.Duration `json:"end_ns"`
	Outcome string        `json:"outcome"`
	Error   string        `json:"error"`

	gateway bool // it went through the gateway, and not to the server directly
	stream  bool
}

// measure starts the gateway with a change of its file, in front of the servers at the URLs, and runs
// benchmarks for a number of rounds.
func (c gatewayContract) measure(t *testing.T, rounds int, urls []string, change *enginetest.Change, bench string, env ...string) gatewayRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), measureTimeout)
	defer cancel()
	dir, out := t.TempDir(), t.TempDir()
	cmd := exec.CommandContext(ctx, c.program, "-test.run=^$", "-test.bench="+bench, fmt.Sprintf("-test.benchtime=%dx", rounds))
	cmd.WaitDelay = waitDelay
	cmd.Env = append(os.Environ(), "PATH="+c.bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"LLMBENCH_BACKEND=process", "LLMBENCH_COMMAND="+strings.ReplaceAll(c.Command, "{urls}", strings.Join(urls, " ")), "LLMBENCH_READY=5m",
		"LLMBENCH_DIRECT="+urls[0], "LLMBENCH_MODEL=mock", "LLMBENCH_OUT="+out, "LLMBENCH_INPUT=32",
		"LLMBENCH_CLIENT_BOUND=report") // the client shares its CPU cores with other tests
	if c.Template != "" {
		file := c.file
		for _, ch := range []*enginetest.Change{change, c.Second} {
			if ch == nil || ch == c.Second && len(urls) == 1 {
				continue
			}
			var err error
			file, err = ch.Of(file)
			assert.NilError(t, err)
		}
		if len(urls) > 1 {
			second := strings.TrimPrefix(urls[1], "http://")
			file = strings.NewReplacer("{second}", second, "{second-port}", second[strings.LastIndex(second, ":")+1:]).Replace(file)
		}
		path := filepath.Join(dir, c.Template)
		assert.NilError(t, os.WriteFile(path, []byte(file), 0o600))
		cmd.Env = append(cmd.Env, "LLMBENCH_TEMPLATES="+path)
	}
	if c.Loses {
		cmd.Env = append(cmd.Env, "LLMBENCH_MAX_FAIL=0.5")
	}
	cmd.Env = append(cmd.Env, env...) // the last value of a variable counts
	text, err := cmd.CombinedOutput()
	return gatewayRun{read(t, string(text), err, out), recordsIn(t, out)}
}

// recordsIn returns the requests in the records in a folder, by their X-Request-Id.
func recordsIn(t *testing.T, folder string) map[string]recorded {
	t.Helper()
	all := map[string]recorded{}
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	assert.NilError(t, err)
	for _, path := range files {
		text, err := os.ReadFile(path)
		assert.NilError(t, err)
		gateway, stream := !bytes.Contains(text, []byte("/via=direct")), !bytes.Contains(text, []byte("/stream=false"))
		for line := range bytes.Lines(text) {
			q := recorded{gateway: gateway, stream: stream}
			if json.Unmarshal(line, &q) == nil && q.ID != "" {
				all[q.ID] = q
			}
		}
	}
	return all
}

// entries returns the last entry of each request in the logs, by its X-Request-Id.
func entries(servers ...*mockserver.Server) map[string]mockserver.Entry {
	all := map[string]mockserver.Entry{}
	for _, s := range servers {
		for _, e := range s.Log() {
			if last, known := all[e.ID]; !known || complete(e) || !complete(last) {
				all[e.ID] = e
			}
		}
	}
	return all
}

// complete reports whether the server has sent a whole answer.
func complete(e mockserver.Entry) bool {
	return e.Status == http.StatusOK && !e.Aborted && e.Fault == ""
}

// agree checks that each request ended at the client as it ended at the server, and returns how many ended in which way.
func (c gatewayContract) agree(t *testing.T, r gatewayRun, servers ...*mockserver.Server) map[string]int {
	t.Helper()
	log := entries(servers...)
	outcomes := map[string]int{}
	for id, q := range r.requests {
		e, known := log[id]
		outcomes[q.Outcome]++
		switch {
		case c.Rewrites: // the log has other IDs
		case q.Outcome == "ok":
			assert.Check(t, known && complete(e), "%s succeeded at the client: %+v", id, e)
		case q.Outcome == "shed":
			assert.Check(t, !known || e.Status == http.StatusTooManyRequests, "%s was shed at the client: %s: %+v", id, q.Error, e)
		default:
			assert.Check(t, c.Loses || !known || !complete(e), "%s failed at the client, and not at the server: %s: %s: %+v", id, q.Outcome, q.Error, e)
		}
	}
	return outcomes
}

// gatewayLoad is a small load.
func gatewayLoad(users, requests int, more ...string) []string {
	return append(more, fmt.Sprintf("LLMBENCH_CONCURRENCY=%d", users), fmt.Sprintf("LLMBENCH_REQUESTS=%d", requests), "LLMBENCH_OUTPUT=24")
}

const buffersNote = "the gateway buffers streams"

// checkOverhead compares what the gateway adds with what it adds by the server's log, which this process has.
func checkOverhead(t *testing.T, c gatewayContract) {
	server, url := mockserver.Start(t, pace)
	r := c.measure(t, 1, []string{url}, nil, "^BenchmarkGatewayOverhead$", gatewayLoad(4, 16)...)
	assert.NilError(t, r.err, "%s", r.out)
	assert.Equal(t, strings.Contains(r.out, "what the gateway adds is computed for each request"), !c.Rewrites, "%s", r.out)
	if c.Rewrites {
		assert.Assert(t, strings.Contains(r.out, " added-e2e-ms") && strings.Contains(r.out, " added-whole-ms"), "%s", r.out)
		return
	}
	assert.Assert(t, !strings.Contains(r.out, buffersNote), "%s", r.out)
	outcomes := c.agree(t, r, server)
	assert.Assert(t, outcomes["ok"] == 4*16 || c.Loses && outcomes["ok"] >= 4*12, "%v", outcomes)
	log := entries(server)
	for _, tt := range []struct {
		unit   string
		stream bool
		added  func(recorded, mockserver.Entry) time.Duration
	}{
		{"added-ttft-ms", true, func(q recorded, e mockserver.Entry) time.Duration {
			return q.First - q.Start - (e.Tokens[0] - cmp.Or(e.Received, e.Accepted))
		}},
		{"added-whole-ms", false, func(q recorded, e mockserver.Entry) time.Duration {
			return q.End - q.Start - (e.End - cmp.Or(e.Received, e.Accepted))
		}},
	} {
		var direct, through []time.Duration
		for id, q := range r.requests {
			switch {
			case q.stream != tt.stream || q.Outcome != "ok":
			case q.gateway:
				through = append(through, tt.added(q, log[id]))
			default:
				direct = append(direct, tt.added(q, log[id]))
			}
		}
		own := (middle(through) - middle(direct)).Seconds() * 1000
		tolerated := (spread(through)+spread(direct)).Seconds()*1000 + 0.05 // the unit is another estimate of the same shift
		for _, row := range r.rows {
			if v, has := row.Value(tt.unit); has {
				t.Logf("%s %.3g, by the log %.3g", tt.unit, v, own)
				assert.Check(t, math.Abs(v-own) <= tolerated, "%s %v: by the log %v ± %v", tt.unit, v, own, tolerated)
			}
		}
		assert.Check(t, strings.Contains(r.out, tt.unit), "%s", r.out)
	}
}

// middle returns the median, and spread the distance of the quartiles.
func middle(all []time.Duration) time.Duration { slices.Sort(all); return all[len(all)/2] }
func spread(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*3/4] - all[len(all)/4]
}

// checkBuffers checks that a gateway that buffers is told, and that figures without meaning are omitted.
func checkBuffers(t *testing.T, c gatewayContract) {
	_, url := mockserver.Start(t, pace)
	r := c.measure(t, 1, []string{url}, c.Buffers, "^BenchmarkGatewayOverhead$/./././^stream=true$", gatewayLoad(4, 12)...)
	assert.NilError(t, r.err, "%s", r.out)
	assert.Assert(t, strings.Contains(r.out, "\n# GatewayOverhead, concurrency=4: "+buffersNote), "%s", r.out)
	assert.Assert(t, strings.Contains(r.out, " added-e2e-ms") && !strings.Contains(r.out, " added-ttft-ms") && !strings.Contains(r.out, " added-itl-ms"), "%s", r.out)
}

// checkFaults breaks streams in several ways, and refuses requests.
func checkFaults(t *testing.T, c gatewayContract) {
	cfg := pace
	cfg.Faults = []fault.Fault{{Kind: fault.Truncate, Every: 5, At: 4}, {Kind: fault.Reset, Every: 6, At: 4}, {Kind: fault.HTTP429, Every: 7}}
	if c.Timeout != nil {
		cfg.Faults = append(cfg.Faults, fault.Fault{Kind: fault.Stall, Every: 4, At: 4})
	}
	server, url := mockserver.Start(t, cfg)
	r := c.measure(t, 1, []string{url}, c.Timeout, "^BenchmarkServe$", gatewayLoad(8, 48, "LLMBENCH_MAX_FAIL=1", "LLMBENCH_MAX_SHED=1", "LLMBENCH_WARMUP=0")...)
	assert.NilError(t, r.err, "%s", r.out)
	assert.Equal(t, len(r.requests), 48, "%s", r.out)
	outcomes := c.agree(t, r, server)
	if c.Rewrites { // it also sends refused requests again
		assert.Assert(t, outcomes["ok"] > 0, "%v", outcomes)
		assert.Assert(t, strings.Contains(r.out, "answers are shorter than asked"), "%s", r.out)
		c.looks["reset"] = "a complete, shorter answer"
		return
	}
	assert.Assert(t, outcomes["ok"] > 0 && len(outcomes) > 1, "%v", outcomes)
	log := entries(server)
	for id, q := range r.requests {
		if e := log[id]; q.Outcome != "ok" && q.Outcome != "shed" && e.Fault != fault.Truncate {
			c.looks[e.Fault] = about(q)
		}
	}
	t.Logf("%v", c.looks)
}

// about says in a few words what the client saw of a request that failed.
func about(q recorded) string {
	text, _, _ := strings.Cut(q.Error, " after ")
	switch {
	case strings.Contains(text, "neither a finish reason nor [DONE]"):
		return "ends without [DONE]"
	case q.Outcome == "server-error":
		return "an error event"
	case q.Outcome == "truncated":
		return "cut: " + text
	}
	return q.Outcome
}

// checkClosed closes each kept connection of the gateway after a moment. No request may be lost. Connections are kept
// until the first completion: smg asks the server for its models when it starts, and forgets them if that connection ends.
// A gateway may also forget a request, as smg 1.13 did with 3 of 24,000: the client then says that the request timed out.
func checkClosed(t *testing.T, c gatewayContract) {
	server, err := mockserver.New(pace)
	assert.NilError(t, err)
	closes := httptest.NewUnstartedServer(server)
	closes.Config.IdleTimeout = time.Millisecond
	closes.Listener = patient{closes.Listener, func() bool { return len(server.Log()) == 0 }}
	closes.Start()
	defer closes.Close()
	r := c.measure(t, 1, []string{closes.URL}, nil, "^BenchmarkServe$", gatewayLoad(4, 32, "LLMBENCH_MAX_FAIL=1", "LLMBENCH_WARMUP=0", "LLMBENCH_TIMEOUT=20s")...)
	assert.NilError(t, r.err, "%s", r.out)
	outcomes := c.agree(t, r, server)
	assert.Assert(t, outcomes["ok"] > 16, "%v", outcomes)
	t.Logf("%v", outcomes)
}

// A patient listener accepts connections that do not end for being idle while its function returns true.
type patient struct {
	net.Listener
	keeps func() bool
}

func (p patient) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	return &patientConn{conn, p.keeps}, err
}

type patientConn struct {
	net.Conn
	keeps func() bool
}

// SetReadDeadline omits the deadline of an idle connection, the only one of a server without ReadTimeout that is not in
// the past.
func (p *patientConn) SetReadDeadline(at time.Time) error {
	if time.Until(at) > 0 && p.keeps() {
		at = time.Time{}
	}
	return p.Conn.SetReadDeadline(at)
}

// checkBalance compares the hits of two prefix caches and the balance with what the servers' logs say.
func checkBalance(t *testing.T, c gatewayContract) {
	first, url := mockserver.Start(t, mockserver.PrefixCaching())
	second, other := mockserver.Start(t, mockserver.PrefixCaching())
	r := c.measure(t, 1, []string{url, other}, nil, "^BenchmarkRouting$", "LLMBENCH_INPUT=", "LLMBENCH_REQUESTS=64", "LLMBENCH_METRICS="+url+"/metrics,"+other+"/metrics")
	assert.NilError(t, r.err, "%s", r.out)
	c.agree(t, r, first, second)
	requests, cached, prompt := []float64{0, 0}, 0, 0
	for i, s := range []*mockserver.Server{first, second} {
		for _, e := range s.Log() {
			if _, measured := r.requests[e.ID]; measured {
				requests[i]++
				cached, prompt = cached+e.CachedTokens, prompt+e.PromptTokens
			}
		}
	}
	hits, imbalance := r.value(t, "srv-prefix-hit-%"), r.value(t, "srv-imbalance")
	t.Logf("hits %.4g %%, imbalance %.4g; %v requests", hits, imbalance, requests)
	assert.Assert(t, math.Abs(hits-100*float64(cached)/float64(prompt)) < 0.01, "%v %%: the logs have %d of %d tokens", hits, cached, prompt) // four digits are printed
	assert.Assert(t, math.Abs(imbalance-2*slices.Max(requests)/(requests[0]+requests[1])) < 0.001, "%v: the logs have %v", imbalance, requests)
}

// address matches the port of an address in the document.
var address = regexp.MustCompile(`127\.0\.0\.1:(\d+)|port (\d+)`)

// TestRoutingCommands runs the commands of GATEWAY.md that ask whether a router sends equal beginnings to one server, at
// other ports, and compares the results with the servers' logs.
func TestRoutingCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a real router takes seconds")
	}
	i := slices.IndexFunc(enginetest.Gateways, func(g enginetest.Gateway) bool { return g.Name == "smg" })
	bin := enginetest.Gateways[i].Bin(t)
	t.Parallel()
	text, err := os.ReadFile(gatewayDocument)
	assert.NilError(t, err)
	_, section, found := strings.Cut(string(text), "\n### Does a router send equal beginnings to one server?\n")
	assert.Assert(t, found)
	block := regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindString(section)
	tools, out := t.TempDir(), t.TempDir()
	build := exec.Command("go", "build", "-o", tools, "github.com/seed-2b9cec6d/llmbench/mockserver/cmd/mockserver")
	output, err := build.CombinedOutput()
	assert.NilError(t, err, "%s", output)
	ports := freePorts(t, 6) // of four servers, and of the router and its metrics
	at := map[string]int{"8000": ports, "8001": ports + 1, "8002": ports + 2, "8003": ports + 3, "8080": ports + 4, "8081": ports + 5}
	block = address.ReplaceAllStringFunc(strings.ReplaceAll(block, "/tmp/mockserver", filepath.Join(tools, "mockserver")), func(a string) string {
		i := strings.LastIndexAny(a, ": ") + 1
		return a[:i] + fmt.Sprint(at[a[i:]])
	})
	script := filepath.Join(tools, "script")
	assert.NilError(t, os.WriteFile(script, []byte("trap 'kill %1 %2; wait' EXIT\n"+block+"status=$?\nfor port in 0 1 2 3; do curl -sS http://127.0.0.1:$((PORT + port))/mock/log >$LLMBENCH_OUT/log$port; done\nexit $status\n"), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), measureTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", script)
	cmd.WaitDelay = waitDelay
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "LLMBENCH_OUT="+out, fmt.Sprint("PORT=", ports), "LLMBENCH_CLIENT_BOUND=report")
	output, err = cmd.CombinedOutput()
	r := gatewayRun{read(t, string(output), err, out), recordsIn(t, out)}
	assert.NilError(t, r.err, "%s", r.out)
	requests, cached, prompt := make([]float64, 4), 0, 0
	for i := range requests {
		var log []mockserver.Entry
		text, err := os.ReadFile(filepath.Join(out, fmt.Sprint("log", i)))
		assert.NilError(t, err)
		assert.NilError(t, json.Unmarshal(text, &log))
		for _, e := range log {
			if _, measured := r.requests[e.ID]; measured {
				requests[i]++
				cached, prompt = cached+e.CachedTokens, prompt+e.PromptTokens
			}
		}
	}
	hits, imbalance := r.value(t, "srv-prefix-hit-%"), r.value(t, "srv-imbalance")
	t.Logf("hits %.4g %%, imbalance %.4g; %v requests", hits, imbalance, requests)
	assert.Assert(t, math.Abs(hits-100*float64(cached)/float64(prompt)) < 0.01, "%v %%: the logs have %d of %d tokens", hits, cached, prompt) // four digits are printed
	assert.Assert(t, math.Abs(imbalance-4*slices.Max(requests)/sum(requests)) < 0.001, "%v: the logs have %v", imbalance, requests)
}

func sum(all []float64) (total float64) {
	for _, v := range all {
		total += v
	}
	return total
}

// freePorts returns the first of n successive ports of 127.0.0.1 on which nothing listens.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	for range 100 {
		first := 10_000 + rand.IntN(20_000)
		free := 0
		for ; free < n; free++ {
			l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", first+free))
			if err != nil {
				break
			}
			assert.NilError(t, l.Close())
		}
		if free == n {
			return first
		}
	}
	t.Fatal("no free ports")
	return 0
}

// checkDeath ends one of two servers in the middle of a run.
func checkDeath(t *testing.T, c gatewayContract) {
	dies := pace
	dies.Faults = []fault.Fault{{Kind: fault.Die, Every: 12, At: 4}}
	first, url := mockserver.Start(t, pace)
	second, other := mockserver.Start(t, dies)
	r := c.measure(t, 1, []string{url, other}, nil, "^BenchmarkServe$", gatewayLoad(4, 48, "LLMBENCH_MAX_FAIL=1", "LLMBENCH_WARMUP=0", "LLMBENCH_TIMEOUT=20s")...)
	assert.NilError(t, r.err, "%s", r.out)
	outcomes := c.agree(t, r, first, second)
	assert.Assert(t, outcomes["ok"] > 20, "%v", outcomes)
	t.Logf("%v; %d requests at the server that died, %d at the other one", outcomes, len(second.Log()), len(first.Log()))
}
