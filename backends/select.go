package backends

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// FromConfig returns the backends that the environment selects: the server at LLMBENCH_URL, or the servers
// named in LLMBENCH_BACKEND. The name "process" means the program in LLMBENCH_COMMAND. launch turns a
// server that has to be launched in a container into a backend; it is usually container.New of package
// backends/container. If launch is nil, naming such a server is an error.
func FromConfig(c Config, launch func(Server) Backend) ([]Named, error) {
	if c.URL != "" {
		return []Named{{c.Name, URL{URL: c.URL, Name: c.Name, Model: c.Model, Dialect: c.Dialect, APIKey: c.APIKey, AWS: c.AWS, Header: http.Header(c.Header), Body: []byte(c.Body.Reveal()),
			Echo: c.Echo, ShedStatus: c.ShedStatus, RecordHeader: c.RecordHeader, Compressed: c.Compressed, Proxy: c.Proxy, HTTP: c.HTTP, TLS: c.TLS, MetricsURLs: c.Metrics, Metrics: c.MetricsMap, NoMetrics: c.NoMetrics, ResetCache: c.ResetCache, GatewayMetrics: c.Gateway}}}, nil
	}
	selected := strings.Join(c.Backends, ",")
	var all []Named
	contained := 0
	for _, name := range c.Backends {
		server, known := servers[name]
		switch {
		case name == "mock":
			m := c.Mock
			m.Model, m.Dialect, m.Body, m.HTTP = c.Model, c.Dialect, []byte(c.Body.Reveal()), c.HTTP
			all = append(all, Named{name, m})
		case name == processName:
			p := processFrom(c)
			if err := p.find(); err != nil && len(c.Backends) > 1 { // otherwise Start says so before it starts anything
				return nil, fmt.Errorf("LLMBENCH_COMMAND: %w", err)
			}
			all = append(all, Named{c.Name, p})
		case name == "list":
			return nil, fmt.Errorf("LLMBENCH_BACKEND=%s: nothing is measured; the servers are:\n%s", selected, List())
		case !known:
			return nil, fmt.Errorf("LLMBENCH_BACKEND=%s: %q is not a backend; the nearest is %s: want a comma list of %s, or LLMBENCH_URL for a server that already runs",
				selected, name, env.Nearest(name, Names()), strings.Join(Names(), ", "))
		case launch == nil:
			return nil, fmt.Errorf("LLMBENCH_BACKEND=%s: this program cannot launch %s in a container: want mock, or LLMBENCH_URL for a server that already runs", selected, name)
		default:
			contained++
			all = append(all, Named{name, launch(server(containerFrom(c)))})
		}
	}
	for _, v := range []struct {
		name string
		set  bool
	}{{"IMAGE", c.Image != ""}, {"ARGS", len(c.Args) > 0}, {"QUANT", c.Quant != ""}} {
		if v.set && contained != 1 {
			return nil, fmt.Errorf("LLMBENCH_%s is for one server in a container, and LLMBENCH_BACKEND=%s names %d: measure them one at a time",
				v.name, selected, contained)
		}
	}
	return all, nil
}

// Behind returns the server at LLMBENCH_DIRECT, behind the gateway that [FromConfig] returns. Its counters are the
// ones in LLMBENCH_METRICS. Its requests are those to the gateway. They have the gateway's key and header fields, but
// not if the gateway has TLS and the server has none. They are sent over HTTP/1.1, whatever the gateway gets, because that is
// what servers behind gateways speak.
func Behind(c Config) Named {
	u := URL{URL: c.Direct, Name: c.Name, Model: c.Model, Dialect: c.Dialect, APIKey: c.APIKey, Header: http.Header(c.Header), Body: []byte(c.Body.Reveal()),
		Echo: c.Echo, ShedStatus: c.ShedStatus, RecordHeader: c.RecordHeader, Compressed: c.Compressed, Proxy: c.Proxy, TLS: c.TLS, MetricsURLs: c.Metrics, Metrics: c.MetricsMap, NoMetrics: c.NoMetrics, ResetCache: c.ResetCache}
	if isHTTPS(c.URL) && !isHTTPS(c.Direct) {
		u.APIKey, u.Header, u.TLS = env.Secret{}, nil, nil
	}
	return Named{c.Name, u}
}

// Names returns the sorted names that LLMBENCH_BACKEND accepts.
func Names() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(servers)), "mock", processName)))
}

// containerFrom returns the settings in c that concern a server in a container.
func containerFrom(c Config) Container {
	return Container{
		Image: c.Image, Model: c.Model, Quantization: c.Quant, Args: c.Args, GPUs: GPUs(c.GPUs), ModelsDir: c.ModelsDir, APIKey: c.APIKey,
		Revision: c.Revision, ChatTemplate: c.Template, TrustRemoteCode: c.TrustCode, Offline: c.Offline,
		Dialect: c.Dialect, Body: []byte(c.Body.Reveal()), LogDir: c.LogDir,
	}
}
