package backends_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/scenariostest"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// roleVariable is the environment variable that turns this test binary into one of the servers in
// roles. These servers listen on the port in their first argument.
const roleVariable = "PROCESS_TEST_ROLE"

var roles = map[string]func(port string){
	"serve": func(port string) { listen(port, mock()) },
	"late": func(port string) {
		time.Sleep(time.Second)
		listen(port, mock())
	},
	"loads": func(port string) {
		time.Sleep(3 * time.Second)
		listen(port, mock())
	},
	"lists no models at first": func(port string) {
		var lists atomic.Int64
		mux := http.NewServeMux()
		mux.Handle("/", mock())
		mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) {
			switch lists.Add(1) {
			case 1:
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			case 2:
				fmt.Fprint(w, `{"object":"list","data":null}`) // as Ollama
				return
			case 3:
				fmt.Fprint(w, `{"object":"list","data":[]}`)
				return
			}
			fmt.Fprint(w, `{"object":"list","data":[{"id":"m"}]}`)
		})
		listen(port, mux)
	},
	"knows no model at first": func(port string) { // as a router without workers
		var lists atomic.Int64
		mux := http.NewServeMux()
		server := mock()
		mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			if lists.Load() < 3 {
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprint(w, `{"error":{"code":"model_not_found","message":"no worker for model m"}}`)
				return
			}
			server.ServeHTTP(w, r)
		})
		mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) {
			if lists.Add(1) < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			fmt.Fprint(w, `{"object":"list","data":[{"id":"m"}]}`)
		})
		listen(port, mux)
	},
	"refuses to reset at first": func(port string) {
		var resets atomic.Int64
		server := mock()
		listen(port, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/reset_prefix_cache" && resets.Add(1)%2 == 1 {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			server.ServeHTTP(w, r)
		}))
	},
	"wrong port": func(string) { listen("0", mock()) },
	"dies at start": func(string) {
		fmt.Fprintln(os.Stderr, "error loading model: no such file, with key "+os.Getenv("GREETING"))
		os.Exit(3)
	},
	"dies at the tenth request": func(port string) {
		var requests atomic.Int64
		server := mock()
		listen(port, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && requests.Add(1) == 10 {
				fmt.Println("out of memory")
				os.Exit(9)
			}
			server.ServeHTTP(w, r)
		}))
	},
	"logs 100 MB": func(port string) {
		line := append(bytes.Repeat([]byte("x"), 999), '\n')
		for range 100_000 {
			os.Stdout.Write(line)
		}
		listen(port, mock())
	},
	"has folders": func(port string) {
		data, out := os.Args[2], os.Args[3]
		entries, err := os.ReadDir(data)
		if err != nil || len(entries) > 0 || out != os.Getenv("OUT") || out != "/any/where" {
			fmt.Println("folders:", data, entries, err, out, os.Getenv("OUT"))
			os.Exit(4)
		}
		if err := os.WriteFile(filepath.Join(data, "file"), nil, 0o666); err != nil {
			panic(err)
		}
		mux := http.NewServeMux()
		mux.Handle("/", mock())
		mux.HandleFunc("/api/version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version":"0.99.1"}`) })
		listen(port, mux)
	},
	"has a file": func(string) {
		text, err := os.ReadFile(os.Args[2])
		if err != nil {
			fmt.Println(err)
			os.Exit(5)
		}
		lines := strings.Split(string(text), "\n")
		if text, err := os.ReadFile(lines[2]); err != nil || string(text) != "{port} stays" {
			fmt.Printf("%q %v\n", text, err)
			os.Exit(5)
		}
		gateway(lines[0], lines[1])
	},
	"gateway": func(port string) { gateway(port, "http://127.0.0.1:"+os.Args[2]) },
}

// gateway is a gateway that listens on a port.
func gateway(port, upstream string) {
	u, err := url.Parse(upstream)
	if err != nil {
		panic(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	listen(port, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The server closes the body when the answer begins, and a proxy that is still reading the body would
		// then end the connection to the upstream (https://go.dev/issue/40747).
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
}

// mock returns a simulated server that answers without delay.
func mock() http.Handler {
	server, err := mockserver.New(mockserver.Config{Model: "m", Speed: 1000})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", server)
	mux.HandleFunc("/up", func(http.ResponseWriter, *http.Request) {})
	return mux
}

func listen(port string, handler http.Handler) {
	fmt.Println(http.ListenAndServe("127.0.0.1:"+port, handler))
	os.Exit(1)
}

// program returns a program that runs this test binary in a role.
func program(t *testing.T, role string, args ...string) backends.Program {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	return backends.Program{Command: append([]string{self, "{port}"}, args...), Env: map[string]string{roleVariable: role}}
}

// TestProcess starts programs that become ready, and sends a request to each of them.
func TestProcess(t *testing.T) {
	healthy := program(t, "serve")
	healthy.Health = "/up"
	for name, p := range map[string]backends.Process{
		"a server":         {Program: program(t, "serve")},
		"a health route":   {Program: healthy},
		"listens late":     {Program: program(t, "late")},
		"no model listed":  {Program: program(t, "lists no models at first")},
		"no worker yet":    {Program: program(t, "knows no model at first"), Model: "m"},
		"logs 100 MB":      {Program: program(t, "logs 100 MB")},
		"a gateway":        {Program: program(t, "gateway", "{upstream}"), Beside: []backends.Program{program(t, "serve")}},
		"a gateway's name": {Program: program(t, "gateway", "{engine}"), Beside: []backends.Program{{Name: "engine", Command: healthy.Command, Env: healthy.Env, Health: "/up"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := p.Start(t)
			assert.Equal(t, target.Model, "m")
			assert.Equal(t, target.Config["backend"], "process")
			assert.Assert(t, strings.HasSuffix(target.Config["command"], strings.Join(p.Command[1:], " ")), "%q", target.Config)
			observer := target.Observe().(llmbench.SamplesObserver)
			assert.NilError(t, observer.Before(t.Context()))
			s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a b c", MaxTokens: 7, FixedOutput: true}, true)
			assert.NilError(t, s.Err)
			figures, err := observer.After(t.Context())
			assert.NilError(t, err)
			if runtime.GOOS == "linux" {
				assert.Assert(t, figures["srv-peak-MB"] > 1 && figures["srv-peak-MB"] < 10_000, "%v", figures)
			}
		})
	}
}

// TestProcessCold checks the times of a start, that the programs have been stopped, and the error of a program that ends.
func TestProcessCold(t *testing.T) {
	healthy := program(t, "serve")
	healthy.Health = "/up"
	for name, p := range map[string]backends.Process{
		"a health route": {Program: healthy},
		"a gateway":      {Program: program(t, "gateway", "{upstream}"), Beside: []backends.Program{healthy}},
	} {
		cold := p.Cold(t)
		assert.Check(t, 0 < cold.Ready && cold.Ready < cold.FirstToken, "%s: %+v", name, cold)
		assert.Equal(t, cold.Target.Model, "m")
		assert.Equal(t, cold.Target.Config["backend"], "process")
		_, err := net.Dial("tcp", strings.TrimPrefix(cold.Target.URL, "http://"))
		assert.Check(t, err != nil, "%s: its port is still open", name)
	}
	got := startError(t, coldStarted{backends.Process{Program: program(t, "dies at start")}})
	assert.Assert(t, strings.Contains(got, "the program ended: exit status 3"), got)
}

// A coldStarted is a backend that is stopped again when it has started.
type coldStarted struct{ backends.Process }

func (c coldStarted) Start(tb testing.TB) llmbench.Target { return c.Cold(tb).Target }

// TestColdStartOfProcess runs BenchmarkColdStart in a separate process, with a program that two ops start.
func TestColdStartOfProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it builds the scenarios")
	}
	self, err := os.Executable()
	assert.NilError(t, err)
	out := run(t, []string{"LLMBENCH_BACKEND=process", "LLMBENCH_READY=/up", fmt.Sprintf("LLMBENCH_COMMAND=%s=serve '%s' {port}", roleVariable, self)},
		scenariostest.Program(t), "-test.run=^$", "-test.bench=ColdStart", "-test.benchtime=2x")
	results := resultsOf(t, out)
	assert.Equal(t, len(results), 1, "%s", out)
	ready, _ := results[0].Value("start-to-ready-sec")
	first, _ := results[0].Value("start-to-first-token-sec")
	assert.Assert(t, 0 < ready && ready < first && results[0].Iters == 2, "%s", out)
	assert.Equal(t, results[0].GetConfig("model"), "m", "%s", out)
}

// TestProcessFolders checks what replaces {data} and {out}, that the folder of {data} is removed, and that results have
// the placeholders, and the version of a known server.
func TestProcessFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	p := program(t, "has folders", "{data}", "{out}")
	p.Env["OUT"] = "{out}"
	known := filepath.Join(t.TempDir(), "ollama")
	assert.NilError(t, os.Symlink(p.Command[0], known))
	p.Command[0] = known
	t.Run("started", func(t *testing.T) {
		config := backends.Process{Program: p, Out: "/any/where"}.Start(t).Config
		assert.Equal(t, config["command"], "ollama {port} {data} {out}")
		assert.Equal(t, config["env-out"], "{out}")
		assert.Equal(t, config["server-version"], "0.99.1")
		left, err := os.ReadDir(os.TempDir())
		assert.NilError(t, err)
		assert.Equal(t, len(left), 1)
	})
	left, err := os.ReadDir(os.TempDir())
	assert.NilError(t, err)
	assert.Equal(t, len(left), 0)
}

// A noteRecorder is a testing.TB that keeps what is logged.
type noteRecorder struct {
	testing.TB
	mu    sync.Mutex
	notes []string
}

func (n *noteRecorder) Log(args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notes = append(n.notes, fmt.Sprint(args...))
}

// TestProcessProgress checks that the start of a program that loads for seconds is told while it goes on.
func TestProcessProgress(t *testing.T) {
	t.Parallel()
	n := &noteRecorder{TB: t}
	loads := program(t, "loads")
	// A shell writes the line, because the test program may need more than the second after which the note is made to start.
	loads.Command = append([]string{"sh", "-c", `printf 'loading shard 1 of 9\n\n'; exec "$0" "$@"`}, loads.Command...)
	backends.Process{Program: loads}.Start(n)
	n.mu.Lock()
	defer n.mu.Unlock()
	told := regexp.MustCompile(`^waiting for process: port: nothing listens on port \d+, which \{port\} stands for: connection refused; 29m\d\ds left; its log: loading shard 1 of 9$`)
	assert.Assert(t, len(n.notes) > 0 && told.MatchString(n.notes[0]), "%q", n.notes)
}

// TestProcessErrors checks what is said of programs that do not become ready.
func TestProcessErrors(t *testing.T) {
	secret := program(t, "dies at start")
	secret.Secrets = map[string]env.Secret{"GREETING": env.NewSecret("hello-secret")}
	const soon = 5 * time.Second
	for name, tt := range map[string]struct {
		process backends.Process
		want    []string
	}{
		"no command":         {backends.Process{}, []string{"process: program 1 has no Command"}},
		"no such program":    {backends.Process{Program: backends.Program{Command: []string{"no-such-program-anywhere"}}}, []string{"process: exec: ", "not found"}},
		"no second program":  {backends.Process{Program: backends.Program{Command: []string{"no-such-program-anywhere"}}, Beside: []backends.Program{secret}}, []string{"process: exec: ", "not found"}},
		"dies at start":      {backends.Process{Program: secret}, []string{"the program ended: exit status 3", "last lines of its log:\n    error loading model: no such file, with key [redacted]"}},
		"wrong port":         {backends.Process{Program: program(t, "wrong port"), Ready: backends.Deadlines{Port: soon}}, []string{"process: port: not within 5s: nothing listens on port ", "which {port} stands for: connection refused"}},
		"what stands first":  {backends.Process{Program: program(t, "gateway", "{upstream}"), Beside: []backends.Program{secret}}, []string{"process: program 1: port: program 1 ended: exit status 3", "program 1: error loading model"}},
		"no folder":          {backends.Process{Program: backends.Program{Command: []string{"{out}/server"}}}, []string{"process: program 1 names {out}, and no folder is set (Process.Out, LLMBENCH_BUILD)"}},
		"no upstream":        {backends.Process{Program: backends.Program{Command: []string{"true"}, Files: map[string]string{"x": "{upstream-url}"}}}, []string{"process: program 1 names {upstream}, and there is none: no program is started before it (Process.Beside), and no server is named (Process.Upstream, LLMBENCH_DIRECT)"}},
		"a wrong upstream":   {backends.Process{Program: backends.Program{Command: []string{"a"}}, Upstream: "127.0.0.1:8000"}, []string{"process: Upstream: want a base URL like http://127.0.0.1:8000"}},
		"a file outside":     {backends.Process{Program: backends.Program{Command: []string{"a"}, Files: map[string]string{"../a": ""}}}, []string{`process: program 1: file "../a": want a path in {dir}, like proxy.conf`}},
		"no template":        {backends.Process{Program: backends.Program{Command: []string{"a"}, Templates: []string{"no/such.cfg"}}}, []string{"process: template: open no/such.cfg: no such file or directory"}},
		"two files":          {backends.Process{Program: backends.Program{Command: []string{"a"}, Templates: []string{"a/x.cfg", "b/x.cfg"}}}, []string{`two files have the name "x.cfg"`}},
		"a wrong template":   {backends.Process{Program: backends.Program{Command: []string{"true"}, Files: map[string]string{"x.cfg": "port {prot}"}}}, []string{"process: running: file x.cfg: line 1: unknown placeholder {prot}: want {port}, {other-port}, {dir}, {data} or {out}; {{prot}} stands for"}},
		"no folder to write": {backends.Process{Program: backends.Program{Command: []string{"true"}, Files: map[string]string{"x": "", "x/y": ""}}}, []string{"process: running: file x/y: mkdir ", "not a directory"}},
		"a wrong word":       {backends.Process{Program: backends.Program{Command: append(program(t, "dies at start").Command, "{prot}"), Env: secret.Env}}, []string{"exit status 3", "note: the command has {prot}, which is no placeholder: those are {port}, {other-port}, {upstream}"}},
		"two names":          {backends.Process{Program: backends.Program{Name: "port", Command: []string{"true"}}}, []string{`the Name "port"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := startError(t, tt.process)
			for _, want := range tt.want {
				assert.Check(t, strings.Contains(got, want), "%q does not contain %q", got, want)
			}
			assert.Check(t, !strings.Contains(got, "hello-secret"), "%q", got)
		})
	}
}

