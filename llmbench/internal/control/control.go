// Package control measures how late this process reads, on systems without kernel timestamps. During a
// pass, it sends requests to its own server, which knows when it wrote each token.
package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/endpoint"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/send"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Control is a server in this process that knows when it wrote each token, together with clients that
// send requests to it during a pass. The clients use the same kernel, scheduler and decoder as the requests
// of the pass. So they read about as late as the requests of the pass are read. A control is needed if the
// kernel provides no timestamps; with timestamps, the lateness of each read is known.
type Control struct {
	client *send.Client
	server *http.Server
	served sync.WaitGroup
	dir    string        // folder of the server's Unix socket; "" for TCP
	pace   time.Duration // time between two tokens
	tokens int           // number of tokens in a stream

	mu      sync.Mutex
	written map[string][]time.Time // when the server had written each token; guarded by mu; by request ID
	errors  distortion.Errors      // guarded by mu

	stop context.CancelFunc
	done sync.WaitGroup
}

const (
	// controlPace is the time between two tokens if the target's pace is unknown.
	controlPace = 8 * time.Millisecond
	// controlLength is the duration of a stream. It is short, so that several streams fit into a short
	// pass.
	controlLength = 100 * time.Millisecond
	// perControl is the number of requests in flight for which there is one control client.
	perControl = 256
)

// New starts a server whose tokens are pace apart, within limits. The pace should be the target's pace; 0
// means unknown. The argument unix says that the target has a Unix socket. The server then has one, too,
// because the kernel wakes the reader of a Unix socket in another way than the reader of a TCP socket.
func New(pace time.Duration, unix bool) (*Control, error) {
	pace = cmp.Or(pace, controlPace)
	pace = min(max(pace, time.Millisecond), controlLength/4)
	k := &Control{pace: pace, tokens: int(controlLength / pace), written: map[string][]time.Time{}}
	ln, target, err := k.listen(unix)
	if err != nil {
		return nil, fmt.Errorf("control: %w", errors.Join(err, os.RemoveAll(k.dir)))
	}
	k.server = &http.Server{Handler: k}
	k.served.Go(func() { k.server.Serve(ln) })
	if k.client, err = send.NewClient(target); err != nil {
		k.Close()
		return nil, err
	}
	return k, nil
}

// listen returns a listener and a description of the server there. The listener is on loopback, or on a
// Unix socket in a new folder.
func (k *Control) listen(unix bool) (ln net.Listener, s send.Server, err error) {
	if !unix {
		ln, err = net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			s = send.Server{At: endpoint.Endpoint{Base: "http://" + ln.Addr().String()}, Dialect: dialect.OpenAIChat{}}
		}
		return ln, s, err
	}
	if k.dir, err = os.MkdirTemp("", "llmbench-"); err != nil {
		return nil, s, err
	}
	ln, err = net.Listen("unix", filepath.Join(k.dir, "control"))
	return ln, send.Server{
		At:      endpoint.Endpoint{Base: "http://localhost", Socket: "/control"}, // not the real path; see Dial
		Dialect: dialect.OpenAIChat{},
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(k.dir, "control"))
		},
	}, err
}

// Close stops the server.
func (k *Control) Close() {
	if k.client != nil {
		k.client.Close()
	}
	k.server.Close()
	k.served.Wait()
	os.RemoveAll(k.dir) // does nothing if the path is ""
}

// ServeHTTP answers a request with a stream, and stores when it had written each token.
func (k *Control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	tick := time.NewTimer(k.pace)
	defer tick.Stop()
	start := time.Now()
	all := make([]time.Time, k.tokens)
	for i := range all {
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		}
		tick.Reset(time.Until(start.Add(time.Duration(i+2) * k.pace)))
		text := controlToken
		if i == k.tokens-1 {
			text = controlLast
		}
		io.WriteString(w, text)
		if out.Flush() != nil {
			return
		}
		all[i] = time.Now()
	}
	// The client sees the end of the body after this function has returned.
	k.mu.Lock()
	k.written[r.Header.Get("X-Request-Id")] = all
	k.mu.Unlock()
}

const (
	controlToken = `data: {"id":"control","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" token"}}]}` + "\n\n"
	controlLast  = `data: {"id":"control","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" token"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

// clients returns the number of control clients for inFlight requests in flight.
func clients(inFlight int) int { return 1 + inFlight/perControl }

// Open opens the connections of the control clients of a pass with inFlight requests in flight.
func (k *Control) Open(ctx context.Context, inFlight int) {
	k.client.Open(ctx, clients(inFlight), time.Second)
}

// Begin starts the control clients of a pass with inFlight requests in flight. From the instant start on,
// they send requests until End is called or ctx ends. The pauses between their requests are random, with a
// fixed seed.
func (k *Control) Begin(ctx context.Context, inFlight int, start time.Time) {
	ctx, k.stop = context.WithCancel(ctx)
	k.errors = distortion.Errors{}
	d := dialect.OpenAIChat{}
	q := dialect.Query{Prompt: "control", MaxTokens: k.tokens, Stream: true}
	body, err := d.Body(q)
	if err != nil {
		panic(err) // cannot happen: the request is a constant
	}
	p := send.Post{Path: d.Path(q), Body: body, MaxTokens: k.tokens}
	options := &send.Options{Stream: true, Timeout: time.Minute, IdleTimeout: time.Minute}
	clock := conn.NewClock(conn.WallClock)
	for i := range clients(inFlight) {
		k.done.Go(func() {
			send.Sleep(ctx, max(0, time.Until(start)))
			w := send.NewWorker(k.client, options, clock, nil)
			pauses := rand.New(rand.NewPCG(uint64(i), 1))
			for first := true; first || ctx.Err() == nil; first = false {
				// A stream that has begun continues to its end, even after the pass.
				s := w.Do(context.WithoutCancel(ctx), p, 0, false)
				k.add(&s, clock.Start())
				if send.Sleep(ctx, time.Duration(pauses.ExpFloat64()*float64(controlLength)/2)) != nil {
					return
				}
			}
		})
	}
}

// End stops the clients.
func (k *Control) End() {
	k.stop()
	k.done.Wait()
}

// Errors returns how late the clients read during the last pass.
func (k *Control) Errors() distortion.Errors {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.errors
}

// add adds the errors of a stream. The instants of s count from start.
func (k *Control) add(s *sample.Sample, start time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.ToUserClock()
	k.errors.AddStream(s, k.written[s.ID], start)
	delete(k.written, s.ID)
}
