package backends

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/program"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/secret"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A Program is a program that listens on a port of 127.0.0.1. [Process] starts it.
//
// In Command, in values of Env and in the contents of files, these placeholders are replaced:
//
//	{port}           port that the program is to listen on
//	{other-port}     another free port, such as for metrics
//	{upstream}       port of the program that was started before this one; of [Process.Upstream], if this is the first
//	{upstream-host}  its host, {upstream-addr} its HOST:PORT, and {upstream-url} its URL
//	{NAME}           port of a program of that Name that was started before this one
//	{dir}            folder with Files and Templates, which is new
//	{data}           folder that is new and empty
//	{out}            [Process.Out]
//
// The folders {dir} and {data} are the program's own, and are removed when all programs have ended. Results have these
// placeholders and not what replaces them, so that they are comparable.
type Program struct {
	Name    string   // by which later programs refer to its port; otherwise not needed
	Command []string // the program and its arguments; they are not passed through a shell
	Dir     string   // its working directory; "" is this process's
	// Env holds environment variables of the program. The program also inherits this process's variables,
	// except those whose names begin with LLMBENCH_. If the last word of a variable's name is TOKEN, KEY,
	// SECRET, PASSWORD, CREDENTIAL or the like ([env.IsSecret]), its value is a secret. So is the value of such
	// a name in a word of Command, be it an option, an assignment in a script or a header field, and the
	// password in a URL. Random texts in Command and in inherited variables are secrets, too. Secrets are never
	// shown.
	Env map[string]string
	// Secrets holds further environment variables. Their values are secrets whatever their names are. Texts
	// that the program or its server writes are searched for secrets of 8 bytes or more.
	Secrets map[string]env.Secret
	// Files are written before the program starts, such as a configuration file with the program's port. A key is the
	// file's path in {dir}, and the value is its text with placeholders. A word in braces that is no placeholder is an
	// error; {{word}} is written as {word}, and other text in braces stays as it is. Secrets in files are treated as in
	// Command. Results have a hash of each text.
	Files map[string]string
	// Templates are paths of files of this machine whose contents are further Files. Each is written under the last
	// element of its path, which may contain {out}. Results have such a path in place of a hash, so that the same file
	// of two commits can be compared.
	Templates []string
	// Port is the port to listen on; 0 means a free one.
	Port int
	// Health is a path, such as /health, at which the program answers with a 2xx status once it is up. If
	// Health is "", an open port is enough.
	Health string
}

// Process is a server that is a program on this machine. Start starts the program, and waits until it has
// answered a completion. The program and all processes that it has started are stopped when the test or
// benchmark ends, on Ctrl-C, on SIGTERM, and when this process ends in any other way. The last guarantee
// has limits outside Linux: on other Unix systems, processes that have left the program's process group may
// survive, and on Windows all of them survive if this process is killed.
//
// If a program exits earlier, the test or benchmark fails with the exit status and the last lines of the
// log. On Linux, results have the units srv-cpu-s/ktok, srv-req/cpu-s and srv-peak-MB, which cover the program and all
// programs in Beside.
type Process struct {
	Program
	// Beside lists programs that are started before this one, in order, such as the servers behind a
	// gateway. Each program has to listen on its port, and to be healthy, before the next one is started.
	Beside []Program

	Backend string // value of backend= in benchmark names and results; "" means "process"
	Model   string // name of the model in requests; "" means the only model that the server lists
	Dialect dialect.Dialect
	Items   dialect.ItemsDialect // what the benchmark asks for, instead of completions; see [URL]
	// APIKey is the bearer token of requests. If it is empty, requests carry the key that Command or Env
	// tell the server to require.
	APIKey env.Secret
	Header http.Header     // further fields of each request; see [llmbench.Target]
	Body   json.RawMessage // changes the body of each completion; see [llmbench.Target]
	Echo   []string        // fields of an answer that the next turn of a session sends back; see [llmbench.Target]
	// ShedStatus holds the statuses with which the server refuses requests because of its load, and
	// RecordHeader names fields of answers for the records; see [llmbench.Target].
	ShedStatus   []int
	RecordHeader []string
	HTTP         string // version of HTTP; see [llmbench.Target]
	// Upstream is the base URL of a server that runs already, behind the programs: {upstream} of the first program. ""
	// means none.
	Upstream string
	// GatewayMetrics are the addresses of the Prometheus metrics of the program, if it is a gateway, or of gateways behind
	// it; see [URL]. {port} is replaced with the port of the program.
	GatewayMetrics []string
	// MetricsURLs are the addresses of the metrics of the servers behind the programs, one for each replica; see [URL]. nil
	// means that the metrics of the program are looked for.
	MetricsURLs []string
	// Out is the folder that {out} stands for: what was built of the version to measure.
	Out string
	// Ready bounds the stages of the start. Those that a program lacks, Image and Setup, are not used.
	Ready Deadlines
	// StopDelay is how long the programs may take to end after SIGTERM, before SIGKILL; 0 means ten seconds.
	StopDelay time.Duration
	// LogDir is a folder for the log of all programs, one file for each start. If it is "", only the last
	// lines of the log are kept, for error messages.
	LogDir string
}