// TestProcessReset checks that the request that empties the prefix cache is sent again if a gateway refuses it for the
// moment.
func TestProcessReset(t *testing.T) {
	target := backends.Process{Program: program(t, "refuses to reset at first")}.Start(t)
	assert.Equal(t, target.Config["prompt-cache"], "", "%v", target.Config)
	for range 2 {
		assert.NilError(t, target.Observe().Before(t.Context()))
	}
}

// TestProcessFiles checks that a gateway finds its port and its upstream in files, and that the files are removed. The
// upstream is a program that was started before, or a server that runs already.
func TestProcessFiles(t *testing.T) {
	upstream := httptest.NewServer(mock())
	defer upstream.Close()
	template := filepath.Join(t.TempDir(), "keeps.txt")
	assert.NilError(t, os.WriteFile(template, []byte("{{port}} stays"), 0o600))
	for name, p := range map[string]backends.Process{
		"a program": {Beside: []backends.Program{program(t, "serve")}},
		"a server":  {Upstream: upstream.URL},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("TMPDIR", folder)
			p.Program = program(t, "has a file", "{dir}/conf/gateway")
			p.Files = map[string]string{"conf/gateway": "{port}\nhttp://{upstream-addr}\n{dir}/keeps.txt"}
			p.Templates = []string{template}
			e := &errorRecorder{TB: t}
			target := p.Start(e)
			assert.Assert(t, strings.HasPrefix(target.Config["file-conf/gateway"], "sha256:"), "%v", target.Config)
			assert.Assert(t, strings.HasSuffix(target.Config["command"], " {port} {dir}/conf/gateway"), "%v", target.Config)
			s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a", MaxTokens: 1}, true)
			assert.NilError(t, s.Err)
			for _, cleanup := range slices.Backward(e.cleanups) {
				cleanup()
			}
			left, err := os.ReadDir(folder)
			assert.NilError(t, err)
			assert.Equal(t, len(left), 0, "%v", left)
			assert.Equal(t, e.text, "")
		})
	}
}

