package llmbench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// shardsVariant is the environment variable that makes one shard of helperShards different from the others.
const shardsVariant = "TEST_VARIANT_OF_THE_SHARD"

// shardLoads returns the loads of helperShards, keyed by name.
func shardLoads() map[string]Load {
	numbered := func(n, from int) []Request {
		all := words(n, 8)
		for i := range all {
			all[i].Prompt = fmt.Sprintf("request %d", from+i)
		}
		return all
	}
	fresh := func(pass int) ([]Request, error) { return numbered(37, 1000*pass), nil }
	sessions := numbered(11, 0)
	for i := range sessions {
		sessions[i].Then = []Turn{{Prompt: fmt.Sprintf("then %d", i), MaxTokens: 3, FixedOutput: true}, {Prompt: "and then", MaxTokens: 2, FixedOutput: true}}
	}
	at := make([]time.Duration, 37)
	for i := range at {
		at[i] = time.Duration(i*i) * ms / 10
	}
	return map[string]Load{
		"closed":   {Fresh: fresh, Concurrency: 6, Warmup: numbered(9, 90_000), Figures: firstWords, Units: []sample.Unit{{Name: "first-words", Better: "higher"}}},
		"few":      {Requests: numbered(5, 0), Concurrency: 2},
		"open":     {Fresh: fresh, Arrivals: arrivals.Poisson{Rate: 500, Seed: 7}, Warmup: numbered(3, 90_000)},
		"bounded":  {Requests: numbered(20, 0), Arrivals: arrivals.Gamma{Rate: 1000, Shape: 0.5, Seed: 7}, MaxInFlight: 5},
		"replay":   {Requests: numbered(37, 0), Arrivals: arrivals.Replay{At: at}, NoStream: true},
		"sessions": {Requests: sessions, Concurrency: 4, Cancel: Cancel{Share: 0.3, Deltas: 3, Seed: 5}},
	}
}

// helperShards runs loads against the server that the environment names. Shard 0 writes the metrics to a
// file.
func helperShards(b *testing.B) {
	target := Target{URL: os.Getenv(killedURL), Model: "mock"}
	loads := shardLoads()
	for _, name := range []string{"closed", "few", "open", "bounded", "replay", "sessions"} {
		if !regexp.MustCompile(os.Getenv("TEST_LOADS")).MatchString(name) {
			continue
		}
		b.Run(name, func(b *testing.B) {
			l := loads[name]
			switch os.Getenv(shardsVariant) {
			case "seed":
				l.Arrivals = arrivals.Poisson{Rate: 500, Seed: 8}
			case "requests":
				l.Fresh, l.Requests = nil, words(37, 8)
			case "unable":
				l.Fresh = func(int) ([]Request, error) { return nil, fmt.Errorf("no such data set") }
			}
			result := Run(b, target, l)
			figures, err := json.Marshal(sample.Summarize(result.All(), result.Elapsed, l.SLO).Metrics)
			assert.NilError(b, err)
			writeFound(b, "figures-"+name, figures)
		})
	}
	if regexp.MustCompile(os.Getenv("TEST_LOADS")).MatchString("arms") {
		b.Run("arms", func(b *testing.B) {
			second := target
			if os.Getenv(shardsVariant) == "nowhere" {
				second.URL += "/nowhere"
			}
			Arms(b, loads["few"], Arm{Name: "arm=first", Target: target}, Arm{Name: "arm=second", Target: second})
		})
	}
	if name := os.Getenv("TEST_LOADS"); name == "timed" || name == "staged" {
		b.Run(name, func(b *testing.B) {
			l := endless(16, func(i int) int { return 2 + i%7 })
			if l.Concurrency, l.Duration = 7, time.Second; name == "staged" {
				l.Users, l.WarmupFor = ramp("4..7:500ms,7..3:500ms"), 300*ms
			}
			l.Fresh, l.Requests = func(pass int) ([]Request, error) { return l.More(pass, 0) }, nil
			result := Run(b, target, l)
			figures, err := json.Marshal(sample.Summarize(result.All(), result.Elapsed, l.SLO).Metrics)
			assert.NilError(b, err)
			writeFound(b, "figures-"+name, figures)
		})
	}
	if os.Getenv("TEST_LOADS") == "agents" {
		b.Run("agents", func(b *testing.B) {
			result := Run(b, target, Load{Fresh: func(pass int) ([]Request, error) { return agents(pass, 0), nil }, More: func(pass, part int) ([]Request, error) { return agents(pass, part), nil },
				Concurrency: 7, Duration: time.Second, WarmupFor: 200 * ms, CutSessions: true, LeastCoverage: 0.9})
			var all []sentTurn
			for s := range result.All() {
				all = append(all, sentTurn{s.Pass, s.Request, s.Turn, s.Shard, s.Outcome})
			}
			text, err := json.Marshal(all)
			assert.NilError(b, err)
			writeFound(b, "turns", text)
		})
	}
	if os.Getenv("TEST_LOADS") == "mixed" {
		b.Run("mixed", func(b *testing.B) {
			l := mixed(time.Second)
			l.WarmupFor, l.Warmup = 300*ms, words(3, 4)
			l.Classes[2].Arrivals = arrivals.Poisson{Rate: 40, Seed: 5}
			result := Run(b, target, l)
			figures, err := json.Marshal(sample.Summarize(result.All(), result.Elapsed, l.SLO).Metrics)
			assert.NilError(b, err)
			writeFound(b, "figures-mixed", figures)
		})
	}
	if regexp.MustCompile(os.Getenv("TEST_LOADS")).MatchString("search") {
		b.Run("search", func(b *testing.B) { helperSearch(b, target) })
	}
}

