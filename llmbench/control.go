package llmbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A control is a server in this process that knows when it wrote each token, together with
// clients that send requests to it during a pass. The clients use the same kernel, scheduler
// and decoder as the requests of the pass. How late they read is therefore how late the
// requests of the pass are read. A control is needed where the kernel gives no timestamps;
// with timestamps each read tells how late it was.
type control struct {
	client *client
	server *http.Server
	served sync.WaitGroup
	dir    string        // of the server's Unix socket; "" for TCP
	pace   time.Duration // between two tokens
	tokens int           // in a stream

	mu     sync.Mutex
	writes map[string][]distortion.Write // guarded by mu; by request ID
	errors distortion.Errors             // guarded by mu

	stop context.CancelFunc
	done sync.WaitGroup
}

const (
	// controlPace is the time between two tokens if the pace of the target is unknown.
	controlPace = 8 * time.Millisecond
	// controlLength is the length of a stream. It is short, so that a short pass has some
	// streams beside it.
	controlLength = 100 * time.Millisecond
	// perControl is the number of requests in flight for which there is one control client.
	perControl = 256
)

// newControl starts a server whose tokens are pace apart, within limits. That should be the
// pace of the target; 0 means unknown. The server is at a Unix socket if the target is, because
// the kernel wakes the reader of a Unix socket in another way than that of TCP.
func newControl(pace time.Duration, unix bool) (*control, error) {
	if pace == 0 {
		pace = controlPace
	}
	pace = min(max(pace, time.Millisecond), controlLength/4)
	k := &control{pace: pace, tokens: int(controlLength / pace), writes: map[string][]distortion.Write{}}
	ln, target, err := k.listen(unix)
	if err != nil {
		return nil, fmt.Errorf("control: %w", errors.Join(err, os.RemoveAll(k.dir)))
	}
	k.server = &http.Server{Handler: k}
	k.served.Go(func() { k.server.Serve(ln) })
	k.client, err = newClient(target)
	if err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

// listen returns a listener on loopback or on a Unix socket in a new folder, and the server there.
func (k *control) listen(unix bool) (ln net.Listener, t Target, err error) {
	if !unix {
		ln, err = net.Listen("tcp", "127.0.0.1:0")
		if err == nil {
			t = Target{URL: "http://" + ln.Addr().String()}
		}
		return ln, t, err
	}
	if k.dir, err = os.MkdirTemp("", "llmbench-"); err != nil {
		return nil, t, err
	}
	ln, err = net.Listen("unix", filepath.Join(k.dir, "control"))
	return ln, Target{
		URL: "unix:///control", // the path may hold what no URL may
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(k.dir, "control"))
		},
	}, err
}

// close stops the server.
func (k *control) close() {
	if k.client != nil {
		k.client.close()
	}
	k.server.Close()
	k.served.Wait()
	os.RemoveAll(k.dir) // does nothing for ""
}

// ServeHTTP answers a request with a stream, and keeps when it wrote each token.
func (k *control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	tick := time.NewTimer(k.pace)
	defer tick.Stop()
	start := time.Now()
	all := make([]distortion.Write, k.tokens)
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
		all[i].Before = time.Now()
		io.WriteString(w, text)
		if out.Flush() != nil {
			return
		}
		all[i].After = time.Now()
	}
	// The client sees the end of the body after this function has returned.
	k.mu.Lock()
	k.writes[r.Header.Get("X-Request-Id")] = all
	k.mu.Unlock()
}

const (
	controlToken = `data: {"id":"control","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" token"}}]}` + "\n\n"
	controlLast  = `data: {"id":"control","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" token"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

// clients returns the number of control clients for that many requests in flight.
func clients(inFlight int) int { return 1 + inFlight/perControl }

// open opens the connections of the control clients of a pass with inFlight requests in flight.
func (k *control) open(ctx context.Context, inFlight int) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	k.client.pool.Prepare(ctx, clients(inFlight))
}

// begin starts the control clients of a pass with inFlight requests in flight. From the instant start
// on they send requests until end is called or ctx ends, with random pauses of a fixed seed.
func (k *control) begin(ctx context.Context, inFlight int, start time.Time) {
	ctx, k.stop = context.WithCancel(ctx)
	k.errors = distortion.Errors{}
	load, _ := Load{Requests: []Request{{Prompt: "control", MaxTokens: k.tokens}}, Concurrency: 1}.check()
	p, err := newPost(&load, Target{Dialect: dialect.OpenAIChat{}}, load.Requests[0])
	if err != nil {
		panic(err) // the request is a constant
	}
	clock := conn.NewClock(conn.WallClock)
	for i := range clients(inFlight) {
		k.done.Go(func() {
			sleep(ctx, max(0, time.Until(start)))
			w := newWorker(k.client, &load, clock, nil)
			pauses := rand.New(rand.NewPCG(uint64(i), 1))
			for first := true; first || ctx.Err() == nil; first = false {
				// A stream that has begun goes on to its end, also after the pass.
				s := w.do(context.WithoutCancel(ctx), p, 0, false)
				k.add(&s, clock.Start())
				if sleep(ctx, time.Duration(pauses.ExpFloat64()*float64(controlLength)/2)) != nil {
					return
				}
			}
		})
	}
}

// end stops the clients and returns the errors of what they measured.
func (k *control) end() distortion.Errors {
	k.stop()
	k.done.Wait()
	return k.errors
}

// add adds the errors of a stream. Instants of s count from start.
func (k *control) add(s *sample.Sample, start time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.ToUserClock()
	k.errors.AddStream(s, k.writes[s.ID], start)
	delete(k.writes, s.ID)
}

// medianGap returns the median gap between the deltas of samples, or 0 without any.
func medianGap(samples iter.Seq[*sample.Sample]) time.Duration {
	var all []time.Duration
	for s := range samples {
		all = append(all, s.Gaps...)
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
