// Package hook runs a command, or sends a request to the server, before and after each measured pass: to start and stop a
// profiler, or to empty a cache.
package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// Pair holds the hooks of a process.
type Pair struct{ Before, After Hook }

// The variables that have the hooks.
const (
	before = "LLMBENCH_BEFORE_PASS"
	after  = "LLMBENCH_AFTER_PASS"
)

// ReadFrom reads the hooks from r, and adds errors to it.
func ReadFrom(r *env.Reader) (p Pair) {
	env.Read(r, &p.Before, before, parse(before), "")
	env.Read(r, &p.After, after, parse(after), "")
	return p
}

// Find returns an error if this machine lacks the program of a command. A path with {benchmark} or {pass} is looked for when
// the command runs.
func (p Pair) Find() error {
	var errs []error
	for _, h := range []Hook{p.Before, p.After} {
		if h.command == "" {
			continue
		}
		if name := h.words()[0]; name == (Place{}).fill(name) {
			if _, err := exec.LookPath(name); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", h.variable, err))
			}
		}
	}
	return errors.Join(errs...)
}

// Settings returns the configuration lines of results with hooks: the request without its query, or the name of the program.
func (p Pair) Settings() map[string]string {
	all := map[string]string{}
	for key, h := range map[string]Hook{"before-pass": p.Before, "after-pass": p.After} {
		switch path, _, _ := strings.Cut(h.path, "?"); {
		case h.method != "":
			all[key] = h.method + " " + path
		case h.command != "":
			all[key] = filepath.Base(h.words()[0])
		}
	}
	return all
}

// A Hook is a command or a request. The zero value is none.
type Hook struct {
	variable     string
	command      string // as in the variable
	method, path string // of a request
	body         string
}

// methods begin a request. A command with one of these names would need a path.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}

// The errors of values.
const (
	errWant    = env.Reason("want a command of this machine, quoted as in a shell, or a request to the server like POST /start_profile")
	errRequest = env.Reason(`want a path of the server behind the method, and at most a body behind it, as in POST /path '{"a":1}'`)
)

// parse returns a function that parses the value of a variable.
func parse(variable string) func(text string) (Hook, error) {
	return func(text string) (Hook, error) {
		words, err := shellquote.Split(text)
		if err != nil || len(words) == 0 || words[0] == "" {
			return Hook{}, errWant
		}
		h := Hook{variable: variable, command: text}
		if !slices.Contains(methods, words[0]) {
			return h, env.NoShell(text)
		}
		if len(words) < 2 || len(words) > 3 || !strings.HasPrefix(words[1], "/") {
			return Hook{}, errRequest
		}
		h.command, h.method, h.path = "", words[0], words[1]
		if len(words) == 3 {
			h.body = words[2]
		}
		return h, nil
	}
}

// words returns the words of the command.
func (h Hook) words() []string {
	words, _ := shellquote.Split(h.command) // parse has reported an error
	return words
}

// IsSet reports whether h is a hook.
func (h Hook) IsSet() bool { return h.variable != "" }

// Name returns the name of the variable.
func (h Hook) Name() string { return h.variable }

// A Place says where in a measurement a hook is.
type Place struct {
	Benchmark string // the name, which {benchmark} in a command or a request stands for, with commas instead of slashes
	Pass      int    // the number of the pass, from 0, which {pass} stands for
}

func (p Place) fill(text string) string {
	return strings.NewReplacer("{benchmark}", strings.ReplaceAll(p.Benchmark, "/", ","), "{pass}", strconv.Itoa(p.Pass)).Replace(text)
}

// Timeout is the longest time of a hook. Profilers that write a trace when they are stopped take minutes.
const Timeout = 10 * time.Minute

// mostOutput is the largest number of bytes of an output that is kept, from its end.
const mostOutput = 4096

// Run runs a command, or sends a request with the client that connect returns, together with the base URL of the server. It
// returns the end of the command's output or of the answer's body. An error has the output, too.
func (h Hook) Run(ctx context.Context, at Place, connect func() (base string, c *http.Client, err error)) (output string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Timeout, fmt.Errorf("it took longer than %v", Timeout))
	defer cancel()
	if h.method != "" {
		output, err = h.ask(ctx, at, connect)
	} else {
		output, err = h.start(ctx, at)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", h.variable, err)
		if output != "" {
			err = fmt.Errorf("%w: %s", err, output)
		}
	}
	return output, err
}

func (h Hook) start(ctx context.Context, at Place) (output string, err error) {
	words := h.words()
	for i, w := range words {
		words[i] = at.fill(w)
	}
	var out tail
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second // a process that the command has started may go on, and keep its output open
	err = cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out.text(), err
}

func (h Hook) ask(ctx context.Context, at Place, connect func() (string, *http.Client, error)) (output string, err error) {
	base, client, err := connect()
	if err != nil {
		return "", err
	}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, h.method, base+at.fill(h.path), strings.NewReader(at.fill(h.body)))
	if err != nil {
		return "", err
	}
	if h.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var out tail
	if _, err = io.Copy(&out, answer.Body); err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: HTTP status %d", h.method, h.path, answer.StatusCode)
	}
	return out.text(), err
}

// A tail keeps the last mostOutput bytes that were written to it.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-mostOutput):]...)
	t.kept = bytes.Clone(t.kept[max(0, len(t.kept)-mostOutput):])
	return len(p), nil
}

func (t *tail) text() string { return strings.TrimSpace(string(t.kept)) }