// writeFound writes what this process has measured to a file named name in LLMBENCH_OUT.
func writeFound(b *testing.B, name string, text []byte) {
	assert.NilError(b, os.WriteFile(filepath.Join(os.Getenv("LLMBENCH_OUT"), name), text, 0o666))
}

// helperSearch makes passes that each depend on the result of the previous pass, and on a value that only
// one process knows.
func helperSearch(b *testing.B, target Target) {
	harness.Watch(b)
	led, err := harness.Lead("the process", func() (int, error) { return os.Getpid(), nil })
	assert.NilError(b, err)
	_, refused := harness.Lead("an error", func() (int, error) { return 0, fmt.Errorf("not in %d", os.Getpid()) })
	writeFound(b, "led", fmt.Append(nil, led, refused))
	var all []string
	n := 5
	for more := harness.Loop(b); more(); {
		for range 2 {
			requests := words(n, 4)
			for i := range requests {
				requests[i].Prompt = fmt.Sprintf("search %d %d", n, i)
			}
			l := Load{Requests: requests, Concurrency: min(n, 6), KeepText: true}
			if len(all)%2 == 1 {
				l.Concurrency, l.Arrivals = 0, arrivals.Poisson{Rate: 1000, Seed: uint64(n)}
			}
			result, err := Pass(harness.Context(b), fmt.Sprintf("%s/n=%d", b.Name(), n), target, l)
			assert.NilError(b, err)
			for s := range result.All() {
				n++
				answer := *s.Answer
				s.Answer = nil // a pointer, whose address would be printed
				all = append(all, fmt.Sprint(*s, answer, result.Elapsed))
			}
			assert.NilError(b, result.Err())
			assert.NilError(b, result.Close())
		}
	}
	writeFound(b, "found", []byte(strings.Join(all, "\n")))
}

// A shardProcess is a process of a group.
type shardProcess struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	out            string
}

// startShards starts helperShards in count processes that measure together, or in one that measures alone.
// It calls change with each process before the start, to modify its command.
func startShards(t *testing.T, count int, url, loads string, change func(i int, p *shardProcess)) []*shardProcess {
	t.Helper()
	addr := runtest.FreeAddr(t)
	all := make([]*shardProcess, count)
	for i := range all {
		p := &shardProcess{Cmd: helperCommand(t.Context(), "Shards"), out: t.TempDir()}
		p.Cmd.Stdout, p.Cmd.Stderr = &p.stdout, &p.stderr
		p.Env = append(p.Env, killedURL+"="+url, "TEST_LOADS="+loads, "LLMBENCH_OUT="+p.out, "LLMBENCH_CLIENT_BOUND=report", "LLMBENCH_UNITS=all")
		if count > 1 {
			p.Env = append(p.Env, fmt.Sprintf("LLMBENCH_SHARD=%d/%d", i, count), "LLMBENCH_RENDEZVOUS="+addr, "LLMBENCH_RENDEZVOUS_TOKEN=secret")
		}
		if change != nil {
			change(i, p)
		}
		assert.NilError(t, p.Start())
		t.Cleanup(func() { p.Process.Kill() })
		all[i] = p
	}
	return all
}

