package send

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/arrivals"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

const ms = time.Millisecond

// newTestWorker returns a worker whose requests are sent with rt instead of to a server, and a post that
// asks for four tokens.
func newTestWorker(tb testing.TB, rt http.RoundTripper, o Options) (*Worker, Post) {
	tb.Helper()
	return newDialectWorker(tb, dialect.OpenAIChat{}, rt, o)
}

// newDialectWorker is like newTestWorker, for a given dialect.
func newDialectWorker(tb testing.TB, d dialect.Dialect, rt http.RoundTripper, o Options) (*Worker, Post) {
	tb.Helper()
	o.Timeout, o.IdleTimeout = cmp.Or(o.Timeout, time.Minute), cmp.Or(o.IdleTimeout, time.Minute)
	c, err := NewClient(Server{
		At:      endpoint.Endpoint{Base: "http://server"},
		Dialect: d,
		Header:  http.Header{"authorization": {"Bearer sk-secret/key"}, "X-Team": {"team-secret"}},
		Secrets: redact.New([]string{"Bearer sk-secret/key", "sk-secret/key", "team-secret"}),
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("no server")
		},
	})
	assert.NilError(tb, err)
	tb.Cleanup(c.Close)
	c.sender = roundTripSender{rt}
	return NewWorker(c, &o, conn.NewClock(conn.WallClock), nil), question(tb, d, dialect.Query{Prompt: "one two three four", MaxTokens: 4, FixedOutput: true, Stream: o.Stream})
}

// question returns the post of a query.
func question(tb testing.TB, d dialect.Dialect, q dialect.Query) Post {
	tb.Helper()
	q.Model = "m"
	body, err := d.Body(q)
	assert.NilError(tb, err)
	return Post{Path: d.Path(q), Body: body, MaxTokens: q.MaxTokens, FixedOutput: q.FixedOutput}
}

// A roundTripSender sends requests with a round tripper.
type roundTripSender struct{ http.RoundTripper }

func (s roundTripSender) Send(r *http.Request, _ *conn.Trace) (*http.Response, error) {
	return s.RoundTrip(r)
}

// passOf returns a pass of posts with the given number of workers. It appends the samples to all. The pass goes on
// whatever fails: otherwise the client looks for its server at the instants at which tests send requests.
func passOf(o Options, workers int, all *[]sample.Sample, posts ...Post) *Pass {
	for i := range posts {
		posts[i].Request = i
	}
	return &Pass{
		Options: o, With: solo{}, MostFailed: -1,
		Classes: []Class{{Stays: staying(workers), Posts: Posts{
			N: len(posts), Ahead: len(posts),
			Build:  func(k int) Post { return posts[k] },
			Unsent: func(k int) Post { return Post{Request: k, Turns: posts[k].Turns} },
		}}},
		Keep: func(s *sample.Sample, _ bool) error { *all = append(*all, *s); return nil },
	}
}

// staying returns the stays of users who come at once and do not leave.
func staying(users int) [][]arrivals.Stay {
	return slices.Repeat([][]arrivals.Stay{{{To: math.MaxInt64}}}, users)
}

// sendAll sends posts with the client and the options of w, one after the other.
func sendAll(t *testing.T, w *Worker, posts ...Post) (all []sample.Sample) {
	t.Helper()
	_, began, err := w.client.Pass(t.Context(), passOf(*w.options, 1, &all, posts...))
	assert.NilError(t, err)
	assert.Assert(t, began)
	slices.SortFunc(all, func(a, b sample.Sample) int { return cmp.Compare(a.Request, b.Request) })
	return all
}

// solo is a process that makes a pass without others.
type solo struct{}

func (solo) Start() (time.Time, error)                        { return time.Now(), nil }
func (solo) Collect(func(*sample.Sample)) (wait func() error) { return func() error { return nil } }
func (solo) Fail(err error) error                             { return err }

// same returns n copies of a post.
func same(p Post, n int) []Post { return slices.Repeat([]Post{p}, n) }
