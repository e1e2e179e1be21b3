package llmbench

import (
	"cmp"
	"context"
	"crypto/tls"
	"flag"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultline"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/store"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/testkit/runtest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// withoutEditing is the environment variable that makes result lines impossible to edit, as with a version
// of Go whose package testing llmbench does not know.
const withoutEditing = "TEST_HELPER_NO_EDIT"

func TestMain(m *testing.M) {
	if os.Getenv(helper) == "NoMain" {
		os.Exit(m.Run())
	}
	_ = flag.Set("test.parallel", "16") // tests that are parallel mostly wait
	if os.Getenv(withoutEditing) != "" {
		os.Exit(process.Main(m, func(*testing.B, resultline.Editor, func(string, string), func(error)) bool { return false }))
	}
	openKept()
	os.Exit(Main(m))
}

// openKept makes a request. The first request of a process opens a socket that stays open until the process
// ends (see keepStamping in package conn), which the first test that checks for leaks would take for one.
func openKept() {
	srv, err := mockserver.New(mockserver.Config{})
	if err != nil {
		panic(err)
	}
	url, stop, err := mockserver.Listen("127.0.0.1:0", srv)
	if err != nil {
		panic(err)
	}
	defer stop(0)
	Do(context.Background(), Target{URL: url, Model: "mock", Simulated: true}, Request{Prompt: "a", MaxTokens: 1}, false)
}

// loopback serves cfg on a loopback socket.
func loopback(tb testing.TB, cfg mockserver.Config) (*mockserver.Server, Target) {
	tb.Helper()
	srv, url := mockserver.Start(tb, cfg)
	return srv, Target{URL: url, Model: "mock", Simulated: true}
}

// inMemory serves h over in-memory connections, for use in a synctest bubble. The caller must call stop
// before the bubble ends.
func inMemory(t *testing.T, h http.Handler) (target Target, stop func()) {
	ln := memnet.Listen()
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	srv := &http.Server{Handler: h, Protocols: &protocols}
	var wg sync.WaitGroup
	wg.Go(func() { srv.Serve(ln) })
	target = Target{URL: "http://mem", Model: "mock", Dial: ln.Dial}
	return target, func() { srv.Close(); wg.Wait() }
}

// rawServer calls serve with each connection on a loopback socket; see [runtest.Serve].
func rawServer(tb testing.TB, serve func(net.Conn)) (url string) {
	return "http://" + runtest.Serve(tb, serve)
}

// rawInMemory calls serve with each in-memory connection, for use in a synctest bubble. The caller must
// call stop before the bubble ends.
func rawInMemory(serve func(net.Conn)) (target Target, stop func()) {
	ln := memnet.Listen()
	return Target{URL: "http://mem", Simulated: true, Dial: ln.Dial}, runtest.Accept(ln, serve)
}

// trusted returns a TLS configuration that trusts the server's certificate, or nil if the server does not
// use TLS.
func trusted(server *httptest.Server) *tls.Config {
	if server.TLS == nil {
		return nil
	}
	return server.Client().Transport.(*http.Transport).TLSClientConfig
}

// countingServer serves requests on a loopback socket. After it has read a request, it calls serve with the
// number of earlier requests on the connection. It closes the connection if serve returns false. The
// function requests returns the number of all requests so far.
func countingServer(tb testing.TB, serve func(c net.Conn, before int) bool) (target Target, requests func() int) {
	var n atomic.Int64
	target.URL = rawServer(tb, func(c net.Conn) {
		runtest.EachRequest(c, func(c net.Conn, before int) bool {
			n.Add(1)
			return serve(c, before)
		})
	})
	return target, func() int { return int(n.Load()) }
}

// words returns n requests with prompts of four words, for out output tokens each.
func words(n, out int) []Request {
	all := make([]Request, n)
	for i := range all {
		all[i] = Request{Prompt: "one two three four", MaxTokens: out, FixedOutput: true}
	}
	return all
}

// prepared returns what is needed to make a pass of l: a client of t, which the caller must close, the load
// with its defaults, and the plan.
func prepared(t Target, l Load) (*send.Client, *Load, *plan, error) {
	l, err := l.check()
	if err != nil {
		return nil, nil, nil, err
	}
	pl, err := passPlan(&l, t, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	c, err := newClient(t)
	return c, &l, pl, err
}

// sendPass makes one pass and returns its samples in the order of the requests.
func sendPass(ctx context.Context, c *send.Client, l *Load, pl *plan) ([]sample.Sample, error) {
	samples := store.New(store.Bound, "")
	_, began, err := sendTo(ctx, c, l, pl, func(s *sample.Sample, _ bool) error { return samples.Add(s) })
	if !began {
		return nil, err
	}
	return ordered(samples.Between(0, samples.End())), err
}

// sendTo makes one pass and calls keep with each sample.
func sendTo(ctx context.Context, c *send.Client, l *Load, pl *plan, keep func(*sample.Sample, bool) error) (send.Result, bool, error) {
	p := pl.pass(process.Join("test").Part(), l)
	p.With, p.Keep = process.Join("test"), keep
	return c.Pass(ctx, p)
}

// ordered returns samples sorted by pass, request and turn.
func ordered(samples iter.Seq[*sample.Sample]) (all []sample.Sample) {
	for s := range samples {
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b sample.Sample) int {
		return cmp.Or(cmp.Compare(a.Pass, b.Pass), cmp.Compare(a.Request, b.Request), cmp.Compare(a.Turn, b.Turn))
	})
	return all
}

// onePass sends l's requests to t once. It fails tb if the pass fails.
func onePass(tb testing.TB, t Target, l Load) []sample.Sample {
	tb.Helper()
	samples, err := tryPass(tb, tb.Context(), t, l)
	if err != nil {
		tb.Fatal(err)
	}
	return samples
}

// tryPass is like onePass, for passes that may fail. It fails tb if a connection stays open.
func tryPass(tb testing.TB, ctx context.Context, t Target, l Load) (samples []sample.Sample, err error) {
	c, checked, pl, err := prepared(t, l)
	if err != nil {
		return nil, err
	}
	defer func() {
		c.Close()
		// A connection that was given up takes a moment to close.
		runtest.Until(tb, "all connections are closed", func() bool { return c.Open(tb.Context(), 0, time.Second) == 0 })
	}()
	return sendPass(ctx, c, checked, pl)
}

const ms = time.Millisecond

// fullForm reports whether the variable LLMBENCH_FULL asks for the full form of benchmarks.
func fullForm(b *testing.B) bool {
	b.Helper()
	var full string
	r := env.NewReader(os.Environ())
	env.Read(r, &full, "LLMBENCH_FULL", env.Full, "1, 0 or the name of a published experiment")
	assert.NilError(b, r.Err())
	return full == "1"
}

// testWorker returns a worker that sends requests outside of a pass, as l says.
func testWorker(c *send.Client, l *Load) *send.Worker {
	o := l.options()
	return send.NewWorker(c, &o, c.Clock(), nil)
}

// Events of a stream in the dialect of OpenAI.
const (
	content = `data: {"choices":[{"delta":{"content":"hi"}}]}` + "\n\n"
	finish  = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	usage   = `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3}}` + "\n\n"
	done    = "data: [DONE]\n\n"
)