// text returns the output of a process, which must have ended.
func (p *shardProcess) text() string { return p.stdout.String() + p.stderr.String() }

// waitShards waits until all processes have ended, and returns their exit codes.
func waitShards(all []*shardProcess) (codes []int) {
	for _, p := range all {
		p.Wait()
		codes = append(codes, p.ProcessState.ExitCode())
	}
	return codes
}

// checkCodes waits until all processes have ended, and fails t with the outputs of all of them if their exit
// codes are not want.
func checkCodes(t *testing.T, all []*shardProcess, want ...int) {
	t.Helper()
	codes := waitShards(all)
	assert.Assert(t, slices.Equal(codes, want), "exit codes %v, want %v:%s", codes, want, outputs(all))
}

// outputs returns what all processes have printed.
func outputs(all []*shardProcess) (text string) {
	for i, p := range all {
		text += fmt.Sprintf("\nprocess %d:\n%s", i, p.text())
	}
	return text
}

// A bodyServer is a simulated server that keeps the bodies of requests.
type bodyServer struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func newBodyServer(t *testing.T) *bodyServer {
	mock, err := mockserver.New(mockserver.Config{TTFT: 3 * ms, PerToken: ms})
	assert.NilError(t, err)
	s := &bodyServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		_, id, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("X-Request-Id"), "llmbench-"), "-") // without the identifier of the run
		s.bodies = append(s.bodies, r.URL.Path+" "+id+" "+string(body))
		s.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		mock.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// take returns the bodies received since the last call, sorted.
func (s *bodyServer) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.bodies
	s.bodies = nil
	slices.Sort(all)
	return all
}

// lines returns, sorted, the parts of the records that must be the same whether one process or several sent
// the requests.
func lines(t *testing.T, run *records.Run) (all []string) {
	t.Helper()
	for q := range run.All() {
		due := q.Due
		if !q.Scheduled {
			due = 0
		}
		all = append(all, fmt.Sprint(q.Pass, q.Turn, due, q.Outcome, q.PromptTokens, q.OutputTokens, q.MaxTokens, q.PromptChars))
	}
	slices.Sort(all)
	return all
}

