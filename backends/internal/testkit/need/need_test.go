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
		{"dokcer", "fatal: LLMBENCH_REQUIRE=dokcer: want a comma list of docker, engines, gateways, llamacpp, nginx, ollama"},
	} {
		t.Setenv("LLMBENCH_REQUIRE", c.required)
		r := &recorder{TB: t}
		Missing(r, LlamaCPP, errors.New("no server"))
		assert.Equal(t, r.ended, c.want)
	}
}

// TestCheck checks that a test fails only if the thing that is missing is required, and not if the test also
// needs something else that is required.
func TestCheck(t *testing.T) {
	lost := fmt.Errorf("%w: no server", ErrUnavailable)
	for _, c := range []struct {
		required string
		err      error
		want     string
	}{
		{"llamacpp", nil, ""},
		{"", lost, "skip: llamacpp is not available here: no server"},
		{"docker,nginx,ollama", lost, "skip: llamacpp is not available here: no server"},
		{"llamacpp", lost, "fatal: llamacpp is not available here: no server"},
		{"llamacpp", Of(Docker, lost), "skip: docker is not available here: no server"},
		{"llamacpp,nginx,ollama", fmt.Errorf("%w, said docker info", Of(Docker, lost)), "skip: docker is not available here: no server, said docker info"},
		{"docker", Of(Docker, lost), "fatal: docker is not available here: no server"},
		{"", Of(Docker, errors.New("crashed")), "fatal: crashed"},
		{"", Of(Docker, nil), ""},
	} {
		t.Setenv("LLMBENCH_REQUIRE", c.required)
		r := &recorder{TB: t}
		Check(r, LlamaCPP, c.err)
		assert.Equal(t, r.ended, c.want, "LLMBENCH_REQUIRE=%s: %v", c.required, c.err)
	}
}
