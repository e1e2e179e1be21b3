package backends

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// URL is a server that already runs, such as a gateway.
type URL struct {
	URL     string // base URL, as [llmbench.Target] describes it
	Name    string // value of backend= in benchmark names and results; "" means "url"
	Model   string // name of the model in requests; "" means the only model that the server lists, apart from adapters of it
	Dialect dialect.Dialect
	// Items, if not nil, is the dialect of the requests for vectors or scores that a benchmark sends although
	// Dialect generates text. Start then waits until the server answers such a request, instead of a completion;
	// only if the server refuses such requests, Start waits for a completion.
	Items  dialect.ItemsDialect
	APIKey env.Secret      // API key, sent as a bearer token or as the dialect prescribes; or none
	Header http.Header     // further fields of each request; see [llmbench.Target]
	Body   json.RawMessage // changes the body of each completion; see [llmbench.Target]
	Echo   []string        // fields of an answer that the next turn of a session sends back; see [llmbench.Target]
	// ShedStatus holds the statuses with which the server refuses requests because of its load, and
	// RecordHeader names fields of answers for the records; see [llmbench.Target].
	ShedStatus   []int
	RecordHeader []string
	TLS          *tls.Config // see [llmbench.Target]
	// AWS has the keys with which requests are signed, instead of APIKey; see [llmbench.Target].
	AWS *llmbench.AWSKeys
	// Compressed allows answers that are compressed; see [llmbench.Target].
	Compressed bool
	HTTP       string // version of HTTP; see [llmbench.Target]
	// Proxy is the URL of the proxy to the server, or ""; see [llmbench.Target].
	Proxy string
	// Ready is how long the server may take to answer a completion. 0 means one minute, but only five
	// seconds if nothing listens at the address of the server or of its proxy. If the server answers with
	// an error that retrying cannot cure, the wait ends at once.
	Ready time.Duration
	// MetricsURLs are the addresses of the server's Prometheus metrics, such as
	// http://10.0.0.7:8000/metrics, one for each replica behind URL. The values of all replicas are added
	// up. [metrics.Beside] says which headers are sent to the addresses. Start fails if one of them has no
	// metrics. If MetricsURLs is nil, metrics are looked for at the usual paths of URL, and it is no error
	// if there are none. NoMetrics switches metrics off.
	MetricsURLs []string
	NoMetrics   bool
	// Metrics are the names of the metrics of a server that is not recognised automatically; see also
	// [metrics.ParseNames]. Start fails if the server has none of them. If Metrics is the zero value, the server is recognised if its metrics are named like the metrics of vLLM or of
	// another server in this package.
	Metrics metrics.Names
	// GatewayMetrics are the addresses of the Prometheus metrics of the gateway at URL, or of gateways between it and the
	// server; see [metrics.FindGateway]. [metrics.Beside] says which headers are sent to them. If one of them does not
	// answer, Start prints why, and the results have no figures of the gateway.
	GatewayMetrics []string
	// ResetCache empties the prefix cache before each pass, by the request that vLLM, SGLang and llama.cpp
	// support for this purpose. Other users of the server then lose their cached prompts. Start fails if
	// the server is not recognised by its metrics, and the benchmark fails if the server refuses the
	// request.
	ResetCache bool
}

// patience is how long Start waits while nothing listens at the address of the server or of its proxy.
const patience = 5 * time.Second

// errNothing is the cause of a context that was canceled because nothing listens at that address.
var errNothing = errors.New("nothing listens")

// absent holds the servers at whose addresses nothing listened. Later benchmarks of this process do not
// wait for them again.
var absent sync.Map // URL to true