// TestShards checks that four processes together send what one process sends alone, and that the result of
// shard 0 is computed from all requests.
func TestShards(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	server := newBodyServer(t)
	twice := func(i int, p *shardProcess) { p.Args = append(p.Args, "-test.benchtime=2x", "-test.count=2") }
	alone := startShards(t, 1, server.URL, "", twice)[0]
	checkCodes(t, []*shardProcess{alone}, 0)
	bodies := server.take()
	all := startShards(t, 4, server.URL, "", twice)
	checkCodes(t, all, 0, 0, 0, 0)
	assert.DeepEqual(t, server.take(), bodies)

	wantRows, _ := results(t, alone.stdout.String())
	rows, _ := results(t, all[0].stdout.String())
	assert.Equal(t, len(rows), len(wantRows), all[0].text())
	for i, row := range rows {
		assert.Equal(t, string(row.Name), string(wantRows[i].Name))
		assert.Equal(t, row.GetConfig("shards"), "4")
	}
	for _, name := range []string{"led", "found", "figures-open", "figures-sessions"} {
		want, err := os.ReadFile(filepath.Join(all[0].out, name))
		assert.NilError(t, err)
		for _, p := range all[1:] {
			got, err := os.ReadFile(filepath.Join(p.out, name))
			assert.NilError(t, err)
			assert.Assert(t, bytes.Equal(got, want), "%s differs", name)
		}
	}
	for i, p := range all[1:] {
		assert.Assert(t, !strings.Contains(p.stdout.String(), "\nBenchmark"), p.text())
		assert.Assert(t, strings.Contains(p.stdout.String(), fmt.Sprintf("the result of all 4 shards is that of shard 0; this is shard %d\n", i+1)), p.text())
		rest, err := filepath.Glob(filepath.Join(p.out, "*.jsonl"))
		assert.NilError(t, err)
		assert.Equal(t, len(rest), 0)
	}

	for name, l := range shardLoads() {
		for count := 1; count <= 2; count++ {
			file := fmt.Sprintf("BenchmarkHelper,Shards,%s.%d.jsonl", name, count)
			want, err := records.Open(filepath.Join(alone.out, file))
			assert.NilError(t, err)
			got, err := records.Open(filepath.Join(all[0].out, file))
			assert.NilError(t, err)
			assert.DeepEqual(t, lines(t, got), lines(t, want))
			assert.Equal(t, got.Head.Shards, 4)
			assert.Equal(t, want.Head.Shards, 0)
			assert.Assert(t, got.End.ClockBound > 0 && got.End.ClockBound < time.Second, "%v", got.End.ClockBound)
			sent := map[int32]int{}
			for q := range got.All() {
				sent[q.Shard]++
			}
			share := min(4, max(4, l.Concurrency)) // number of processes that send requests
			if name == "few" {
				share = 2
			}
			assert.Equal(t, len(sent), share, "%v", sent)
			if count == 2 {
				checkFigures(t, filepath.Join(all[0].out, "figures-"+name), got, rows)
			}
		}
	}
}

// TestShardsForTime checks loads for a time, sent by one process and by three, one with users who come and leave after a
// warm-up: they stop at the same instant, each has sent
// the first requests of its part of the sequence, and the server received exactly the requests that have records.
func TestShardsForTime(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	server := newBodyServer(t)
	for i, count := range []int{1, 3, 1, 3} {
		name := []string{"timed", "timed", "staged", "staged"}[i]
		all := startShards(t, count, server.URL, name, func(i int, p *shardProcess) { p.Args = append(p.Args, "-test.benchtime=2x") })
		checkCodes(t, all, make([]int, count)...)
		run, err := records.Open(filepath.Join(all[0].out, "BenchmarkHelper,Shards,"+name+".1.jsonl"))
		assert.NilError(t, err)
		assert.Equal(t, run.Head.Duration, time.Second)
		assert.Equal(t, run.Passes(), 2)
		assert.Assert(t, run.Elapsed() <= 2*time.Second && run.Elapsed() > time.Second, "%v", run.Elapsed()) // from the first t0
		bodies := server.take()
		received := map[string]bool{}
		for _, body := range bodies {
			var pass, request int
			_, err := fmt.Sscanf(body, "/v1/chat/completions %d-%d ", &pass, &request)
			assert.NilError(t, err, body)
			assert.Assert(t, strings.Contains(body, fmt.Sprintf("request %d of many", request)), body)
			received[fmt.Sprint(pass-1, request)] = true
		}
		sent := make([]int, 2*count) // number of requests by pass and shard
		for q := range run.All() {
			sent[int(q.Pass)*count+int(q.Shard)]++
			assert.Assert(t, q.OK(), "%+v", q)
		}
		n := 0
		for i, requests := range sent {
			part := shard.Part{Index: i % count, Count: count}
			for k := range requests {
				assert.Assert(t, received[fmt.Sprint(i/count, part.Request(k, 7))], "%v", sent)
			}
			n += requests
			assert.Assert(t, requests > 0, "%v", sent)
		}
		assert.Equal(t, len(bodies), n)
		rows, _ := results(t, all[0].stdout.String())
		checkFigures(t, filepath.Join(all[0].out, "figures-"+name), run, rows)
		_, staged := rows[0].Value("stage2-output-tok/s")
		assert.Equal(t, staged, name == "staged")
	}
}

// A sentTurn is a turn of a session of the load agents of helperShards.
type sentTurn struct {
	Pass, Request, Turn, Shard int
	Outcome                    sample.Outcome
}