// An errorRecorder is a testing.TB that keeps the text of Errorf, and runs its cleanups when a test
// calls for that.
type errorRecorder struct {
	testing.TB
	text     string
	cleanups []func()
}

func (e *errorRecorder) Errorf(format string, args ...any) { e.text += fmt.Sprintf(format, args...) }
func (e *errorRecorder) Cleanup(f func())                  { e.cleanups = append(e.cleanups, f) }

// TestProcessCrash checks a program that ends during the requests. The failure must say how the
// program has ended, and the program's log must be in a file.
func TestProcessCrash(t *testing.T) {
	dir := t.TempDir()
	e := &errorRecorder{TB: t}
	target := backends.Process{Program: program(t, "dies at the tenth request"), LogDir: dir}.Start(e)
	observer := target.Observe()
	assert.NilError(t, observer.Before(t.Context()))
	var failed error
	for range 10 {
		s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "a", MaxTokens: 1}, true)
		failed = errors.Join(failed, s.Err)
	}
	assert.Assert(t, failed != nil)
	_, _ = observer.After(t.Context())
	const want = "process: after it was ready: the program ended: exit status 9\n  last lines of its log:\n    out of memory"
	assert.ErrorContains(t, observer.Before(t.Context()), want)
	for i := len(e.cleanups) - 1; i >= 0; i-- {
		e.cleanups[i]()
	}
	assert.Assert(t, strings.Contains(e.text, want), "%q", e.text)
	files, err := filepath.Glob(filepath.Join(dir, "process-*.log"))
	assert.NilError(t, err)
	assert.Equal(t, len(files), 1)
	log, err := os.ReadFile(files[0])
	assert.NilError(t, err)
	assert.Equal(t, string(log), "out of memory\n")
}

