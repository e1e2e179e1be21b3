package version

import (
	"runtime/debug"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestVersion(t *testing.T) {
	built := func(version string) *debug.BuildInfo { return &debug.BuildInfo{Main: debug.Module{Version: version}} }
	for _, c := range []struct {
		release string
		info    *debug.BuildInfo
		want    string
	}{
		{"v0.4.0", built("(devel)"), "v0.4.0"},
		{"v0.4.0", built("v0.3.0"), "v0.4.0"},
		{"", built("v0.3.0"), "v0.3.0"},
		{"", built("(devel)"), "devel"},
		{"", nil, "devel"},
	} {
		assert.Equal(t, of(c.release, c.info), c.want)
	}
	assert.Assert(t, strings.HasPrefix(Line("benchgate"), "benchgate devel go"))
}

func TestAsked(t *testing.T) {
	for text, want := range map[string]bool{"version": true, "-version": true, "--version": true, "": false, "a.txt": false, "version b.txt": false} {
		assert.Equal(t, Asked(strings.Fields(text)), want, text)
	}
}