// agents returns 14 sessions of agents, which name their pass and their number in each message. The first seven of a pass begin in their midst.
func agents(pass, part int) []Request {
	all := make([]Request, 14)
	for i := range all {
		r := replying()
		name := fmt.Sprintf("pass %d session %d.", pass, part*len(all)+i)
		r.Prompt = name + " turn 0."
		for k := range r.Then {
			t := &r.Then[k]
			t.Messages, t.Prompt, t.Think = []Message{{Role: "user", Content: fmt.Sprintf("%s turn %d.", name, k+1)}}, "", t.Think/10
		}
		if part == 0 && i < 7 {
			r.Skip = i % 6
		}
		all[i] = r
	}
	return all
}

// TestShardsOfAgents checks that three processes send the sessions of agents as one process does: each turn of each session of each process once, from the turn in which the
// session begins, and before each pass what the server should have in its cache.
func TestShardsOfAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	server := newBodyServer(t)
	last := regexp.MustCompile(`pass (\d+) session (\d+)\. turn (\d+)\.[^.]*$`)
	for _, count := range []int{1, 3} {
		all := startShards(t, count, server.URL, "agents", func(i int, p *shardProcess) { p.Args = append(p.Args, "-test.benchtime=2x") })
		checkCodes(t, all, make([]int, count)...)
		text, err := os.ReadFile(filepath.Join(all[0].out, "turns"))
		assert.NilError(t, err)
		var samples []sentTurn
		assert.NilError(t, json.Unmarshal(text, &samples))
		sent := map[string]int{} // how often the server got a turn
		for _, body := range server.take() {
			found := last.FindStringSubmatch(body)
			assert.Assert(t, found != nil, body)
			sent[strings.Join(found[1:], " ")]++
		}
		turns := map[[2]int][]bool{} // by pass and session
		owner := map[[2]int]int{}
		primed := map[string]bool{}
		for _, q := range samples {
			id := [2]int{q.Pass, q.Request}
			if turns[id] == nil {
				turns[id] = make([]bool, 6)
				owner[id] = q.Shard
			}
			assert.Assert(t, !turns[id][q.Turn] && owner[id] == q.Shard, "%+v", q)
			turns[id][q.Turn] = true
			name := fmt.Sprintf("%d %d %d", q.Pass, q.Request, q.Turn)
			if q.Outcome == sample.Left { // the time was over
				assert.Equal(t, sent[name], 0, name)
			} else {
				assert.Assert(t, q.Outcome == sample.OK && sent[name] == 1, "%s: %d, %+v", name, sent[name], q)
			}
			delete(sent, name)
		}
		for pass := range 2 {
			n := 0
			for turns[[2]int{pass, n}] != nil {
				skip := 0
				if n < 7 {
					skip = n % 6
				}
				for k, has := range turns[[2]int{pass, n}] {
					assert.Equal(t, has, k >= skip, "pass %d, session %d, turn %d", pass, n, k)
				}
				assert.Equal(t, owner[[2]int{pass, n}], n%7%count)
				n++
			}
			assert.Assert(t, n >= 7, "%d", n)
			for i := range 7 { // of the turns that were not sent, turn 3 continues turn 1, and turn 5 is never among them
				for k := range i % 6 {
					if k != 1 || i%6 <= 3 {
						primed[fmt.Sprintf("%d %d %d", pass, i, k)] = true
					}
				}
			}
		}
		for name, n := range sent {
			assert.Assert(t, primed[name] && n == 1, "%s was sent %d times", name, n)
			delete(primed, name)
		}
		assert.Equal(t, len(primed), 0, "%v", primed)
	}
}

