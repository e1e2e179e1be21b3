package backends

import (
	"fmt"
	"maps"
	"net"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/facts"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// TestFacts compares every golden command, and everything that the client asks the server that it
// starts, with what the server's own source says.
func TestFacts(t *testing.T) {
	all, err := facts.Load("testdata/facts")
	assert.NilError(t, err)
	for _, c := range goldenCases {
		t.Run(c.backend+"/"+c.name, func(t *testing.T) {
			spec, err := c.server.Spec()
			assert.NilError(t, err)
			f, doubt, found := facts.For(all, c.backend, spec.Image)
			if c.backend == "mock-container" { // the tests of package container check this server
				return
			}
			assert.Assert(t, found, "testdata/facts has no file of %s", c.backend)
			assert.Assert(t, doubt == "" || strings.Contains(spec.Image, "@sha256:"), doubt) // a digest does not tell the version
			if reflect.ValueOf(c.server).FieldByName("Container").FieldByName("Image").IsZero() && !strings.Contains(spec.Image, "@sha256:") {
				i := slices.IndexFunc(f.Images, func(i facts.Image) bool { return i.Name == spec.Image })
				assert.Assert(t, i >= 0, "image %s is not attested", spec.Image)
				assert.Assert(t, spec.Devices.Vendor == "" || spec.Devices.Vendor == f.Images[i].For, "image %s is for %s, and the devices are %s", spec.Image, f.Images[i].For, spec.Devices)
			}
			for _, problem := range contradictions(f, spec) {
				t.Errorf("%s %s: %s", f.Server, f.Version, problem)
			}
			for _, part := range spec.Beside {
				f, doubt, found := facts.For(all, part.Backend, part.Image)
				assert.Assert(t, found && doubt == "", "%s: %s", part.Name, doubt)
				for _, problem := range contradictions(f, part) {
					t.Errorf("%s: %s %s: %s", part.Name, f.Server, f.Version, problem)
				}
			}
		})
	}
}

// TestFactsNotice checks that a wrong name or value contradicts the facts, wherever in a Spec it
// is.
func TestFactsNotice(t *testing.T) {
	all, err := facts.Load("testdata/facts")
	assert.NilError(t, err)
	for _, c := range []struct {
		change func(*launch.Spec)
		want   string
	}{
		{func(*launch.Spec) {}, ""},
		{func(s *launch.Spec) { s.Entrypoint = []string{"vllm", "server"} }, `want one that begins with ["vllm" "serve"]`},
		{func(s *launch.Spec) { s.Cmd = append(s.Cmd, "--max-num-seq", "1") }, "unrecognized arguments: --max-num-seq"},
		{func(s *launch.Spec) { s.Cmd = append(s.Cmd, "--quantization", "gguf") }, "argument --quantization: invalid value: 'gguf'"},
		{func(s *launch.Spec) { s.Env["VLLM_DEV_MODE"] = "1" }, "variable VLLM_DEV_MODE: vllm 0.31.0 does not read it"},
		{func(s *launch.Spec) { s.Files = []launch.File{{Path: "/etc/settings.json", Content: "{}"}} }, "no facts say that the server reads /etc/settings.json"},
		{func(s *launch.Spec) { s.HealthPath = "/healthz" }, "GET /healthz: no such route"},
		{func(s *launch.Spec) { s.ModelsPath = "/models" }, "GET /models: no such route"},
		{func(s *launch.Spec) { s.Version.Path = "/info" }, "GET /info: no such route"},
		{func(s *launch.Spec) { s.Setup = []probe.Step{{Method: "POST", Path: "/load"}} }, "POST /load: no such route"},
		{func(s *launch.Spec) { delete(s.Env, "VLLM_SERVER_DEV_MODE") }, "POST /reset_prefix_cache exists only with VLLM_SERVER_DEV_MODE=1"},
		{func(s *launch.Spec) { s.Port = 9000 }, "the server listens on port 8000, and not on 9000"},
		{func(s *launch.Spec) { s.MetricsPort = 9000 }, "GET /metrics: the server answers on port 8000, and not on 9000"},
		{func(s *launch.Spec) { s.Cmd = append(s.Cmd, "--host", "localhost") }, "the server listens on localhost, which cannot be reached from outside of the container"},
		{func(s *launch.Spec) { s.Metrics.KVUsage = metrics.Alternatives{"vllm:kv"} }, "metric vllm:kv: no such name"},
		{func(s *launch.Spec) { s.Metrics.KVUsage = metrics.Alternatives{"vllm:gpu_cache_usage_perc"} }, "this version has none of the metrics [vllm:gpu_cache_usage_perc]"},
		{func(s *launch.Spec) { s.ListedModel = "n" }, `the server lists the model as "m" by [--served-model-name model_tag], and "n" is looked for`},
		{func(s *launch.Spec) { s.Model = "n" }, `the server answers requests for the model "m" only, and they name "n"`},
		{func(s *launch.Spec) { s.Cmd = append(s.Cmd, "--served-model-name", "n") }, `the server lists the model as "n"`},
		{func(s *launch.Spec) { s.Metrics.KVUsage = s.Metrics.CacheHits }, "metric vllm:prefix_cache_hits_total is a counter: want gauge"},
		{func(s *launch.Spec) { s.Failures = []launch.Failure{{Log: "No available memory|out of blocks"}} }, `no known line of the log matches "out of blocks"`},
	} {
		spec, err := VLLM{Container: Container{Model: "m"}}.Spec()
		assert.NilError(t, err)
		f, doubt, found := facts.For(all, "vllm", spec.Image)
		assert.Assert(t, found && doubt == "", doubt)
		c.change(&spec)
		problems := fmt.Sprintln(contradictions(f, spec))
		assert.Assert(t, strings.Contains(problems, c.want), "want %q, got %s", c.want, problems)
		assert.Equal(t, problems == "[]\n", c.want == "", problems)
	}
}

// A collector collects the contradictions between a Spec and facts.
type collector struct {
	facts    facts.Facts
	spec     launch.Spec
	set      facts.Settings // what the command, the environment and documents set
	problems []string
}

func (c *collector) add(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// contradictions returns everything in spec that the facts contradict.
func contradictions(f facts.Facts, spec launch.Spec) []string {
	c := &collector{facts: f, spec: spec, set: facts.Settings{}}
	c.checkSettings()
	c.checkModel()
	for _, l := range f.Listeners {
		host, port := l.Address(c.set)
		if l.Name == "" && host != "0.0.0.0" && host != "::" {
			c.add("the server listens on %s, which cannot be reached from outside of the container", host)
		}
		if l.Name == "" && port != fmt.Sprint(spec.Port) {
			c.add("the server listens on port %s, and not on %d", port, spec.Port)
		}
	}
	c.checkRoutes()
	c.checkMetrics()
	for _, failure := range spec.Failures {
		for _, alternative := range alternatives(failure.Log) {
			re := regexp.MustCompile(alternative)
			if !slices.ContainsFunc(f.Failures, func(l facts.Line) bool { return re.MatchString(l.Text) }) {
				c.add("no known line of the log matches %q", alternative)
			}
		}
	}
	return c.problems
}

// checkSettings checks the command, the environment variables, the files and the requests that set
// up the server. It also collects what they set.
func (c *collector) checkSettings() {
	take := func(set facts.Settings, err error) {
		if err != nil {
			c.add("%v", err)
		}
		maps.Copy(c.set, set)
	}
	words := c.spec.Entrypoint
	switch i := slices.IndexFunc(c.facts.Images, func(i facts.Image) bool { return i.Name == c.spec.Image }); {
	case words == nil && i >= 0:
		words = c.facts.Images[i].Entry
	case words == nil && len(c.facts.Images) > 0:
		words = c.facts.Images[0].Entry
	}
	files := map[string]string{}
	for _, f := range c.spec.Files {
		files[f.Path] = f.Content
	}
	if n := len(words); n > 0 && files[words[n-1]] != "" { // one of our scripts, which runs the command that follows it
		delete(files, words[n-1])
		words = nil
	}
	take(c.facts.ParseCommand(slices.Concat(words, c.spec.Cmd)))
	env := maps.Clone(c.spec.Env)
	for name := range c.spec.PassEnv {
		env[name] = "text"
	}
	for name := range c.spec.Devices.Env() { // the driver reads these variables, not the server
		delete(env, name)
	}
	take(c.facts.Environment(env))
	for name, content := range files {
		if slices.ContainsFunc(c.spec.Setup, func(s probe.Step) bool { return slices.Contains(s.Exec, name) }) {
			continue // a command of the setup reads this variable, not the server
		}
		if !slices.ContainsFunc(c.facts.Fields, func(d facts.Field) bool { return d.In == name }) {
			c.add("no facts say that the server reads %s", name)
			continue
		}
		take(c.facts.Document(name, []byte(content)))
	}
	for _, step := range c.spec.Setup {
		if step.Body != "" {
			take(c.facts.Document(step.Method+" "+step.Path, []byte(step.Body)))
		}
	}
}

// checkModel checks that the server gives its model the name under which the client looks for it in
// the server's list, and the name that requests carry.
func (c *collector) checkModel() {
	m, name := c.facts.Model, c.facts.ModelName(c.set)
	switch {
	case m.Behind != "":
		// The server behind this one has the model. That server has its own facts.
	case name == "":
		c.add("nothing gives the model a name: want one of %v", m.Settings)
	case c.spec.AdoptModel:
		// Requests carry the name that the server lists, whatever it is.
	case m.Listed == "own":
		c.add("the server makes a name of its own for the model, which is not adopted")
	case c.spec.ListedModel != "" && c.spec.ListedModel != name:
		c.add("the server lists the model as %q by %v, and %q is looked for", name, m.Settings, c.spec.ListedModel)
	case !m.Any && c.spec.Model != name && !(m.Listed == "tagged" && c.spec.Model+":latest" == name):
		c.add("the server answers requests for the model %q only, and they name %q", name, c.spec.Model)
	}
}

// checkRoutes checks that the server answers the requests that the client sends, at the paths and
// ports where the client sends them.
func (c *collector) checkRoutes() {
	main := c.spec.Port
	var d dialect.Dialect = dialect.OpenAIChat{}
	if c.spec.Dialect != nil {
		d = c.spec.Dialect
	}
	c.checkRoute("POST", d.Path(dialect.Query{}), main)
	for _, path := range []string{c.spec.HealthPath, c.spec.ModelsPath, c.spec.Version.Path, c.spec.GPUResidency[0].Path, c.spec.GPUResidency[1].Path} {
		c.checkRoute("GET", path, main)
	}
	for _, step := range slices.Concat(c.spec.Setup, c.spec.ResetCache) {
		if step.Exec == nil {
			c.checkRoute(step.Method, strings.ReplaceAll(step.Path, "%d", "0"), main)
			c.checkRoute("GET", step.Count.Path, main)
		}
	}
	if c.spec.MetricsPort != 0 {
		main = c.spec.MetricsPort
	}
	if c.spec.MetricsOf == "" { // otherwise the facts of the other container are asked
		c.checkRoute("GET", c.spec.Metrics.Path, main)
	}
}

// checkRoute checks one route. If the path is "", there is no such request.
func (c *collector) checkRoute(method, pathAndQuery string, port int) {
	asked, _, _ := strings.Cut(pathAndQuery, "?")
	if asked == "" {
		return
	}
	var ports []string
	for _, r := range c.facts.Routes {
		pattern := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(r.Path, "*")
		if matched, _ := path.Match(pattern, asked); !matched || r.Method != method {
			continue
		}
		if r.Needs != "" && !c.set.Has(r.Needs) {
			c.add("%s %s exists only with %s", method, asked, r.Needs)
		}
		l := c.facts.Listeners[slices.IndexFunc(c.facts.Listeners, func(l facts.Listener) bool { return l.Name == r.Listener })]
		host, port := l.Address(c.set)
		ports = append(ports, port)
		if net.ParseIP(host).IsLoopback() {
			c.add("%s %s: the server answers on %s, which cannot be reached from outside of the container", method, asked, host)
		}
	}
	switch {
	case ports == nil:
		c.add("%s %s: no such route", method, asked)
	case !slices.Contains(ports, fmt.Sprint(port)):
		c.add("%s %s: the server answers on port %s, and not on %d", method, asked, strings.Join(ports, " or "), port)
	}
}

// checkMetrics checks the names and the types of metrics.
func (c *collector) checkMetrics() {
	n := c.spec.Metrics
	for _, m := range []struct {
		names metrics.Alternatives
		types []string
	}{
		{n.CacheHits, []string{"counter"}}, {n.CacheQueries, []string{"counter"}}, {n.CacheMisses, []string{"counter"}}, {n.CacheHitRate, []string{"gauge"}},
		{n.Preemptions, []string{"counter"}}, {n.KVUsage, []string{"gauge"}}, {n.QueueTime, []string{"histogram", "summary"}},
		{n.Requests, []string{"counter", "histogram", "summary"}}, {n.PromptTokens, []string{"counter", "histogram", "summary"}}, {n.OutputTokens, []string{"counter", "histogram", "summary"}},
		{n.Waiting, []string{"gauge"}}, {n.TTFT, []string{"histogram", "summary"}}, {n.ITL, []string{"histogram", "summary"}}, {n.E2E, []string{"histogram", "summary"}},
		{n.PrefillTime, []string{"counter", "histogram"}}, {n.PrefillTokens, []string{"counter", "histogram"}}, {n.ComputedTokens, []string{"counter"}}, {n.ReusedTokens, []string{"counter"}}, {n.TransferredTokens, []string{"counter"}},
		{n.OpenRequests, []string{"gauge"}}, {n.Drafts, []string{"counter"}}, {n.DraftTokens, []string{"counter"}}, {n.Accepted, []string{"counter", "histogram", "summary"}}, {n.AcceptLength, []string{"gauge"}},
	} {
		today := len(m.names) == 0
		for _, name := range m.names {
			name, _, _ = strings.Cut(name, "{") // without labels
			i := slices.IndexFunc(c.facts.Metrics, func(f facts.Metric) bool { return f.Name == name })
			if i < 0 {
				c.add("metric %s: no such name", name)
				continue
			}
			f := c.facts.Metrics[i]
			today = today || f.Until == "" && f.Since == ""
			if !slices.Contains(m.types, f.Type) {
				c.add("metric %s is a %s: want %s", name, f.Type, strings.Join(m.types, " or "))
			}
			if f.Needs != "" && !c.set.Has(f.Needs) {
				c.add("metric %s exists only with %s", name, f.Needs)
			}
		}
		if !today {
			c.add("this version has none of the metrics %v", m.names)
		}
	}
}

// alternatives splits a regular expression at the bars outside of parentheses.
func alternatives(expression string) (all []string) {
	depth, from := 0, 0
	for i := 0; i < len(expression); i++ {
		switch expression[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			depth--
		case '|':
			if depth == 0 {
				all = append(all, expression[from:i])
				from = i + 1
			}
		}
	}
	return append(all, expression[from:])
}