// Start starts the programs and returns the server as a target when it has answered a completion, or ends
// tb with an error.
//
// If several processes (shards) measure together, shard 0 starts the programs and tells the other shards
// the server's address. Start fails if a shard runs on another machine.
func (p Process) Start(tb testing.TB) llmbench.Target {
	tb.Helper()
	harness.Watch(tb)
	if err := p.check(); err != nil {
		tb.Fatalf("backends: %v", err)
	}
	var r *started // nil except in shard 0
	type reached struct {
		URL, Model   string
		Config       map[string]string
		KeepsPrompts bool
		Context      int
	}
	told, err := harness.Lead("the start of "+p.name(), func() (reached, error) {
		if err := harness.CheckOneMachine(); err != nil {
			return reached{}, fmt.Errorf("%s: only this machine can reach it, and these shards are %w; start the server, and set LLMBENCH_URL in all shards", p.name(), err)
		}
		p, err := p.withTemplates()
		if err = cmp.Or(err, p.find()); err != nil {
			return reached{}, err
		}
		r = newStarted(p, tb)
		tb.Cleanup(func() {
			if err := r.stop(); err != nil {
				tb.Errorf("backends: %s", redact.Known().Hide(err.Error()))
			}
		})
		if err := r.start(harness.Context(tb)); err != nil {
			return reached{}, err
		}
		return reached{r.target.URL, r.target.Model, r.target.Config, r.target.KeepsPrompts, r.target.Context}, nil
	})
	if err != nil {
		tb.Fatalf("backends: %s", redact.Known().Hide(err.Error()))
	}
	if r != nil {
		return r.target
	}
	t := p.target()
	t.URL, t.Model, t.Config, t.KeepsPrompts, t.Context = told.URL, told.Model, told.Config, told.KeepsPrompts, told.Context
	return t
}

// processName is the name of [Process] in LLMBENCH_BACKEND.
const processName = "process"

// name returns the name of the server in benchmark names, after backend=.
func (p Process) name() string { return cmp.Or(p.Backend, processName) }

// programs returns all programs in the order of their start.
func (p Process) programs() []Program { return append(slices.Clone(p.Beside), p.Program) }

// check returns what is wrong with the fields, or nil.
func (p Process) check() error {
	var errs []error
	invalid := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	names := map[string]bool{}
	for _, name := range placeholderNames {
		names[name] = true
	}
	for i, program := range p.programs() {
		switch {
		case len(program.Command) == 0 || program.Command[0] == "":
			invalid("program %d has no Command: want a program and its arguments", i+1)
		case program.Name != "" && names[program.Name]:
			invalid("two programs have the Name %q, or it is one of %s: want different names", program.Name, strings.Join(placeholderNames, ", "))
		case program.Port < 0 || program.Port > 65535:
			invalid("Port %d: want 1 to 65535, or 0 for a free port", program.Port)
		case program.Health != "" && program.Health[0] != '/':
			invalid("Health %q: want a path like /health", program.Health)
		case p.Out == "" && program.names("{out}"):
			invalid("program %d names {out}, and no folder is set (Process.Out, LLMBENCH_BUILD)", i+1)
		}
		names[program.Name] = program.Name != ""
		if err := program.checkFiles(); err != nil {
			invalid("program %d: %v", i+1, err)
		}
		for _, name := range slices.Sorted(maps.Keys(program.Env)) {
			if name == "" || strings.ContainsAny(name, "=\x00") {
				invalid("Env %q: want the name of a variable", name)
			}
		}
	}
	if u, err := url.Parse(p.Upstream); p.Upstream != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		invalid("Upstream: want a base URL like http://127.0.0.1:8000") // which may have a password
	}
	if p.StopDelay < 0 {
		invalid("StopDelay %v: want a duration above 0, or 0 for ten seconds", p.StopDelay)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", p.name(), err)
	}
	return nil
}