// TestShardsOfClasses checks a load with classes, sent by one process and by four: the server received exactly the requests that
// have records, each once and of the class of the record. Each process has sent the first requests of its part of each closed loop. The
// requests of the open loop, and when they are due, are the same.
func TestShardsOfClasses(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	server := newBodyServer(t)
	var scheduled [2][]string
	for i, count := range []int{1, 4} {
		all := startShards(t, count, server.URL, "mixed", func(i int, p *shardProcess) { p.Args = append(p.Args, "-test.benchtime=2x") })
		checkCodes(t, all, make([]int, count)...)
		run, err := records.Open(filepath.Join(all[0].out, "BenchmarkHelper,Shards,mixed.1.jsonl"))
		assert.NilError(t, err)
		bodies := server.take()
		assert.Assert(t, len(bodies) == len(slices.Compact(slices.Clone(bodies))), "a request was received twice")
		received := map[string]string{} // body by pass and request
		for _, body := range bodies {
			pass, request := 0, 0
			if _, err := fmt.Sscanf(body, "/v1/chat/completions %d-%d ", &pass, &request); err == nil && pass > 1 { // the warm-up is the first pass
				received[fmt.Sprint(pass-2, request)] = body
			}
		}
		assert.Equal(t, len(received), run.Len())
		assert.Equal(t, len(bodies), len(received)+3)
		text, err := os.ReadFile(filepath.Join(all[0].out, "BenchmarkHelper,Shards,mixed.1.jsonl"))
		assert.NilError(t, err)
		type place struct{ pass, class, shard int }
		sent := map[place]int{}
		for line := range strings.Lines(string(text)) {
			var q struct {
				ID                   string
				Pass, Shard, Request int
				Class                string
				Scheduled            bool
				Due                  int64 `json:"due_ns"`
				Outcome              sample.Outcome
			}
			assert.NilError(t, json.Unmarshal([]byte(line), &q))
			if q.ID == "" {
				continue
			}
			class := q.Request % 3
			assert.Equal(t, q.Class, []string{"chat", "ramp", "rag"}[class])
			assert.Equal(t, q.Outcome, sample.OK)
			assert.Equal(t, q.Scheduled, class == 2)
			body := received[fmt.Sprint(q.Pass, q.Request)]
			assert.Assert(t, strings.Contains(body, fmt.Sprintf("%s request %d of many", q.Class, q.Request/3)), body)
			assert.Assert(t, strings.Contains(body, fmt.Sprintf(`"priority":%d`, class)), body)
			sent[place{q.Pass, class, q.Shard}]++
			if q.Scheduled {
				scheduled[i] = append(scheduled[i], fmt.Sprint(q.Pass, q.Request, q.Due))
			}
		}
		for at, n := range sent {
			part := shard.Part{Index: at.shard, Count: count}
			for k := range n {
				_, known := received[fmt.Sprint(at.pass, 3*part.Request(k, []int{4, 5, 0}[at.class])+at.class)]
				assert.Assert(t, known, "%+v: %v", at, sent)
			}
		}
		assert.Assert(t, len(sent) > 2*2*count, "%v", sent) // the last of the users who come may have no time for a request
		slices.Sort(scheduled[i])
		rows, _ := results(t, all[0].stdout.String())
		checkFigures(t, filepath.Join(all[0].out, "figures-mixed"), run, rows)
		for _, unit := range []string{"chat-output-tok/s", "ramp-req/s", "rag-output-tok/s"} {
			_, has := rows[0].Value(unit)
			assert.Assert(t, has, all[0].text())
		}
	}
	assert.DeepEqual(t, scheduled[1], scheduled[0])
	assert.Assert(t, len(scheduled[0]) > 90, "%d", len(scheduled[0]))
}

// TestShardsOtherGo checks that shards can measure if the version of Go does not allow llmbench to edit
// result lines, and that only the result line of shard 0 has metrics.
func TestShardsOtherGo(t *testing.T) {
	t.Parallel()
	server := newBodyServer(t)
	all := startShards(t, 2, server.URL, "^few$", func(_ int, p *shardProcess) {
		p.Env = append(p.Env, withoutEditing+"=1")
		p.Args = append(p.Args, "-test.benchtime=2x", "-test.count=2")
	})
	checkCodes(t, all, 0, 0)
	rows, _ := results(t, all[0].stdout.String())
	assert.Equal(t, len(rows), 2, all[0].text())
	bare := regexp.MustCompile(`(?m)^BenchmarkHelper/Shards/few\S*\s+\d+$`)
	assert.Equal(t, len(bare.FindAllString(all[1].stdout.String(), -1)), 2, all[1].text())
	rest := bare.ReplaceAllString(all[1].stdout.String(), "")
	rows, _ = results(t, rest)
	assert.Equal(t, len(rows), 0, all[1].text())
	assert.Equal(t, strings.Count(rest, "the result of all 2 shards is that of shard 0; this is shard 1\n"), 1, all[1].text())
}

