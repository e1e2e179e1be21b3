package llmbench

import (
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/conn"

	"context"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// Do sends one request to t, on a connection of its own, and returns its sample
// when it has ended; stream tells whether the answer is to be streamed. It ends at the latest with ctx or after
// [DefaultTimeout]. It is for what comes before a measurement: to see whether a
// server truly answers, and how it counts tokens.
func Do(ctx context.Context, t Target, r Request, stream bool) sample.Sample {
	l, err := Load{Requests: []Request{r}, Concurrency: 1, NoStream: !stream}.check()
	if err != nil {
		return sample.Sample{Outcome: sample.Malformed, Err: err}
	}
	posts, err := l.bodies(t, l.Requests)
	if err != nil {
		return sample.Sample{Outcome: sample.Malformed, Err: err}
	}
	c, err := newClient(t)
	if err != nil {
		return sample.Sample{Outcome: sample.Malformed, Err: err}
	}
	defer c.close()
	return newWorker(c, &l, conn.NewClock(conn.WallClock)).do(ctx, posts[0], 0, false)
}