// Start returns the server as a target once the server has answered a completion. If that takes more than
// about a second, Start prints what it is waiting for; see [harness.Note].
func (u URL) Start(tb testing.TB) llmbench.Target {
	tb.Helper()
	harness.Watch(tb)
	name := cmp.Or(u.Name, "url")
	t := u.target()
	if err := t.Check(); err != nil {
		tb.Fatalf("backends: %s: %v", name, err)
	}
	limit := cmp.Or(u.Ready, time.Minute)
	ctx, cancel := context.WithTimeoutCause(harness.Context(tb), limit, fmt.Errorf("no answer in %v", limit))
	defer cancel()
	began := time.Now()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	asked := t // t changes while the watch reports, on a goroutine of its own
	w := probe.NewWatch(func(waited time.Duration, last error) {
		harness.Note(tb, fmt.Sprintf("waiting for %s: %s; %v left", asked.Where(), asked.Redact(reason(asked, last)), (limit-waited).Round(time.Second)))
	})
	defer w.Stop()
	var refusals probe.Refusals
	// The probe does not stream: every server can answer such a request, and the load that follows may not
	// need streams.
	_, _, err := completes(ctx, &t, u.Items, false, false, func(err error) {
		if w.Attempt(err); err == nil {
			return
		}
		lasted, refused := refusals.Failed(err)
		if _, known := absent.Load(t.URL); refused && u.Ready == 0 && (known || lasted >= patience) {
			end(errNothing)
		}
	})
	if context.Cause(ctx) == errNothing {
		absent.Store(t.URL, true)
		if proxy := proxyOf(t); proxy != "" {
			tb.Fatalf("backends: %s: nothing listens at the proxy %s; start the proxy, or set LLMBENCH_PROXY", name, proxy)
		}
		tb.Fatalf("backends: %s: nothing listens at %s; start the server, or set LLMBENCH_URL", name, t.Where())
	}
	absent.Delete(t.URL)
	if err != nil {
		if cause := context.Cause(harness.Context(tb)); cause != nil { // the user has interrupted the benchmark
			err = cause
		}
		if final, ok := errors.AsType[*probe.Final](err); ok && context.Cause(ctx) == nil {
			tb.Fatalf("backends: %s: %s: %s%s", name, t.Where(), t.Redact(explained(harness.Context(tb), t, final, err).Error()), u.ignoredProxy())
		}
		tb.Fatalf("backends: %s: %s is not ready after %v: %s%s", name, t.Where(), time.Since(began).Round(time.Millisecond), t.Redact(reason(t, err)), u.ignoredProxy())
	}
	t.Config = map[string]string{"backend": name, "model": t.Model}
	source, err := u.observe(harness.Context(tb), t)
	if err != nil {
		tb.Fatalf("backends: %s: %s", name, t.Redact(err.Error()))
	}
	if source.why != "" {
		harness.Note(tb, t.Redact(source.why))
	}
	if err := u.describe(tb, &t, source.Source); err != nil {
		tb.Fatalf("backends: %s: %s", name, t.Redact(err.Error()))
	}
	notef := func(format string, args ...any) { harness.Note(tb, t.Redact(fmt.Sprintf(format, args...))) }
	if len(source.Addresses) > 0 {
		source.Logf = notef // package testing prints no log of a benchmark that has sub-benchmarks
		t.Observe = source.Observe
	}
	observeGateway(harness.Context(tb), &t, u.GatewayMetrics, notef)
	return t
}

// proxyOf returns the host of the proxy to t, or "" if there is none.
func proxyOf(t llmbench.Target) string {
	if strings.HasPrefix(t.URL, "unix:") { // such a server is reached without the proxy
		return ""
	}
	proxy, err := url.Parse(t.Proxy)
	if err != nil {
		return ""
	}
	return proxy.Host
}

// reason is like [probe.Reason], but names the proxy to t if that is what refuses connections. A proxy whose server
// refuses connections answers with an error of its own.
func reason(t llmbench.Target, err error) string {
	text := probe.Reason(err)
	if proxy := proxyOf(t); proxy != "" && errors.Is(err, syscall.ECONNREFUSED) {
		return "the proxy " + proxy + ": " + text
	}
	return text
}

// ignoredProxy returns a hint if the environment names a proxy for the server, because that proxy is not
// used.
func (u URL) ignoredProxy() string {
	at, err := url.Parse(u.URL)
	if err != nil || u.Proxy != "" {
		return ""
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: at}); err != nil || proxy == nil {
		return ""
	}
	return "; the proxy of the environment is not used: LLMBENCH_PROXY names one"
}

// target returns the target, without a model unless Model is set.
func (u URL) target() llmbench.Target {
	t := llmbench.Target{URL: u.URL, Model: u.Model, Dialect: u.Dialect, AWS: u.AWS, Header: http.Header{}, Body: u.Body, Echo: u.Echo, ShedStatus: u.ShedStatus, RecordHeader: u.RecordHeader, Compressed: u.Compressed, Proxy: u.Proxy, HTTP: u.HTTP, TLS: u.TLS}
	maps.Copy(t.Header, u.Header)
	if key := u.APIKey.Reveal(); key != "" {
		name, value := dialect.KeyHeader(u.Dialect, key)
		t.Header.Set(name, value)
	}
	return t
}

