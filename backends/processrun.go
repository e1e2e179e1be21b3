package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/about"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/ports"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/program"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/secret"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A started is a [Process] that was started.
type started struct {
	Process
	log   *serverlog.Log
	logs  []*serverlog.Log // of each of several programs; they write to log
	file  *os.File         // holds the whole log; nil without a LogDir
	parts []startedPart
	// folders are what {dir} and {data} stand for, of all programs.
	folders []string
	target  llmbench.Target
	logf    func(format string, args ...any)
	note    func(text string) // prints a text at once
	attempt func(error)       // records an attempt of the current stage; see [probe.Watch]

	cold              bool          // the first completion is streamed, so that the time of its first token is known
	ready, firstToken time.Duration // from the start of the first program until the last one was healthy, and until the first token
}

// A startedPart is one program of a [Process].
type startedPart struct {
	Program
	label   string // name of the program in messages; "" if it is the only program
	port    string
	program *program.Program
}

func newStarted(p Process, tb testing.TB) *started {
	redact.Add(append(p.secrets(), secret.Inherited(os.Environ())...)...)
	s := &started{Process: p, log: &serverlog.Log{}, target: p.target()}
	s.logf = func(format string, args ...any) {
		tb.Logf("%s: %s", p.name(), s.target.Redact(fmt.Sprintf(format, args...)))
	}
	s.note = func(text string) { harness.Note(tb, s.target.Redact(text)) }
	return s
}

// start starts the programs, each through its stages. After an error, stop must be called.
func (s *started) start(ctx context.Context) error {
	if err := s.openLog(); err != nil {
		return fmt.Errorf("%s: the file of its log: %w", s.name(), err)
	}
	limits := launch.Deadlines(s.Ready).WithDefaults()
	began := time.Now()
	values := map[string]string{"out": s.Out} // of placeholders
	if s.Upstream != "" {
		u, err := url.Parse(s.Upstream)
		if err != nil {
			return fmt.Errorf("%s: Upstream: %w", s.name(), err)
		}
		maps.Copy(values, upstreamPlaceholders(u))
	} else if s.programs()[0].names("{upstream") {
		return fmt.Errorf("%s: program 1 names {upstream}, and there is none: no program is started before it (Process.Beside), and no server is named (Process.Upstream, LLMBENCH_DIRECT)", s.name())
	}
	for i, p := range s.programs() {
		part := startedPart{Program: p}
		if len(s.Beside) > 0 {
			part.label = cmp.Or(p.Name, fmt.Sprintf("program %d", i+1))
		}
		if err := s.stage(ctx, part, "running", limits.Running, func(context.Context) error { return s.launch(&part, values) }); err != nil {
			return err
		}
		if err := s.stage(ctx, part, "port", limits.Port, s.listens(part.port)); err != nil {
			return err
		}
		s.target.URL = "http://127.0.0.1:" + part.port
		if p.Health != "" {
			if err := s.stage(ctx, part, "health", limits.Health, s.healthy(p.Health)); err != nil {
				return err
			}
		}
		maps.Copy(values, upstreamPlaceholders(&url.URL{Scheme: "http", Host: "127.0.0.1:" + part.port}))
		if p.Name != "" {
			values[p.Name] = part.port
		}
	}
	s.ready = time.Since(began)
	last := s.parts[len(s.parts)-1]
	if err := s.stage(ctx, last, "completion", limits.Completion, func(ctx context.Context) error {
		sent, answer, err := completes(ctx, &s.target, s.Items, s.cold, true, s.attempt)
		if final, ok := errors.AsType[*probe.Final](err); ok {
			err = explained(ctx, s.target, final, err)
		}
		if answer.Deltas > 0 {
			s.firstToken = sent.Add(answer.Seen()).Sub(began)
		}
		return err
	}); err != nil {
		return err
	}
	s.target.Config = s.describe()
	s.target.Config["model"] = s.target.Model
	source, err := s.observe(ctx)
	if err != nil {
		return err
	}
	facts := about.Ask(ctx, s.target, source)
	facts.AddTo(s.target.Config, "model-root") // the command has the model, which may be in a folder of its own for each start
	s.target.Context = facts.Refuses
	if s.target.Config["server-version"] == "" {
		s.readVersion(ctx, last.Program)
	}
	return nil
}

