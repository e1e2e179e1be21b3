package backends

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/secret"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A Program is a program that listens on a port of 127.0.0.1. [Process] starts it.
//
// In Command and in values of Env, {port} is replaced with the port that the program is to listen
// on, {upstream} with the port of the program that was started before it, and {NAME} with the port of
// a program of that Name that was started before it. {data} is replaced with a new, empty folder of the
// program, which is removed when all programs have ended, and {out} with [Process.Out]. Results have these
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
// log. On Linux, results have the units srv-cpu-s/ktok and srv-peak-MB, which cover the program and all
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
	llmbench.Watch(tb)
	if err := p.check(); err != nil {
		tb.Fatalf("backends: %v", err)
	}
	var r *started // nil except in shard 0
	type reached struct {
		URL, Model   string
		Config       map[string]string
		KeepsPrompts bool
	}
	told, err := llmbench.Lead("the start of "+p.name(), func() (reached, error) {
		if err := llmbench.CheckOneMachine(); err != nil {
			return reached{}, fmt.Errorf("%s: only this machine can reach it, and these shards are %w; start the server, and set LLMBENCH_URL in all shards", p.name(), err)
		}
		r = newStarted(p, tb.Logf)
		tb.Cleanup(func() {
			if err := r.stop(); err != nil {
				tb.Errorf("backends: %s", redact.Known().Hide(err.Error()))
			}
		})
		if err := r.start(llmbench.Context(tb)); err != nil {
			return reached{}, err
		}
		return reached{r.target.URL, r.target.Model, r.target.Config, r.target.KeepsPrompts}, nil
	})
	if err != nil {
		tb.Fatalf("backends: %s", redact.Known().Hide(err.Error()))
	}
	if r != nil {
		return r.target
	}
	t := p.target()
	t.URL, t.Model, t.Config, t.KeepsPrompts = told.URL, told.Model, told.Config, told.KeepsPrompts
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
	names := map[string]bool{"port": true, "upstream": true, "data": true, "out": true}
	for i, program := range p.programs() {
		switch {
		case len(program.Command) == 0 || program.Command[0] == "":
			invalid("program %d has no Command: want a program and its arguments", i+1)
		case program.Name != "" && names[program.Name]:
			invalid("two programs have the Name %q, or it is port, upstream, data or out: want different names", program.Name)
		case program.Port < 0 || program.Port > 65535:
			invalid("Port %d: want 1 to 65535, or 0 for a free port", program.Port)
		case program.Health != "" && program.Health[0] != '/':
			invalid("Health %q: want a path like /health", program.Health)
		case p.Out == "" && program.names("{out}"):
			invalid("program %d names {out}, and no folder is set (Process.Out, LLMBENCH_BUILD)", i+1)
		}
		names[program.Name] = program.Name != ""
		for name := range program.Env {
			if name == "" || strings.ContainsAny(name, "=\x00") {
				invalid("Env %q: want the name of a variable", name)
			}
		}
	}
	if p.StopDelay < 0 {
		invalid("StopDelay %v: want a duration above 0, or 0 for ten seconds", p.StopDelay)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", p.name(), err)
	}
	return nil
}

// names reports whether the program uses a placeholder.
func (p Program) names(placeholder string) bool {
	has := func(text string) bool { return strings.Contains(text, placeholder) }
	if slices.ContainsFunc(p.Command, has) || slices.ContainsFunc(slices.Collect(maps.Values(p.Env)), has) {
		return true
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(p.Secrets)), func(s env.Secret) bool { return has(s.Reveal()) })
}

// target returns the server without its address and without a model that it lists.
func (p Process) target() llmbench.Target {
	key := cmp.Or(p.APIKey.Reveal(), secret.APIKey(p.Command, p.Env))
	t := URL{Model: p.Model, Dialect: p.Dialect, Header: p.Header, Body: p.Body, Echo: p.Echo}.target()
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
	all := []string{p.APIKey.Reveal()}
	for _, program := range p.programs() {
		_, inArgs := secret.RedactArgs(program.Command)
		all = append(all, inArgs...)
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
