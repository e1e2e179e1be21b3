package peers

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/launchdarkly/eventsource"
	"github.com/openai/openai-go/v3/packages/ssestream"
	r3sse "github.com/r3labs/sse/v2"
	goopenai "github.com/sashabaranov/go-openai"
	gosse "github.com/tmaxmax/go-sse"
	backoff "gopkg.in/cenkalti/backoff.v1"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sse/ssetest"
)

// A peer is a parser under test.
type peer struct {
	short   string // name in tables
	name    string // import path of its module
	through string // the function that is called, and its configuration
	options ssetest.Options
	decode  ssetest.Decode
	drain   func(io.Reader) (events int, err error) // like decode, but without copies, for the benchmark
}

// raised is the size limit for parsers whose limit can be configured. Their default is 64 KiB.
const raised = 4 << 20

// peers lists the parsers, in the order of the table.
var peers = []peer{
	{
		short:   "llmbench",
		name:    "llmbench/sse",
		through: "`Decoder.Next`, MaxEventSize 4 MiB",
		options: ssetest.Options{EOF: ssetest.Mark, MaxEventSize: raised},
		decode:  llmbenchSSE,
		drain:   drainLlmbenchSSE,
	},
	{
		short:   "openai-go",
		name:    "github.com/openai/openai-go/v3",
		through: "`ssestream.NewDecoder`",
		options: ssetest.Options{NoID: true, NoRetry: true, MaxEventSize: 32 << 20},
		decode:  openaiGo,
		drain:   drainOpenaiGo,
	},
	{
		short:   "go-openai",
		name:    "github.com/sashabaranov/go-openai",
		through: "`ChatCompletionStream.RecvRaw` over a stub HTTPClient",
		options: ssetest.Options{NoType: true, NoID: true, NoRetry: true},
		decode:  goOpenAI,
		drain:   drainGoOpenAI,
	},
	{
		short:   "go-sse",
		name:    "github.com/tmaxmax/go-sse",
		through: "`Read`, MaxEventSize 4 MiB (default 64 KiB)",
		options: ssetest.Options{NoRetry: true, MaxEventSize: raised},
		decode:  goSSE,
		drain:   drainGoSSE,
	},
	{
		short:   "launchdarkly",
		name:    "github.com/launchdarkly/eventsource",
		through: "`Decoder.Decode`",
		options: ssetest.Options{},
		decode:  launchDarkly,
		drain:   drainLaunchDarkly,
	},
	{
		short:   "r3labs",
		name:    "github.com/r3labs/sse/v2",
		through: "`Client.SubscribeRaw` over a stub RoundTripper, buffer 4 MiB (default 64 KiB), no reconnection",
		options: ssetest.Options{EOF: ssetest.Flush, MaxEventSize: raised},
		decode:  r3labs,
		drain:   drainR3labs,
	},
}

func llmbenchSSE(body io.Reader, emit func(ssetest.Event)) error {
	d := sse.NewDecoder(body)
	d.MaxEventSize = raised
	for {
		e, err := d.Next()
		if err != nil {
			return err
		}
		retry, _ := d.Retry()
		emit(ssetest.Event{Type: string(e.Type), Data: string(e.Data), ID: string(e.ID), Retry: retry, Unterminated: e.Unterminated})
	}
}

func openaiGo(body io.Reader, emit func(ssetest.Event)) error {
	d := ssestream.NewDecoder(response(body))
	for d.Next() {
		data := string(d.Event().Data)
		// openai-go adds an LF to the data.
		emit(ssetest.Event{Type: d.Event().Type, Data: data[:len(data)-1]})
	}
	return d.Err()
}

func goOpenAI(body io.Reader, emit func(ssetest.Event)) error {
	stream, err := goOpenAIStream(body)
	if err != nil {
		return err
	}
	for {
		data, err := stream.RecvRaw()
		if err != nil {
			return err
		}
		emit(ssetest.Event{Data: string(data)})
	}
}

func goOpenAIStream(body io.Reader) (*goopenai.ChatCompletionStream, error) {
	config := goopenai.DefaultConfig("")
	config.HTTPClient = transport{body}
	return goopenai.NewClientWithConfig(config).CreateChatCompletionStream(
		context.Background(), goopenai.ChatCompletionRequest{Model: "m"})
}

func goSSE(body io.Reader, emit func(ssetest.Event)) error {
	for e, err := range gosse.Read(body, &gosse.ReadConfig{MaxEventSize: raised}) {
		if errors.Is(err, gosse.ErrUnexpectedEOF) { // this error does not wrap io.ErrUnexpectedEOF
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
		emit(ssetest.Event{Type: e.Type, Data: e.Data, ID: e.LastEventID})
	}
	return nil
}

func launchDarkly(body io.Reader, emit func(ssetest.Event)) error {
	d := eventsource.NewDecoder(body)
	var retry time.Duration
	for {
		e, err := d.Decode()
		if err != nil {
			return err
		}
		// Retry is the value in this event's block, or 0.
		if r, ok := e.(interface{ Retry() int64 }); ok && r.Retry() != 0 {
			retry = time.Duration(r.Retry()) * time.Millisecond
		}
		emit(ssetest.Event{Type: e.Event(), Data: e.Data(), ID: e.(eventsource.EventWithLastID).LastEventID(), Retry: retry})
	}
}

func r3labs(body io.Reader, emit func(ssetest.Event)) error {
	var retry time.Duration
	return r3labsClient(body).SubscribeRaw(func(e *r3sse.Event) {
		// Retry is the text in this event's block.
		if ms, err := strconv.ParseUint(string(e.Retry), 10, 31); err == nil {
			retry = time.Duration(ms) * time.Millisecond
		}
		emit(ssetest.Event{Type: string(e.Event), Data: string(e.Data), ID: string(e.ID), Retry: retry})
	})
}

func r3labsClient(body io.Reader) *r3sse.Client {
	c := r3sse.NewClient("http://stub.invalid", r3sse.ClientMaxBufferSize(raised))
	c.Connection = &http.Client{Transport: transport{body}}
	c.ReconnectStrategy = &backoff.StopBackOff{}
	return c
}

// A transport answers every request with an event stream.
type transport struct{ body io.Reader }

func (t transport) Do(*http.Request) (*http.Response, error) { return response(t.body), nil }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == "" {
		return nil, errors.New("no host")
	}
	return response(t.body), nil
}

func response(body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"text/event-stream"}},
		Body:       io.NopCloser(body),
	}
}
