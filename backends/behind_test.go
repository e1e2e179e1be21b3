package backends

import (
	"testing"

	"gotest.tools/v3/assert"
)

// TestBehind checks what the server behind a gateway shares with the gateway, and that a key does not leave a gateway
// with TLS for a server without it.
func TestBehind(t *testing.T) {
	for _, tt := range []struct {
		gateway, direct string
		key             string
	}{
		{"LLMBENCH_URL=http://gateway", "http://server:8000", "secret"},
		{"LLMBENCH_URL=https://gateway", "https://server:8000", "secret"},
		{"LLMBENCH_URL=https://gateway", "http://server:8000", ""},
	} {
		c, err := ParseConfig([]string{tt.gateway, "LLMBENCH_DIRECT=" + tt.direct, "LLMBENCH_API_KEY=secret", "LLMBENCH_MODEL=m", "LLMBENCH_NAME=mine", "LLMBENCH_METRICS=http://server:9000/metrics"})
		assert.NilError(t, err)
		b := Behind(c)
		u := b.Backend.(URL)
		assert.Equal(t, b.Name, "mine")
		assert.Equal(t, u.URL, tt.direct)
		assert.Equal(t, u.Model, "m")
		assert.Equal(t, u.APIKey.Reveal(), tt.key, "%v", tt)
		assert.DeepEqual(t, u.MetricsURLs, []string{"http://server:9000/metrics"})
	}
	c, err := ParseConfig([]string{"LLMBENCH_BACKEND=process", "LLMBENCH_COMMAND=gateway {port}", "LLMBENCH_DIRECT=http://server:8000"})
	assert.NilError(t, err)
	assert.Equal(t, Behind(c).Name, "process")
}
