package backends

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// A Readiness says how to tell that the server of [Process] is ready.
type Readiness struct {
	Health string        // path at which the server answers with a 2xx status when it is up; "" means none
	Limit  time.Duration // for each stage of the start; 0 means the default
}

// readProcess reads the variables of [Process].
func readProcess(r *env.Reader, c *Config) {
	env.ReadHidden(r, &c.Command, "LLMBENCH_COMMAND", parseCommand, "a command, quoted as in a shell")
	env.Read(r, &c.Ready, "LLMBENCH_READY", parseReady, "a path like /health, a time like 5m, or both: /health,5m")
	env.Read(r, &c.Build, "LLMBENCH_BUILD", env.Folder, "a folder with what was built")
	env.Read(r, &c.Templates, "LLMBENCH_TEMPLATES", env.List(parseTemplate), "a comma list of files, like nginx.conf or {out}/nginx.conf")
	named := slices.Contains(c.Backends, processName)
	for _, name := range []string{"LLMBENCH_COMMAND", "LLMBENCH_READY", "LLMBENCH_BUILD", "LLMBENCH_TEMPLATES"} {
		if r.IsSet(name) && !named {
			r.Errorf("%s: means nothing without LLMBENCH_BACKEND=%s", name, processName)
		}
	}
	if named && !r.IsSet("LLMBENCH_COMMAND") {
		r.Errorf("LLMBENCH_BACKEND=%s: want the command to start in LLMBENCH_COMMAND", processName)
	}
}

// assignment matches the assignment of an environment variable before a command.
var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// parseCommand parses commands in a subset of shell syntax: words, assignments of environment variables
// before a command, and & between programs that run at the same time. The last program is the server.
func parseCommand(v string) ([]Program, error) {
	words, err := shellquote.Split(v)
	if err == nil {
		err = env.NoShell(v, "&")
	}
	if err != nil {
		return nil, err
	}
	all := []Program{{}}
	for _, word := range words {
		p := &all[len(all)-1]
		switch {
		case word == "&":
			all = append(all, Program{})
		case len(p.Command) == 0 && assignment.MatchString(word):
			name, value, _ := strings.Cut(word, "=")
			if p.Env == nil {
				p.Env = map[string]string{}
			}
			p.Env[name] = value
		default:
			p.Command = append(p.Command, word)
		}
	}
	if slices.ContainsFunc(all, func(p Program) bool { return len(p.Command) == 0 }) {
		return nil, env.Reason("no command before or after an &: want a program and its arguments")
	}
	return all, nil
}

// parseTemplate accepts a file of this machine. A path with {out} is checked when the program starts.
func parseTemplate(v string) (string, error) {
	if strings.Contains(v, "{out}") {
		return v, nil
	}
	return env.File(v)
}

// parseReady reads a path, a time, or both.
func parseReady(v string) (r Readiness, err error) {
	for part := range strings.SplitSeq(v, ",") {
		part = strings.TrimSpace(part)
		switch d, err := time.ParseDuration(part); {
		case strings.HasPrefix(part, "/") && r.Health == "":
			r.Health = part
		case err == nil && d > 0 && r.Limit == 0:
			r.Limit = d
		default:
			return r, errors.New("neither a path nor a time")
		}
	}
	return r, nil
}

// processFrom returns the process that the environment describes.
func processFrom(c Config) Process {
	last := len(c.Command) - 1
	limit := c.Ready.Limit
	p := Process{
		Program: c.Command[last], Beside: c.Command[:last], Backend: c.Name, Model: c.Model, Dialect: c.Dialect, APIKey: c.APIKey,
		Header: map[string][]string(c.Header), Body: []byte(c.Body.Reveal()), Echo: c.Echo, ShedStatus: c.ShedStatus, RecordHeader: c.RecordHeader, HTTP: c.HTTP, GatewayMetrics: c.Gateway, LogDir: c.LogDir, Out: c.Build, Upstream: c.Direct, MetricsURLs: c.Metrics,
		Ready: Deadlines{Running: limit, Port: limit, Health: limit, Completion: limit},
	}
	p.Health, p.Templates = c.Ready.Health, c.Templates
	return p
}
