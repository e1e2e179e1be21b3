package document

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// read returns all values of a JSON text.
func read(text string) (all []*Node, err error) {
	err = JSON(strings.NewReader(text), func(n *Node) error {
		all = append(all, n)
		return nil
	})
	return all, err
}

func TestPythonsJSON(t *testing.T) {
	all, err := read("\uFEFF" + `{"a": NaN, "b": Infinity, "c": -Infinity, "d": "NaN Infinity \" NaN", "e": [NaN], "lone": "\ud800"}` + "\n" + `{"a": 1}[2]`)
	assert.NilError(t, err)
	assert.Equal(t, len(all), 3)
	v, ok := all[0].Get("a").Number()
	assert.Assert(t, ok && math.IsNaN(v))
	v, ok = all[0].Get("b").Number()
	assert.Assert(t, ok && math.IsInf(v, +1))
	v, ok = all[0].Get("c").Number()
	assert.Assert(t, ok && math.IsInf(v, -1))
	assert.Equal(t, all[0].Get("d").Text(), `NaN Infinity " NaN`)
	assert.Equal(t, all[2].Len(), 1)
}

func TestPaths(t *testing.T) {
	all, err := read(`{"a": {"p99.9": 1, "b": {"c": 2}}, "a.b": {"d": 3}, "none": null, "long": [` + strings.Repeat(`"", "x", `, 1500) + `{"y": 1}]}`)
	assert.NilError(t, err)
	n := all[0]
	assert.Equal(t, n.Get("a.p99.9").Text(), "1")
	assert.Equal(t, n.Get("a.b.c").Text(), "2")
	assert.Equal(t, n.Get("a.b.d").Text(), "3")
	assert.Assert(t, n.Get("a.b.e") == nil && n.Get("x") == nil && n.Get("").Get("y").Text() == "")
	assert.Assert(t, n.Has("a", "a.b.c") && !n.Has("none") && !n.Has("a", "x"))
	long := n.Get("long")
	assert.Assert(t, long.Len() == 3001 && long.Filled() == 1501 && len(long.Items()) == 1000)
}

func TestWrongText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a": {"b": [1, 2`, "the text ends early, after /a/b/1"},
		{`{"a": "x`, "the text ends early, after /a"},
		{`{"a": 1, "a": 2}`, "duplicate"},
		{`{"a": Nan}`, "no JSON after /a"},
		{`{"a": 1}}`, "no JSON after the start"},
		{`{"a": [` + strings.Repeat("[1],", maxNodes) + `[1]]}`, ""},
		{`{` + strings.Repeat(`"a": {`, 200) + strings.Repeat(`}`, 201), ""},
	} {
		_, err := read(c.text)
		if c.want == "" {
			assert.NilError(t, err)
			continue
		}
		assert.ErrorContains(t, err, c.want)
	}
	stop := errors.New("stop")
	assert.Equal(t, JSON(strings.NewReader("1 2"), func(*Node) error { return stop }), stop)
}

func TestYAML(t *testing.T) {
	n, err := YAML(strings.NewReader("a: &x {b: .inf, c: '1', d: true, e: null}\nlist: [1, two]\nagain: *x\ntime: 2026-03-02T10:00:00Z\n"))
	assert.NilError(t, err)
	v, ok := n.Get("a.b").Number()
	assert.Assert(t, ok && math.IsInf(v, +1))
	assert.Assert(t, n.Get("a.d").True() && !n.Has("a.e") && !n.Has("again"))
	assert.Assert(t, n.Get("list").Len() == 2 && n.Get("time").Text() == "2026-03-02T10:00:00Z")
	_, err = YAML(strings.NewReader("a: [1"))
	assert.Assert(t, err != nil)
	_, err = YAML(strings.NewReader("a: 1\na: 2\n"))
	assert.Assert(t, err != nil)
}

func TestCSV(t *testing.T) {
	rows, err := CSV(strings.NewReader("a,b,,a\n1,\"x, y\"\n\n"))
	assert.NilError(t, err)
	n := Row(rows[0], rows[1])
	assert.DeepEqual(t, n.Names(), []string{"a", "b"})
	assert.Equal(t, n.Get("b").Text(), "x, y")
	_, err = CSV(strings.NewReader("a,\"b\n"))
	assert.Assert(t, err != nil)
}

// FuzzJSON checks that reading a text again gives the same values, and that no text makes the
// reader panic.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a": NaN}`, `[Infinity, "x"] {}`, `{"a": [1, [2]], "b": null}`, "\uFEFF1 2", `"\ud800"`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := read(text)
		again, errAgain := read(text + "\n")
		if err == nil {
			assert.NilError(t, errAgain)
			assert.Equal(t, len(all), len(again))
		}
		for _, n := range all {
			for _, name := range n.Names() {
				assert.Assert(t, name == "" || n.Get(name) != nil, "%q", name)
			}
		}
	})
}
