package peers

import (
	"io"

	"github.com/launchdarkly/eventsource"
	"github.com/openai/openai-go/v3/packages/ssestream"
	r3sse "github.com/r3labs/sse/v2"
	gosse "github.com/tmaxmax/go-sse"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sse"
)

// The functions below read a body to its end and count its events. They copy nothing.

func drainLlmbenchSSE(r io.Reader) (n int, err error) {
	d := sse.NewDecoder(r)
	for {
		if _, err := d.Next(); err != nil {
			return n, err
		}
		n++
	}
}

func drainOpenaiGo(r io.Reader) (n int, err error) {
	d := ssestream.NewDecoder(response(r))
	for d.Next() {
		n++
	}
	return n, d.Err()
}

func drainGoOpenAI(r io.Reader) (n int, err error) {
	stream, err := goOpenAIStream(r)
	if err != nil {
		return 0, err
	}
	for {
		if _, err := stream.RecvRaw(); err != nil {
			return n, err
		}
		n++
	}
}

func drainGoSSE(r io.Reader) (n int, err error) {
	gosse.Read(r, nil)(func(_ gosse.Event, e error) bool {
		if e != nil {
			err = e
			return false
		}
		n++
		return true
	})
	return n, err
}

func drainLaunchDarkly(r io.Reader) (n int, err error) {
	d := eventsource.NewDecoder(r)
	for {
		if _, err := d.Decode(); err != nil {
			return n, err
		}
		n++
	}
}

func drainR3labs(r io.Reader) (n int, err error) {
	err = r3labsClient(r).SubscribeRaw(func(*r3sse.Event) { n++ })
	return n, err
}