// TestProcessFromConfig checks the environment variables.
func TestProcessFromConfig(t *testing.T) {
	dir := t.TempDir()
	c, err := backends.ParseConfig([]string{"LLMBENCH_BACKEND=process", "LLMBENCH_READY=/up,5m", "LLMBENCH_NAME=mine", "LLMBENCH_BUILD=" + dir, "LLMBENCH_TEMPLATES={out}/a.cfg, process_test.go", "LLMBENCH_DIRECT=http://server:8000", "LLMBENCH_METRICS=http://a:1/metrics,http://b",
		`LLMBENCH_COMMAND=A='b c' ./engine --port {port} & gateway "x y" {upstream}`})
	assert.NilError(t, err)
	all, err := backends.FromConfig(c, nil)
	assert.NilError(t, err)
	assert.Equal(t, all[0].Name, "mine")
	p := all[0].Backend.(backends.Process)
	assert.DeepEqual(t, p.Beside, []backends.Program{{Command: []string{"./engine", "--port", "{port}"}, Env: map[string]string{"A": "b c"}}})
	here, err := filepath.Abs("process_test.go")
	assert.NilError(t, err)
	assert.DeepEqual(t, p.Program, backends.Program{Command: []string{"gateway", "x y", "{upstream}"}, Health: "/up", Templates: []string{"{out}/a.cfg", here}})
	assert.Equal(t, p.Upstream, "http://server:8000")
	assert.DeepEqual(t, p.MetricsURLs, []string{"http://a:1/metrics", "http://b"})
	assert.Equal(t, p.Ready.Port, 5*time.Minute)
	assert.Equal(t, p.Out, dir)
	for environ, want := range map[string]string{
		"LLMBENCH_COMMAND=a":        "LLMBENCH_COMMAND: means nothing without LLMBENCH_BACKEND=process",
		"LLMBENCH_BUILD=.":          "LLMBENCH_BUILD: means nothing without LLMBENCH_BACKEND=process",
		"LLMBENCH_METRICS=http://a": "LLMBENCH_METRICS: means nothing without LLMBENCH_URL",
		"LLMBENCH_BACKEND=process\nLLMBENCH_COMMAND=a\nLLMBENCH_METRICS=off":       "LLMBENCH_METRICS=off: want addresses, with LLMBENCH_BACKEND=process",
		"LLMBENCH_TEMPLATES={out}/a":                                               "LLMBENCH_TEMPLATES: means nothing without LLMBENCH_BACKEND=process",
		"LLMBENCH_BACKEND=process\nLLMBENCH_COMMAND=a\nLLMBENCH_TEMPLATES=no/such": "LLMBENCH_TEMPLATES=no/such: want a comma list of files, like nginx.conf or {out}/nginx.conf",
		"LLMBENCH_BACKEND=process":                                                 "LLMBENCH_BACKEND=process: want the command to start in LLMBENCH_COMMAND",
		"LLMBENCH_BACKEND=process\nLLMBENCH_COMMAND=a &":                           "LLMBENCH_COMMAND=[not shown]: no command before or after an &",
		"LLMBENCH_BACKEND=process\nLLMBENCH_COMMAND=a | b":                         "LLMBENCH_COMMAND=[not shown]: | outside of quotation marks, and no shell reads the command: want sh -c '…'",
		"LLMBENCH_BACKEND=process\nLLMBENCH_COMMAND=a\nLLMBENCH_READY=sometime":    "LLMBENCH_READY=sometime: want a path like /health, a time like 5m, or both",
	} {
		_, err := backends.ParseConfig(strings.Split(environ, "\n"))
		assert.ErrorContains(t, err, want)
	}
}