// checkFigures checks that the metrics in a file can be computed from the records.
func checkFigures(t *testing.T, file string, run *records.Run, rows []*benchfmt.Result) {
	t.Helper()
	text, err := os.ReadFile(file)
	assert.NilError(t, err)
	var figures map[string]float64
	assert.NilError(t, json.Unmarshal(text, &figures))
	want := run.Figures().Metrics
	checked := 0
	for unit, v := range figures {
		if w, ok := want[unit]; ok {
			assert.Equal(t, v, w, unit)
			checked++
		}
	}
	assert.Assert(t, checked > 10, "%v", figures)
	assert.Assert(t, len(rows) > 0)
}

// firstWords is the Figures function of a load.
func firstWords(samples iter.Seq[*sample.Sample]) map[string]float64 {
	n := 0.0
	for range samples {
		n++
	}
	return map[string]float64{"first-words": n}
}

// TestShardsDiffer checks that shards with different settings do not measure, and that the error names the
// difference.
func TestShardsDiffer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, loads string
		change      func(*shardProcess)
		want        string
		sent        bool // whether requests are sent
	}{
		{"seed", "^open$", func(p *shardProcess) { p.Env = append(p.Env, shardsVariant+"=seed") },
			"BenchmarkHelper/Shards/open: begin: parameters of arrivals: map[rate:500 seed:7] in shard 0 (", false},
		{"requests", "^open$", func(p *shardProcess) { p.Env = append(p.Env, shardsVariant+"=requests") },
			"BenchmarkHelper/Shards/open: pass 0: requests: ", true},
		{"variable", "^few$", func(p *shardProcess) { p.Env = append(p.Env, "LLMBENCH_SEED=2") }, "LLMBENCH_SEED: none in shard 0 (", false},
		{"flag", "^few$", func(p *shardProcess) { p.Args = append(p.Args, "-test.benchtime=3x") }, "-test.benchtime: 1x in shard 0 (", false},
		{"benchmarks", "^few$", func(p *shardProcess) { p.Env = append(p.Env, "TEST_LOADS=open") }, "want the same benchmarks in the same order in all shards", false},
		{"an error of one", "^open$", func(p *shardProcess) { p.Env = append(p.Env, shardsVariant+"=unable") }, ": no such data set", false},
		{"the token", "^few$", func(p *shardProcess) { p.Env = append(p.Env, "LLMBENCH_RENDEZVOUS_TOKEN=other") }, "its LLMBENCH_RENDEZVOUS_TOKEN is not that of shard 0", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel() // shard 1 may wait until its deadline
			server := newBodyServer(t)
			all := startShards(t, 3, server.URL, test.loads, func(i int, p *shardProcess) {
				p.Env = append(p.Env, "LLMBENCH_RENDEZVOUS_TIMEOUT=10s")
				if i == 2 {
					test.change(p)
				}
			})
			checkCodes(t, all, slices.Repeat([]int{1}, len(all))...)
			for i, p := range all {
				assert.Assert(t, strings.Contains(p.text(), "cannot judge: "), p.text())
				assert.Assert(t, !strings.Contains(p.stdout.String(), "refused"), p.stdout.String()) // what a stranger says is no result
				if i != 1 || strings.HasPrefix(test.want, "BenchmarkHelper") {                       // shard 1 may dial after the others have ended
					assert.Assert(t, strings.Contains(p.text(), test.want), p.text())
				}
				rows, _ := results(t, p.stdout.String())
				assert.Equal(t, len(rows), 0, p.text())
			}
			assert.Equal(t, len(server.take()) > 0, test.sent)
		})
	}
}

