package debroot

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

func TestMirror(t *testing.T) {
	for _, tt := range []struct{ environ, want, err string }{
		{"LLMBENCH_DEBIAN_MIRROR=http://127.0.0.1:1/debian/", "http://127.0.0.1:1/debian/", ""},
		{"LLMBENCH_DEBIAN_MIRROR=file:///mnt/debian", "file:///mnt/debian", ""},
		{"LLMBENCH_DEBIAN_MIRROR=deb.debian.org", "", "LLMBENCH_DEBIAN_MIRROR=deb.debian.org: want the http, https or file URL of a Debian mirror"},
		{"LLMBENCH_DEBIAN_MIRROR=http:/debian", "", "LLMBENCH_DEBIAN_MIRROR=http:/debian: want"},
	} {
		r := env.NewReader([]string{tt.environ})
		assert.Equal(t, readMirror(r), tt.want, tt.environ)
		if tt.err == "" {
			assert.NilError(t, r.Err(), tt.environ)
			continue
		}
		assert.ErrorContains(t, r.Err(), tt.err)
	}
}
