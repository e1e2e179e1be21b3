package llmbench

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// A post is a request that is ready to be sent.
type post struct {
	path         string
	body         []byte
	chars        int // characters of the text in it
	promptTokens int // intended length of the prompt; 0: unknown
	maxTokens    int // output tokens that it asks for, at most or exactly
	fixedOutput  bool
	request      int // index among the requests of the pass
	leave        leave

	// For a session: the conversation of the first turn, and the turns after it.
	messages []Message
	then     []Turn
}

// samples returns how many samples the post has, one for each turn.
func (p post) samples() int { return 1 + len(p.then) }

// countSamples returns how many samples posts have.
func countSamples(posts []post) int {
	n := 0
	for i := range posts {
		n += posts[i].samples()
	}
	return n
}

// newPosts returns the posts for requests.
func newPosts(l *Load, t Target, requests []Request) ([]post, error) {
	posts := make([]post, len(requests))
	for i, r := range requests {
		build := newPost
		if len(r.Then) > 0 {
			build = newSession
		}
		p, err := build(l, t, r)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		p.request = i
		posts[i] = p
	}
	planLeaves(l.Cancel, posts)
	return posts, nil
}

// newPost returns the post for r without its further turns.
func newPost(l *Load, t Target, r Request) (post, error) {
	d := t.dialect()
	q := dialect.Query{
		Model:       t.Model,
		Prompt:      r.Prompt,
		Messages:    r.Messages,
		MaxTokens:   r.MaxTokens,
		FixedOutput: r.FixedOutput,
		Stream:      !l.NoStream,
		Tools:       r.Tools,
		Schema:      r.Schema,
	}
	body, err := d.Body(q)
	return post{path: d.Path(q), body: body, chars: r.chars(), promptTokens: r.PromptTokens, maxTokens: r.MaxTokens, fixedOutput: r.FixedOutput}, err
}

// newSession returns the post for a request with further turns. It also builds those turns,
// without the replies, so that a turn the dialect cannot express is an error before the pass.
func newSession(l *Load, t Target, r Request) (post, error) {
	if len(r.Tools) > 0 || len(r.Schema) > 0 {
		return post{}, errors.New("a session with tools or a schema; its replies are texts")
	}
	messages := r.Messages
	if len(messages) == 0 {
		messages = []Message{{Role: "user", Content: r.Prompt}}
	}
	for i, turn := range r.Then {
		if turn.Think < 0 {
			return post{}, fmt.Errorf("turn %d: think time %v; must be at least 0", i+1, turn.Think)
		}
		if _, err := newPost(l, t, turn.request(messages)); err != nil {
			return post{}, fmt.Errorf("turn %d: %w", i+1, err)
		}
	}
	r.Messages = messages
	p, err := newPost(l, t, r)
	p.messages, p.then = messages, r.Then
	return p, err
}

// planLeaves draws which clients leave, and when.
func planLeaves(c Cancel, posts []post) {
	if c.Share == 0 {
		return
	}
	r := rand.New(rand.NewPCG(c.Seed, 0x6c6566742d656172))
	n := int(math.Round(c.Share * float64(len(posts))))
	for _, i := range r.Perm(len(posts))[:n] {
		l := leave{turn: r.IntN(posts[i].samples())}
		if c.Deltas > 0 {
			l.deltas = 1 + r.IntN(c.Deltas)
		} else {
			l.after = 1 + time.Duration(r.Int64N(int64(c.Time)))
		}
		posts[i].leave = l
	}
}