// completes waits until the server answers a completion, and returns when the request was sent and its sample. If
// items is not nil, it waits for the answer to a request of this dialect, unless the server refuses such requests.
// If t has no model, it sets the only model that the server lists, for which it waits if starting is true. It calls attempt
// like [probe.Completion].
func completes(ctx context.Context, t *llmbench.Target, items dialect.ItemsDialect, stream, starting bool, attempt func(error)) (sent time.Time, s sample.Sample, err error) {
	if t.Model == "" {
		if t.Model, err = onlyModel(ctx, *t, starting, attempt); err != nil {
			return sent, s, err
		}
	}
	if items != nil {
		asked := *t
		asked.Dialect = items
		if sent, s, err = probe.Completion(ctx, asked, false, attempt); err == nil || !refuses(s) {
			return sent, s, err
		}
	}
	sent, s, err = probe.Completion(ctx, *t, stream, attempt)
	if final, ok := errors.AsType[*probe.Final](err); ok && starting && final.Status == http.StatusNotFound {
		// A router says that it does not know a model until its workers have registered.
		list, listErr := models(ctx, *t, starting, attempt)
		if listErr == nil && slices.ContainsFunc(list, func(m probe.Model) bool { return m.ID == t.Model }) {
			return probe.Completion(ctx, *t, stream, attempt)
		}
	}
	return sent, s, err
}

// refuses reports whether the answer s says that the server does not support requests of this kind.
func refuses(s sample.Sample) bool {
	unsupported := []int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity, http.StatusNotImplemented}
	return s.Outcome == sample.HTTP && slices.Contains(unsupported, s.Status)
}

// models returns the list of models of a server, and waits while the server cannot be reached or refuses the list for the
// moment. A server that is starting may list no models yet, as a front end does until its workers have registered: models
// waits for that if starting is true. It calls attempt like [probe.Completion].
func models(ctx context.Context, t llmbench.Target, starting bool, attempt func(error)) (list []probe.Model, err error) {
	err = probe.Poll(ctx, func() (again bool, err error) {
		attempt(nil)
		one, end := context.WithTimeout(ctx, probe.Timeout)
		defer end()
		list, _, err = probe.Server{Target: t}.List(one, "/v1/models")
		if err == nil && len(list) == 0 && starting {
			if err = errors.New("the server lists no models"); t.Model == "" {
				err = fmt.Errorf("%w, and LLMBENCH_MODEL is not set", err)
			}
			attempt(err)
			return true, err
		}
		if err == nil {
			return false, nil
		}
		status, _ := errors.AsType[probe.StatusError](err)
		if mistake := probe.Mistake(ctx, t, err, status.Code); mistake != nil {
			return false, &probe.Final{Err: mistake}
		}
		var transport *url.Error
		if errors.As(err, &transport) || probe.RefusedForNow(status.Code) {
			attempt(err)
			return true, err
		}
		if t.Model == "" && status.Code != http.StatusUnauthorized && status.Code != http.StatusForbidden {
			err = fmt.Errorf("LLMBENCH_MODEL is not set, and the list of models cannot be read: %w", err)
		}
		return false, &probe.Final{Status: status.Code, Err: err}
	})
	return list, err
}

// onlyModel returns the name of the only model that the server lists, apart from its adapters. For starting and attempt see
// models.
func onlyModel(ctx context.Context, t llmbench.Target, starting bool, attempt func(error)) (string, error) {
	list, err := models(ctx, t, starting, attempt)
	if err != nil {
		return "", err
	}
	m, ok := probe.Base(list)
	if !ok {
		var names []string
		for _, m := range list {
			names = append(names, m.ID)
		}
		return "", &probe.Final{Err: fmt.Errorf("LLMBENCH_MODEL is not set, and the server lists %d models: %s", len(names), strings.Join(names, ", "))}
	}
	return m.ID, nil
}

// withArrivals returns names with the counter of arrivals that the simulated server has.
func withArrivals(names metrics.Names) metrics.Names {
	names.Arrivals = metrics.Alternatives{"mockserver_requests_total"}
	return names
}

// missing holds the servers whose metrics this process has looked for and not found. Later benchmarks
// neither look for them nor report them as missing again.
var missing sync.Map // URL to true

// A source says where the counters of a server at a URL are read. If there are none, Addresses is empty,
// and why gives the reason, unless the reason was reported before.
type source struct {
	metrics.Source
	why string
}