// openLog prepares the log, which hides secrets.
func (s *started) openLog() (err error) {
	if s.LogDir == "" {
		return nil
	}
	s.file, err = s.log.Create(s.LogDir, llmbench.NameValue(s.name()))
	return err
}

// launch writes the files of a program, and starts the program. values has the values of placeholders; launch sets the
// values of the program.
func (s *started) launch(part *startedPart, values map[string]string) (err error) {
	addr := ""
	if part.Port != 0 {
		addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(part.Port))
	}
	if _, part.port, err = ports.FreeAddr(addr); err != nil {
		return err
	}
	values["port"] = part.port
	if _, values["other-port"], err = ports.FreeAddr(""); err != nil {
		return err
	}
	if err := s.makeFolders(part.Program, values); err != nil {
		return err
	}
	if err := part.writeFiles(values); err != nil {
		return err
	}
	replace := replacer(values)
	c := program.Command{Dir: part.Dir, Env: part.environ(os.Environ(), replace), Output: s.log, StopDelay: s.StopDelay}
	if part.label != "" {
		own := &serverlog.Log{Line: func(line string) { fmt.Fprintf(s.log, "%s: %s\n", part.label, line) }}
		c.Output, s.logs = own, append(s.logs, own)
	}
	for _, word := range part.Command {
		c.Args = append(c.Args, replace.Replace(word))
	}
	if part.program, err = program.Start(c); err != nil {
		return err
	}
	s.parts = append(s.parts, *part)
	return nil
}

// listens returns a stage that waits until the program started last listens on its port.
func (s *started) listens(port string) func(context.Context) error {
	dialer := net.Dialer{Timeout: time.Second}
	return func(ctx context.Context) error {
		return probe.Poll(ctx, func() (again bool, err error) {
			conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", port))
			if err != nil {
				err = fmt.Errorf("nothing listens on port %s, which {port} stands for: %s", port, probe.Reason(err))
				s.attempt(err)
				return true, err
			}
			return false, conn.Close()
		})
	}
}

// lastLine returns the last line of the log for a message, or "" if there is none. The line shows what a program does
// that takes minutes to start.
func (s *started) lastLine() string {
	lines := s.log.Lines()
	for _, line := range slices.Backward(lines) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			return "; its log: " + s.target.Excerpt(line, shownLine)
		}
	}
	return ""
}

// shownLine is the largest length in bytes of a line of the log in a message about the progress of a start.
const shownLine = 120

// healthy returns a stage that waits until the program started last answers at path.
func (s *started) healthy(path string) func(context.Context) error {
	return func(ctx context.Context) error {
		return probe.Poll(ctx, func() (again bool, err error) {
			one, cancel := context.WithTimeout(ctx, probe.Timeout)
			defer cancel()
			s.attempt(nil)
			if _, err = (probe.Server{Target: s.target}).Get(one, path); err != nil {
				s.attempt(err)
			}
			return err != nil, err
		})
	}
}

// stage runs one stage in the start of a program. The stage fails at its deadline, or if a program exits.
func (s *started) stage(ctx context.Context, part startedPart, name string, limit time.Duration, do func(context.Context) error) error {
	began := time.Now()
	if part.label != "" {
		name = part.label + ": " + name
	}
	w := probe.NewWatch(func(waited time.Duration, last error) {
		s.note(fmt.Sprintf("waiting for %s: %s: %s; %v left%s", s.name(), name, probe.Reason(last), (limit - waited).Round(time.Second), s.lastLine()))
	})
	s.attempt = w.Attempt
	err := probe.Within(ctx, limit, s.endings(), do)
	w.Stop()
	if end := s.endAfter(err); end != "" { // also without an error: another program may have answered at the port
		return s.failure(name, errors.New(end))
	}
	if err == nil {
		s.logf("%s: done after %v", name, time.Since(began).Round(time.Millisecond))
		return nil
	}
	return s.failure(name, err)
}

