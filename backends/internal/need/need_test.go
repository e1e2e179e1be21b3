package need

import (
	"errors"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
)

// A recorder is a testing.TB that remembers how it was ended.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper()        {}
func (r *recorder) Skip(a ...any)  { r.ended = "skip: " + fmt.Sprint(a...) }
func (r *recorder) Fatal(a ...any) { r.ended = "fatal: " + fmt.Sprint(a...) }

func TestMissing(t *testing.T) {
	for _, c := range []struct{ required, want string }{
		{"", "skip: no server"},
		{"docker", "skip: no server"},
		{"llamacpp", "fatal: no server"},
		{"docker, llamacpp", "fatal: no server"},
		{"dokcer", "fatal: LLMBENCH_REQUIRE=dokcer: want a comma list of docker, llamacpp, nginx, ollama"},
	} {
		t.Setenv("LLMBENCH_REQUIRE", c.required)
		r := &recorder{TB: t}
		Missing(r, LlamaCPP, errors.New("no server"))
		assert.Equal(t, r.ended, c.want)
	}
}