// TestShardsFailTogether checks that all shards fail if and only if too many of all requests failed.
func TestShardsFailTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	t.Parallel()
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"request 3"`)) {
			http.Error(w, "no", http.StatusTeapot)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		mock.ServeHTTP(w, r)
	}))
	defer server.Close()
	all := startShards(t, 3, server.URL, "^(few|bounded)$", nil)
	checkCodes(t, all, 1, 1, 1)
	for _, p := range all {
		for _, name := range []string{"few", "bounded"} {
			assert.Assert(t, strings.Contains(p.text(), "--- FAIL: BenchmarkHelper/Shards/"+name), p.text())
		}
		assert.Equal(t, strings.Count(p.text(), "status 418"), 2, p.text())
	}
}

// TestShardsSilent stops one of three shards for a while in the middle of a pass. The result must say so.
func TestShardsSilent(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes seconds")
	}
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGSTOP")
	}
	t.Parallel()
	mock, err := mockserver.New(mockserver.Config{})
	assert.NilError(t, err)
	var begun atomic.Int64
	resume := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if begun.Add(1) > 20 {
			<-resume
		}
		mock.ServeHTTP(w, r)
	}))
	defer server.Close()
	all := startShards(t, 3, server.URL, "^closed$", nil)
	runtest.Until(t, "the pass has begun", func() bool { return begun.Load() > 20 })
	assert.NilError(t, all[2].Process.Signal(stopSignal))
	time.Sleep(1500 * time.Millisecond)
	assert.NilError(t, all[2].Process.Signal(resumeSignal))
	close(resume)
	checkCodes(t, all, 0, 0, 0)
	want := regexp.MustCompile(`llmbench warns \(shards\): pass \d+: nothing was heard of shard 2 \(\S+\) for (1\.[4-9]|[2-9]\.\d)s: its network was down`)
	assert.Assert(t, want.MatchString(all[0].text()), all[0].text())
}

// TestShardsLost kills or stops one of three shards in the middle of a pass, with SIGKILL or SIGSTOP. The
// other shards must end and name the lost shard. The records must hold the requests that were answered, and
// those that the other shards had in flight.
func TestShardsLost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has neither signal")
	}
	t.Parallel()
	for signal, why := range map[syscall.Signal]string{
		syscall.SIGKILL: " is lost: ",
		stopSignal:      " is lost: nothing heard for 10s",
		syscall.SIGTERM: ": interrupted",
	} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			const answered = 20
			mock, err := mockserver.New(mockserver.Config{})
			assert.NilError(t, err)
			var waiting atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var pass, request int // the warm-up is the first pass
				id := strings.SplitN(r.Header.Get("X-Request-Id"), "-", 3)
				_, err := fmt.Sscanf(id[len(id)-1], "%d-%d", &pass, &request)
				assert.Check(t, err)
				if pass == 2 && request >= answered {
					io.Copy(io.Discard, r.Body)
					waiting.Add(1)
					<-r.Context().Done()
					return
				}
				mock.ServeHTTP(w, r)
			}))
			t.Cleanup(server.Close) // runs after the shards have ended, even if the test fails
			all := startShards(t, 3, server.URL, "^closed$", nil)
			path := filepath.Join(all[0].out, "BenchmarkHelper,Shards,closed.1.jsonl")
			runtest.Until(t, "each request that was answered is in the records, and each worker waits", func() bool { return countLines(path) == 1+answered && waiting.Load() == 6 })
			assert.NilError(t, all[2].Process.Signal(signal))
			checkCodes(t, all[:2], 1, 1)
			all[2].Process.Kill()
			all[2].Wait()
			want := regexp.MustCompile(`cannot judge: shard 2 \(.*\)` + regexp.QuoteMeta(why))
			for _, p := range all[:2] {
				assert.Assert(t, want.MatchString(p.text()), p.text())
				rows, _ := results(t, p.stdout.String())
				assert.Equal(t, len(rows), 0)
			}
			run, err := records.Open(path)
			assert.NilError(t, err)
			assert.Assert(t, want.MatchString(run.Failed()), run.Failed())
			ok := 0
			inFlight := map[int32]int{} // number of requests in flight, keyed by shard
			for q := range run.All() {
				switch {
				case q.OK():
					ok++
				case q.Wrote > 0:
					inFlight[q.Shard]++
				}
			}
			assert.Equal(t, ok, answered)
			assert.Equal(t, inFlight[0], 2, "%v", inFlight)
			assert.Equal(t, inFlight[1], 2, "%v", inFlight)
		})
	}
}