// endings returns the channels that are closed when a program has exited.
func (s *started) endings() (all []<-chan struct{}) {
	for _, p := range s.parts {
		all = append(all, p.program.Ended())
	}
	return all
}

// endAfter says which program has exited and how, or returns "" if all run. If err is not nil, it waits for a program
// to exit; see [probe.AwaitEnd].
func (s *started) endAfter(err error) string {
	if err != nil {
		probe.AwaitEnd(s.endings())
	}
	return s.ended()
}

// ended says which program has exited and how, or returns "" if all run.
func (s *started) ended() string {
	for _, p := range s.parts {
		select {
		case <-p.program.Ended():
			return p.end()
		default:
		}
	}
	return ""
}

// end says how the program has exited.
func (p *startedPart) end() string {
	if p.label != "" {
		return p.label + " ended: " + p.program.End()
	}
	return "the program ended: " + p.program.End()
}

// failure returns the error of a stage, with the last lines of the log and advice for a known failure.
func (s *started) failure(stage string, err error) error {
	if s.ended() != "" {
		s.stopAll() // also waits for the last lines of the log
	}
	note := ""
	if s.target.Config == nil { // the start has failed
		note = s.unknownPlaceholders()
	}
	return s.log.Failure(fmt.Sprintf("%s: %s: %v", s.name(), stage, err), launch.Advice(s.knownFailures(), false, s.log.Lines()), note)
}

// knownFailures returns the log lines of programs that cannot start. They are known for programs that
// package backends can also launch in a container.
func (s *started) knownFailures() (all []launch.Failure) {
	for _, p := range s.programs() {
		for _, spec := range p.known() {
			all = append(all, spec.Failures...)
		}
	}
	return all
}

// known returns the specs of the servers whose names the first words of the command have. There is at most one, as a
// rule.
func (p Program) known() (all []launch.Spec) {
	for _, word := range p.Command[:min(len(p.Command), 3)] { // also python3 -m vllm.entrypoints.openai.api_server
		name, _, _ := strings.Cut(filepath.Base(word), ".")
		name = cmp.Or(map[string]string{"llama-server": "llamacpp", "text-generation-launcher": "tgi"}[name], name)
		if server, known := servers[name]; known {
			if spec, err := server(typical("", "any:1")).Spec(); err == nil {
				all = append(all, spec)
			}
		}
	}
	return all
}

// readVersion asks a known server for its version, as in a container. A failure is only logged.
func (s *started) readVersion(ctx context.Context, p Program) {
	for _, spec := range p.known() {
		if spec.Version.Path == "" {
			continue
		}
		v, err := probe.Server{Target: s.target}.Field(ctx, spec.Version)
		if err != nil {
			s.logf("the version of the server cannot be read: %v", err)
			continue
		}
		s.target.Config["server-version"] = v
	}
}

// stop ends the programs, the last one first. It returns an error if one had ended before.
func (s *started) stop() (err error) {
	if end := s.ended(); end != "" && s.target.Config != nil { // otherwise the start has failed, and that error was reported
		err = s.failure("after it was ready", errors.New(end))
	}
	err = errors.Join(err, s.stopAll())
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	return err
}

// stopAll stops the programs, the last one first.
func (s *started) stopAll() (err error) {
	for _, p := range slices.Backward(s.parts) {
		killed, stopErr := p.program.Stop()
		if killed != "" {
			s.logf("it did not end after SIGTERM and was killed: %s", killed)
		}
		err = errors.Join(err, stopErr)
	}
	for _, log := range append(s.logs, s.log) {
		log.Flush()
	}
	for _, folder := range s.folders {
		err = errors.Join(err, os.RemoveAll(folder))
	}
	s.folders = nil
	return err
}
