package send

import (
	"context"
	"errors"
	"testing"

	"gotest.tools/v3/assert"
)

// TestFeed checks which posts are fed if the context ends while posts are added: all of them, without a body, or none
// after those that were built.
func TestFeed(t *testing.T) {
	for _, all := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		drawn, unsent := 3, 0
		p := &Posts{
			N: 3, Ahead: 2,
			Build:  func(k int) Post { return Post{Request: k} },
			Unsent: func(k int) Post { unsent++; return Post{Request: k} },
			More: func() (int, error) {
				cancel()
				drawn = min(drawn+2, 7)
				return drawn, nil
			},
		}
		n := 0
		for post := range p.feed(ctx, all, func(build func()) { build() }, func(err error) { t.Error(err) }) {
			assert.Equal(t, post.Request, n)
			n++
		}
		if all {
			assert.Equal(t, n, 7)
			assert.Equal(t, unsent, 4)
		} else {
			assert.Assert(t, n == 3 || n == 4, "%d", n)
			assert.Equal(t, unsent, 0)
		}
	}
	var failed error
	none := errors.New("no file")
	p := &Posts{N: 1, Ahead: 1, Build: func(k int) Post { return Post{} }, More: func() (int, error) { return 0, none }}
	n := 0
	for range p.feed(t.Context(), false, func(build func()) { build() }, func(err error) { failed = err }) {
		n++
	}
	assert.Equal(t, n, 1)
	assert.Equal(t, failed, none)
}
