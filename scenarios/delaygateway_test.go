package scenarios

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// A delayGateway is a gateway of which a part of the cost is known: it adds first to the first token, and
// each to the time from one token to the next. Its deadlines are absolute, and count from when the server's
// token came. The rest of its cost is what any gateway costs, which is to forward a request and its answer.
type delayGateway struct {
	upstream    string // base URL of the server
	client      *http.Client
	first, each time.Duration
	wait        func(until time.Time)

	mu     sync.Mutex
	delays delays // guarded by mu
}

// delays are by how much a gateway delayed tokens by its own clock: the first token of each answer, and the
// mean gap of each answer more than the server's.
type delays struct{ First, Gap []time.Duration }

// add adds an answer with the given delays of its tokens.
func (g *delayGateway) add(tokens []time.Duration) {
	if len(tokens) < 2 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	last := len(tokens) - 1
	g.delays.First = append(g.delays.First, tokens[0])
	g.delays.Gap = append(g.delays.Gap, (tokens[last]-tokens[0])/time.Duration(last))
}

// delaysPath is the path at which a delayGateway answers with its delays.
const delaysPath = "/delays"

// An upstreamEvent is an event of the server's stream, and when it came.
type upstreamEvent struct {
	text []byte
	at   time.Time
}

func (g *delayGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == delaysPath {
		g.mu.Lock()
		defer g.mu.Unlock()
		json.NewEncoder(w).Encode(g.delays)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, g.upstream+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req.Header = r.Header.Clone()
	resp, err := g.client.Do(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		io.Copy(w, resp.Body)
		return
	}
	events := make(chan upstreamEvent, 4096) // more than any of the answers has
	go readEvents(resp.Body, events)
	var late []time.Duration // of each token
	defer func() { g.add(late) }()
	for e := range events {
		if bytes.Contains(e.text, []byte(`"content":" `)) {
			g.wait(e.at.Add(g.first + time.Duration(len(late))*g.each))
			late = append(late, time.Since(e.at))
		}
		w.Write(e.text)
		http.NewResponseController(w).Flush()
	}
}

// readEvents sends the events of a stream to a channel, and closes the channel at the end of the stream.
func readEvents(body io.Reader, events chan<- upstreamEvent) {
	defer close(events)
	var text []byte
	for lines := bufio.NewReader(body); ; {
		line, err := lines.ReadBytes('\n')
		text = append(text, line...)
		if err != nil || len(line) == 1 { // an empty line ends an event
			if len(text) > 0 {
				events <- upstreamEvent{text, time.Now()}
			}
			if text = nil; err != nil {
				return
			}
		}
	}
}

// The known cost of the gateway of BenchmarkKnownGateway.
const addedFirst, addedEach = 2 * time.Millisecond, 200 * time.Microsecond

// serveGatewayArg is the first argument of this test binary when it runs as a delayGateway. The second
// argument has the port to listen on, the URL of the server, and how many times the known cost the gateway
// has, 0 or 1.
const serveGatewayArg = "serve-gateway"

// serveGateway runs a delayGateway until the process is ended. It waits by looking at the clock, because a
// timer may be a millisecond late, and more on a busy machine.
func serveGateway(arg string, _ io.Reader, _, stderr io.Writer) int {
	var port, upstream string
	var times time.Duration
	if _, err := fmt.Sscan(arg, &port, &upstream, &times); err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	g := &delayGateway{upstream: upstream, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}, first: times * addedFirst, each: times * addedEach,
		wait: func(until time.Time) {
			if left := time.Until(until); left > addedFirst { // a longer wait than for the first token
				time.Sleep(left - 1500*time.Microsecond)
			}
			for time.Now().Before(until) {
			}
		}}
	fmt.Fprintln(stderr, http.ListenAndServe("127.0.0.1:"+port, g))
	return 1
}

// BenchmarkKnownGateway compares a gateway that adds 2 ms to the first token and 0.2 ms to each gap with the
// same gateway without that cost. It must report added-ttft-ms and added-itl-ms within 5 % of the cost. On a
// busy machine a gateway wakes late, so a comment says what the gateways added by their own clocks. The server
// and both gateways are processes of their own.
func BenchmarkKnownGateway(b *testing.B) {
	if os.Getenv("LLMBENCH_FULL") != "1" {
		harness.Skip(b, "LLMBENCH_FULL=1 measures the harness")
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	server := startMock(b, mockserver.Config{TTFT: 20 * time.Millisecond, PerToken: 5 * time.Millisecond})
	gateway := func(times int) llmbench.Target {
		command := []string{self, serveGatewayArg, fmt.Sprintf("{port} %s %d", server.target.URL, times)}
		return backends.Process{Program: backends.Program{Command: command}, Backend: "gateway", Model: "mock"}.Start(b)
	}
	plain, known := gateway(0), gateway(1)
	Options{Simulated: true, Full: "0", Concurrencies: []int{1}, Requests: 32}.GatewayOverhead(b, plain, known)
	from, to := delaysOf(b, plain), delaysOf(b, known)
	if len(from.First) > 0 && len(to.First) > 0 { // -bench may select no arm
		harness.Note(b, fmt.Sprintf("by the gateways' own clocks, %v was added to the first token and %v to each gap", shiftOf(from.First, to.First), shiftOf(from.Gap, to.Gap)))
	}
}

// delaysOf asks a delayGateway for its delays.
func delaysOf(b *testing.B, t llmbench.Target) (d delays) {
	b.Helper()
	resp, err := http.Get(t.URL + delaysPath)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&d); err != nil {
		b.Fatal(err)
	}
	return d
}
