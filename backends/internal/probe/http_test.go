package probe

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// TestLongAnswer checks the limit of the answers to probes.
func TestLongAnswer(t *testing.T) {
	length := maxAnswer
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.Copy(w, io.LimitReader(endless{}, int64(length)))
	}))
	defer s.Close()
	fetch := func() ([]byte, error) {
		return Fetch(t.Context(), llmbench.Target{URL: s.URL}, http.MethodGet, "/metrics?a=b", "")
	}
	body, err := fetch()
	assert.NilError(t, err)
	assert.Equal(t, len(body), maxAnswer)
	for _, length = range []int{maxAnswer + 1, 1 << 30} {
		body, err = fetch()
		assert.Error(t, err, "GET /metrics: an answer of more than 16777216 bytes")
		assert.Equal(t, len(body), 0)
	}
}

// endless is a reader of spaces.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return copy(b, strings.Repeat(" ", len(b))), nil }