// observe finds the counters of the server t. It returns an error only if the user has asked for metrics or
// for an empty prefix cache, and the request cannot be met.
func (u URL) observe(ctx context.Context, t llmbench.Target) (source, error) {
	named := u.Metrics.Path != ""
	asked := len(u.MetricsURLs) > 0 || u.ResetCache || named
	_, known := missing.Load(t.URL)
	switch {
	case u.NoMetrics && asked:
		return source{}, errors.New("no metrics are to be read, but MetricsURLs, Metrics or ResetCache needs them")
	case u.NoMetrics, known && !asked:
		return source{}, nil
	}
	addresses, err := u.addresses(t)
	if err != nil {
		return source{}, err
	}
	began := time.Now()
	found, at, err := u.find(ctx, addresses)
	if err != nil && len(u.MetricsURLs) == 0 && !named && time.Since(began) < probe.Timeout { // a server that left a question without an answer is not asked another one
		if behind, there, none := find(ctx, addresses, behindRouter); none == nil {
			found, at, err = behind, there, nil
		}
	}
	switch {
	case err != nil && context.Cause(ctx) != nil:
		return source{}, context.Cause(ctx)
	case err != nil && u.ResetCache:
		return source{}, fmt.Errorf("the prefix cache cannot be emptied, because the server is not recognised by its metrics: %s", oneLine(t, err))
	case err != nil && asked:
		return source{}, fmt.Errorf("metrics: %s", oneLine(t, err))
	case err != nil:
		missing.Store(t.URL, true)
		return source{why: "the server's own counters are not available: " + oneLine(t, err) + "; LLMBENCH_METRICS names their address, and LLMBENCH_METRICS_MAP their names"}, nil
	}
	s := source{Source: metrics.Source{Names: found.Names, Addresses: at}}
	if named {
		if s.why, err = lacking(ctx, s.Source); err != nil {
			return source{}, fmt.Errorf("metrics: %s", oneLine(t, err))
		}
	}
	if u.ResetCache {
		s.Reset, err = resetter(t, found)
	}
	return s, err
}

// lacking says which of the metrics that the user has named the server does not have, or returns "".
func lacking(ctx context.Context, s metrics.Source) (string, error) {
	info, err := s.Info(ctx)
	if missing := info.Missing(s.Names); err == nil && len(missing) > 0 {
		return fmt.Sprintf("the server has no metric of these names, as in LLMBENCH_METRICS_MAP: %s; what is computed from them is left out until it has", strings.Join(missing, ", ")), nil
	}
	return "", err
}

// addresses returns where the metrics may be.
func (u URL) addresses(t llmbench.Target) (all []metrics.Address, err error) {
	if len(u.MetricsURLs) == 0 {
		return []metrics.Address{{Target: t}}, nil
	}
	for _, raw := range u.MetricsURLs {
		a, err := metrics.Beside(t, raw)
		if err != nil {
			return nil, fmt.Errorf("address of metrics: %w", err)
		}
		all = append(all, a)
	}
	return all, nil
}

// find recognises the server at the addresses.
func (u URL) find(ctx context.Context, addresses []metrics.Address) (running, []metrics.Address, error) {
	if u.Metrics.Path != "" {
		return find(ctx, addresses, []running{{Kind: metrics.Kind{Name: "a server with the given names", Names: u.Metrics}}})
	}
	return find(ctx, addresses, recognised)
}

// find returns which of the candidates is at the addresses.
func find(ctx context.Context, addresses []metrics.Address, candidates []running) (running, []metrics.Address, error) {
	var kinds []metrics.Kind
	for _, c := range candidates {
		kinds = append(kinds, c.Kind)
	}
	kind, addresses, err := metrics.Find(ctx, addresses, kinds)
	if err != nil {
		return running{}, nil, err
	}
	return candidates[kind], addresses, nil
}

// resetPatience is how long a request that empties the prefix cache is sent again. A gateway refuses one now and then,
// because the server has just closed their kept connection.
const resetPatience = 5 * time.Second

// resetter returns a function that empties the prefix cache of the server t.
func resetter(t llmbench.Target, found running) (func(context.Context) error, error) {
	if found.reset == nil {
		return nil, fmt.Errorf("the prefix cache cannot be emptied: %s has no request for that", found.Name)
	}
	return func(ctx context.Context) error {
		patient, cancel := context.WithTimeout(ctx, resetPatience)
		defer cancel()
		err := probe.Poll(patient, func() (again bool, err error) {
			err = probe.Server{Target: t}.Take(ctx, found.reset)
			status, _ := errors.AsType[probe.StatusError](err)
			return probe.RefusedForNow(status.Code) || status.Code == http.StatusBadGateway || status.Code == http.StatusGatewayTimeout, err
		})
		if errors.Is(err, errors.ErrUnsupported) { // it is an error here, because the user has asked for an empty cache
			return fmt.Errorf("%s at %s does not allow it: %s", found.Name, t.Where(), err)
		}
		return err
	}, nil
}

// oneLine returns the text of an error in one line of at most about 200 bytes.
func oneLine(t llmbench.Target, err error) string {
	text := err.Error()
	if status, ok := errors.AsType[probe.StatusError](err); ok && errors.Is(err, errors.ErrUnsupported) {
		before, _, _ := strings.Cut(text, status.Error())
		text = before + status.Error() // without the page that the server sends for an unknown path
	}
	return t.Excerpt(strings.Join(strings.Fields(text), " "), 200)
}
