package send

import (
	"context"
	"time"
)

// A Post is a request that is ready to be sent. For a session it is the first turn.
type Post struct {
	Path         string
	Body         []byte
	Chars        int // characters of the text in Body
	PromptTokens int // intended length of the prompt; 0: unknown
	MaxTokens    int // output tokens that it asks for, at most or exactly
	FixedOutput  bool
	Request      int // index among the requests of the pass
	Turn         int // of a session, from 0
	Leave        Leave
	Check        func(Answer) error // or nil

	// Turns are the further turns of a session, and Next returns the post of the one that follows
	// so many replies.
	Turns []Turn
	Next  func(replies []string) (Post, error)
}

// Samples returns how many samples the post has, one for each turn.
func (p *Post) Samples() int { return 1 + len(p.Turns) }

// A Turn is a further turn of a session.
type Turn struct {
	Think time.Duration // from the end of the last reply to the send
	Check func(Answer) error
}

// A Leave is when the client of a request leaves before the end. Its zero value means never.
type Leave struct {
	Turn   int           // of its session
	Deltas int           // after so many deltas; 0: see After
	After  time.Duration // since the send
}

// inTurn returns l for a turn of its session.
func (l Leave) inTurn(turn int) Leave {
	if l.Turn != turn {
		return Leave{}
	}
	return l
}

// Posts are the posts of a pass, which are built a bounded number ahead.
type Posts struct {
	N      int              // number of posts
	Ahead  int              // how many of them wait to be sent, at most
	Index  func(k int) int  // index of the k-th post's request among those of the pass
	Build  func(k int) Post // builds the k-th post
	Unsent func(k int) Post // the same without a body, for a post that is not sent
}

// feed returns the posts in order. All of them must be received. The first ones are built when feed
// returns; a goroutine builds the others in a function that guard calls. Posts after the end of ctx
// have no body, and must not be sent.
func (p *Posts) feed(ctx context.Context, guard func(build func())) <-chan *Post {
	posts := make(chan *Post, p.Ahead)
	for k := range p.Ahead {
		posts <- new(p.Build(k))
	}
	go func() {
		defer close(posts)
		guard(func() {
			for k := p.Ahead; k < p.N; k++ {
				build := p.Build
				if ctx.Err() != nil {
					build = p.Unsent
				}
				posts <- new(build(k))
			}
		})
	}()
	return posts
}
