package resultline

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestConfigure checks which configuration lines are printed, and that no value can break the format.
func TestConfigure(t *testing.T) {
	var out strings.Builder
	p := Printer{Out: &out}
	for _, c := range []struct {
		benchmark string
		config    map[string]string
		want      string
	}{
		{"A", map[string]string{"b": "1", "a": "x\ny  z"}, "a: x y z\nb: 1\n"},
		{"A", map[string]string{"b": "1", "a": "x y z"}, ""},
		{"B", map[string]string{"b": "2", "c": ""}, "a:\nb: 2\nc: \n"},
		{"C", nil, "b:\nc:\n"},
	} {
		out.Reset()
		assert.NilError(t, p.Configure(c.benchmark, c.config, false))
		assert.Equal(t, out.String(), c.want)
	}
	assert.ErrorContains(t, p.Configure("C", map[string]string{"d": "1"}, false), "d: 1")
	out.Reset()
	assert.NilError(t, p.Configure("D", map[string]string{"e": "1"}, true))
	assert.Equal(t, out.String(), "")
}

// TestComment checks when a text is printed as a comment.
func TestComment(t *testing.T) {
	var out strings.Builder
	var p Printer
	assert.Assert(t, !p.Comment("A", "Main was not called"))
	p.Out = &out
	assert.NilError(t, p.Configure("B", nil, false))
	assert.Assert(t, p.Comment("A", "A is skipped: a.json is not here\nget it"))
	assert.Assert(t, !p.Comment("B", "within the line of a result"))
	assert.Equal(t, out.String(), "# A is skipped: a.json is not here\n# get it\n")
}

// TestDescribe checks that the metadata of a unit is printed only once.
func TestDescribe(t *testing.T) {
	var p Printer
	u := sample.Unit{Name: "x", Better: "higher"}
	assert.Equal(t, p.Describe(u), u.Line()+"\n")
	assert.Equal(t, p.Describe(u), "")
}
