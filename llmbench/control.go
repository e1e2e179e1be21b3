package llmbench

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/distortion"

	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A control is a server in this process that knows when it sent what, and the same
// client machinery asking it while a pass is under way. By how much what the client
// measured of it is off is by how much the client distorts that very pass: the
// kernel, the scheduler and the decoder are the same.
//
// A token's true instant is an interval, from before the server's Write to after
// it, within which the kernel has it on a loopback connection; an instant within it
// is right. So the server's own lateness is no error of the client.
type control struct {
	client *client
	server *http.Server
	served sync.WaitGroup
	pace   time.Duration // between two tokens
	tokens int

	mu     sync.Mutex
	writes map[string][]distortion.Write // of each request, by its ID

	stop   context.CancelFunc
	done   sync.WaitGroup
	errors distortion.Errors // guarded by mu
}

// What the control asks for. Its streams are short, so that a short pass has some.
const (
	controlPace   = 8 * time.Millisecond // if nobody knows the server's
	controlLength = 100 * time.Millisecond
	perControl    = 256 // requests in flight of the pass, for one of the control
)

// newControl starts a server whose streams have tokens pace apart, as near to that
// of the server that is measured as makes sense.
func newControl(pace time.Duration) (*control, error) {
	if pace == 0 {
		pace = controlPace
	}
	pace = min(max(pace, time.Millisecond), controlLength/4)
	k := &control{pace: pace, tokens: int(controlLength / pace), writes: map[string][]distortion.Write{}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	k.server = &http.Server{Handler: k}
	k.served.Go(func() { k.server.Serve(ln) })
	k.client, err = newClient(Target{URL: "http://" + ln.Addr().String(), NoProxy: true})
	if err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

// close ends the server.
func (k *control) close() {
	if k.client != nil {
		k.client.close()
	}
	k.server.Close()
	k.served.Wait()
}

// ServeHTTP is the server.
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
	// The client sees the end of the body when this has returned.
	k.mu.Lock()
	k.writes[r.Header.Get("X-Request-Id")] = all
	k.mu.Unlock()
}

const (
	controlToken = `data: {"id":"control","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" token"}}]}` + "\n\n"
	controlLast  = `data: {"id":"control","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" token"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

// begin asks the server, from as many workers as become a pass with inFlight
// requests in flight, until end is called. Their pauses are drawn with a seed.
func (k *control) begin(ctx context.Context, inFlight int) {
	ctx, k.stop = context.WithCancel(ctx)
	k.errors = distortion.Errors{}
	load, _ := Load{Requests: []Request{{Prompt: "control", MaxTokens: k.tokens}}, Concurrency: 1}.check()
	posts, err := load.bodies(Target{Dialect: dialect.OpenAIChat{}}, load.Requests)
	if err != nil {
		panic(err) // it is always the same
	}
	n := 1 + inFlight/perControl
	opening, cancel := context.WithTimeout(ctx, time.Second)
	k.client.pool.Prepare(opening, n)
	cancel()
	start := conn.NewClock(conn.WallClock)
	for i := range n {
		k.done.Go(func() {
			w := newWorker(k.client, &load, start)
			pauses := rand.New(rand.NewPCG(uint64(i), 1))
			for first := true; first || ctx.Err() == nil; first = false {
				// What has begun is ended, pass or not.
				s := w.do(context.WithoutCancel(ctx), posts[0], 0, false)
				k.add(&s, start.Start())
				if sleep(ctx, time.Duration(pauses.ExpFloat64()*float64(controlLength)/2)) != nil {
					return
				}
			}
		})
	}
}

// end ends the asking and returns how far off the client was.
func (k *control) end() distortion.Errors {
	k.stop()
	k.done.Wait()
	return k.errors
}

// add adds the errors of a stream. Instants of s count from start.
func (k *control) add(s *sample.Sample, start time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.errors.AddStream(s, k.writes[s.ID], start)
	delete(k.writes, s.ID)
}

// typicalGap is the median gap of samples, 0 without any.
func typicalGap(samples []sample.Sample) time.Duration {
	var all []time.Duration
	for i := range samples {
		all = append(all, samples[i].Gaps...)
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