// find returns an error if this machine lacks one of the programs, so that it is missed before the first one is started.
// Programs whose path has a placeholder other than {out} are looked for when they start.
func (p Process) find() error {
	for _, one := range p.programs() {
		command := slices.Clone(one.Command)
		command[0] = strings.ReplaceAll(command[0], "{out}", p.Out)
		if strings.Contains(command[0], "{") {
			continue
		}
		if err := program.Find(program.Command{Args: command, Dir: one.Dir}); err != nil {
			return fmt.Errorf("%s: %w", p.name(), err)
		}
	}
	return nil
}

// names reports whether the program uses a placeholder.
func (p Program) names(placeholder string) bool {
	has := func(text string) bool { return strings.Contains(text, placeholder) }
	if slices.ContainsFunc(p.Command, has) || slices.ContainsFunc(p.Templates, has) ||
		slices.ContainsFunc(slices.Collect(maps.Values(p.Env)), has) || slices.ContainsFunc(slices.Collect(maps.Values(p.Files)), has) {
		return true
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(p.Secrets)), func(s env.Secret) bool { return has(s.Reveal()) })
}

// target returns the server without its address and without a model that it lists.
func (p Process) target() llmbench.Target {
	key := cmp.Or(p.APIKey.Reveal(), secret.APIKey(p.Command, p.Env))
	t := URL{Model: p.Model, Dialect: p.Dialect, Header: p.Header, Body: p.Body, Echo: p.Echo, ShedStatus: p.ShedStatus, RecordHeader: p.RecordHeader, HTTP: p.HTTP}.target()
	if key != "" { // whatever the dialect, because engines such as vLLM only accept a bearer token
		t.Header.Set("Authorization", "Bearer "+key)
	}
	t.Ephemeral = true
	return t
}

// describe returns the configuration lines: the commands without the folders of the programs, and with
// placeholders such as {port}, because what replaces them changes from start to start.
func (p Process) describe() map[string]string {
	c := map[string]string{"backend": p.name()}
	for i, program := range p.programs() {
		suffix := ""
		if i < len(p.Beside) {
			suffix = "-" + configKey(cmp.Or(program.Name, strconv.Itoa(i+1)))
		}
		args, _ := secret.RedactArgs(program.Command)
		args[0] = filepath.Base(args[0])
		c["command"+suffix] = strings.ReplaceAll(shellquote.Join(args...), `\{`, "{")
		for name, value := range program.Env {
			c["env"+suffix+"-"+configKey(name)] = secret.Redact(name, value)
		}
		program.describeFiles(c, suffix)
		for name := range program.Secrets {
			c["env"+suffix+"-"+configKey(name)] = secret.Placeholder
		}
	}
	return c
}

// configKey turns a name into a part of the key of a configuration line.
func configKey(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ':' || r == ' ' {
			return '_'
		}
		return r
	}, strings.ToLower(name))
}

// secrets returns the secrets in the settings of the programs.
func (p Process) secrets() []string {
	_, inUpstream := secret.RedactArgs([]string{p.Upstream})
	all := append([]string{p.APIKey.Reveal()}, inUpstream...)
	for _, program := range p.programs() {
		_, inArgs := secret.RedactArgs(program.Command)
		all = append(append(all, inArgs...), program.fileSecrets()...)
		for name, value := range program.Env {
			all = append(all, secret.InVariable(name, value)...)
		}
		for _, value := range program.Secrets {
			all = append(all, value.Reveal())
		}
	}
	return all
}

// environ returns the environment of a program. The parameter environ is this process's environment, and
// replace puts ports into values.
func (p Program) environ(environ []string, replace *strings.Replacer) []string {
	own := map[string]string{}
	maps.Copy(own, p.Env)
	for name, value := range p.Secrets {
		own[name] = value.Reveal()
	}
	var all []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if _, replaced := own[name]; !replaced && !strings.HasPrefix(name, "LLMBENCH_") {
			all = append(all, entry)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		all = append(all, name+"="+replace.Replace(own[name]))
	}
	return all
}
