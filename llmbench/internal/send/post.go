package send

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A Post is a request that is ready to be sent. For a session, it is the first turn.
type Post struct {
	Path         string
	Body         []byte
	Chars        int // number of characters of the text in Body
	PromptTokens int // intended length of the prompt; 0 means unknown
	MaxTokens    int // number of output tokens that the request asks for, at most or exactly
	FixedOutput  bool
	Inputs       int            // number of texts to embed or to rank; 0 for a request for generated text
	Request      int            // index of the request in the pass
	Turn         int            // number of the turn in its session, from 0
	Model        string         // name of the model, if it is not the target's; else ""
	Header       http.Header    // further fields of the request; names are in canonical form
	Secrets      redact.Secrets // credentials in Header and Body; zero if there are none
	Leave        Leave
	Check        func(Answer) error // may be nil

	// Turns has the further turns of a session. Turn i of the session, from 1, is Turns[i-1]. The post itself is the first turn that is
	// sent: the turns before it, Turn in number, count as ended when the session begins. Next returns the post of turn i. The function
	// replyTo returns the reply to a turn that was sent before it.
	Turns []Turn
	Next  func(i int, replyTo func(turn int) string) (Post, error)

	signed   *http.Request // the signed request, or nil; see [Client.Presign]
	signedAt time.Time     // the instant of the signature
}

// Samples returns the number of samples that the post yields, one for each turn.
func (p *Post) Samples() int { return 1 + len(p.Turns) - p.Turn }

// A Turn is a further turn of a session.
type Turn struct {
	After []int         // the turns that it waits for, which have smaller numbers; none means that it begins with the session
	Think time.Duration // pause from the end of the last of these turns, or from the beginning of the session, to the send
	Every time.Duration // if above 0, the pause ends this long after the send of After[0], or at once if that was earlier
	Check func(Answer) error
}

// due returns the instant of the send, if the last of the turns that it waits for ended at ready, and if After[0] was sent at the
// instant sent.
func (t *Turn) due(ready, sent time.Duration) time.Duration {
	if t.Every > 0 {
		return max(ready, sent+t.Every)
	}
	return ready + t.Think
}

// A Leave says when the client leaves before the end of the answer. The zero value means never.
type Leave struct {
	Turn   int           // the turn of the session in which the client leaves
	Deltas int           // leave after this number of deltas; 0: see After
	After  time.Duration // leave this long after the send
}

// inTurn returns l if the client leaves in the given turn, and otherwise the zero Leave.
func (l Leave) inTurn(turn int) Leave {
	if l.Turn != turn {
		return Leave{}
	}
	return l
}

// Posts are the posts of a pass. They are built in advance, but only a limited number at a time.
type Posts struct {
	N      int              // number of posts
	Ahead  int              // maximum number of posts that wait to be sent, at most N
	Build  func(k int) Post // builds the k-th post
	Unsent func(k int) Post // like Build, but without a body, for a post that is not sent
	// More, if not nil, adds posts after the first N, and returns how many there are then. The same number as before
	// means that there are no more.
	More func() (n int, err error)
}

// grow reports whether there is a k-th post. If More fails, it returns the error.
func (p *Posts) grow(k int) (has bool, err error) {
	if k < p.N || p.More == nil {
		return k < p.N, nil
	}
	n := p.N
	p.N, err = p.More()
	return err == nil && p.N > n, err
}

// feed returns a channel of the posts, in order. The caller must receive all of them. feed builds the first
// Ahead posts itself. A goroutine builds the others, in a function that it passes to guard. After the end
// of ctx, posts have no body and must not be sent. If all is false, there are no posts after the end of ctx.
// If More of the posts fails, feed calls fail.
func (p *Posts) feed(ctx context.Context, all bool, guard func(build func()), fail func(error)) <-chan *Post {
	posts := make(chan *Post, p.Ahead)
	for k := range p.Ahead {
		posts <- new(p.Build(k))
	}
	var ended <-chan struct{}
	if !all {
		ended = ctx.Done()
	}
	go func() {
		defer close(posts)
		guard(func() {
			for k := p.Ahead; all || ctx.Err() == nil; k++ {
				has, err := p.grow(k)
				if err != nil {
					fail(err)
				}
				if !has {
					return
				}
				build := p.Build
				if all && ctx.Err() != nil {
					build = p.Unsent
				}
				select {
				case posts <- new(build(k)):
				case <-ended:
				}
			}
		})
	}()
	return posts
}
