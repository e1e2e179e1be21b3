package facts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

const folder = "../../../testdata/facts"

// parseChecked is Parse, with an error if the file contradicts itself.
func parseChecked(text []byte) (Facts, error) {
	f, err := Parse(text)
	if err != nil {
		return f, err
	}
	return f, f.check()
}

// TestFiles checks that every file in the tree can be read, and does not contradict itself.
func TestFiles(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	assert.NilError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		assert.NilError(t, err)
		_, err = parseChecked(text)
		assert.NilError(t, err, path)
	}
	all, err := Load(folder)
	assert.NilError(t, err)
	for _, f := range all {
		_, err := f.ParseCommand(f.Command.Words)
		assert.NilError(t, err, f.Server)
	}
}

// valid is a correct file, which the test cases then spoil.
const valid = `{"server": "s", "version": "1.2", "tree": {"repository": "https://example.com/s", "commit": "0123abc", "tag": "", "date": "2026-01-02"},
"checked": {"date": "2026-01-03", "how": "read"},
"images": [{"name": "a/s:1.2", "for": "cpu", "attested": "somewhere", "see": "https://example.com/tags"}],
"command": {"words": ["s", "serve"], "style": "argparse", "positionals": ["model"], "source": "main.py:1"},
"model": {"settings": ["--names", "model"], "listed": "base", "source": "main.py:6"},
"options": [
 {"names": ["--dtype", "-d"], "kind": "enum", "values": ["auto", "half"], "source": "main.py:2"},
 {"names": ["--share"], "kind": "float", "min": 0, "max": 1, "source": "main.py:3"},
 {"names": ["--fast"], "kind": "flag", "source": "main.py:4"},
 {"names": ["--n"], "kind": "int", "source": "main.py:5"},
 {"names": ["--names"], "kind": "text", "many": true, "source": "main.py:6"},
 {"names": ["--config"], "kind": "json", "source": "main.py:7"}],
"variables": [{"names": ["DEBUG"], "kind": "bool", "values": ["0", "1"], "source": "main.py:8"}],
"fields": [{"in": "c.json", "name": "cache", "kind": "object", "source": "main.py:9"}, {"in": "c.json", "name": "cache.sizes", "kind": "object", "source": "main.py:9"},
 {"in": "c.json", "name": "cache.sizes.0", "kind": "int", "source": "main.py:9"}, {"in": "c.json", "name": "free", "kind": "json", "source": "main.py:9"}],
"listeners": [{"name": "", "port": 80, "portBy": "--n", "host": "0.0.0.0", "opens": "at once", "source": "main.py:10"}],
"routes": [{"method": "GET", "path": "/health", "needs": "DEBUG=1", "before": 503, "source": "main.py:11"}],
"metrics": [{"name": "m", "type": "gauge", "source": "https://example.com/m"}],
"failures": [{"text": "out of memory", "source": "main.py:12"}]}`

func TestParse(t *testing.T) {
	_, err := parseChecked([]byte(valid))
	assert.NilError(t, err)
	for _, c := range []struct{ old, new, want string }{
		{`"failures"`, `"failure"`, `unknown field "failure"`},
		{`"text": "out`, `"texts": "out`, `unknown field "texts"`},
		{`"2026-01-03"`, `"today"`, `checked: date "today": want a date`},
		{`"main.py:12"`, `"main.py"`, `failure out of memory: source "main.py": want path:line or a URL`},
		{`"0123abc"`, `""`, `source "main.py:1": want a URL, because the file names no commit`},
		{`"a/s:1.2"`, `"a/s:latest"`, `image "a/s:latest": want a tag`},
		{`"https://example.com/tags"`, `"tags"`, `image a/s:1.2: see "tags": want the URL`},
		{`"for": "cpu"`, `"for": "tpu"`, `for "tpu": want one of`},
		{`"argparse"`, `"getopt"`, `command: style "getopt": want one of`},
		{`"-d"`, `"--fast"`, `option "--fast": want a name that no other has`},
		{`"kind": "enum"`, `"kind": "text"`, `option --dtype: an enum has values`},
		{`"kind": "float"`, `"kind": "text"`, `option --share: only a number has a min`},
		{`"DEBUG"]`, `"--debug"]`, `variable "--debug": only options begin with a hyphen`},
		{`"DEBUG=1"`, `"NONE=1"`, `route GET /health: no option, variable or field "NONE"`},
		{`"--names", "model"`, `"--name"`, `model: no option, variable or field "--name"`},
		{`["--names", "model"]`, `[]`, `model: want the settings that give the model its name`},
		{`"base"`, `"short"`, `model: listed "short": want one of`},
		{`"at once"`, `"soon"`, `opens "soon": want one of`},
		{`"GET"`, `"FETCH"`, `method "FETCH": want one of`},
		{`"gauge"`, `"number"`, `metric m: type "number": want one of`},
		{`"failures"`, `"includes": ["x"], "failures"`, ""}, // Load replaces the names by what is included
	} {
		text := strings.Replace(valid, c.old, c.new, 1)
		assert.Assert(t, text != valid, c.old)
		_, err := parseChecked([]byte(text))
		if c.want == "" {
			assert.NilError(t, err)
			continue
		}
		assert.ErrorContains(t, err, c.want)
	}
}

func TestLoadNamesFile(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(dir)
	assert.ErrorContains(t, err, "no *.json in")
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "other.json"), []byte(valid), 0o600))
	_, err = Load(dir)
	assert.ErrorContains(t, err, "want the name s-1.2.json")
	assert.NilError(t, os.Remove(filepath.Join(dir, "other.json")))
	text := strings.Replace(valid, `"failures"`, `"includes": ["x-1"], "failures"`, 1)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "s-1.2.json"), []byte(text), 0o600))
	_, err = Load(dir)
	assert.ErrorContains(t, err, `s-1.2: includes "x-1": no such file`)
}

func TestParseCommand(t *testing.T) {
	f, err := Parse([]byte(valid))
	assert.NilError(t, err)
	set, err := f.ParseCommand(strings.Fields(`s serve m --dtype half --fast --n=-1 --names a b --config {"a":1}`))
	assert.NilError(t, err)
	assert.DeepEqual(t, set, Settings{"model": {"m"}, "--dtype": {"half"}, "--fast": {""}, "--n": {"-1"}, "--names": {"a", "b"}, "--config": {`{"a":1}`}})
	assert.Assert(t, set.Has("--fast") && set.Has("--dtype=half") && !set.Has("--dtype=auto") && !set.Has("--share"))
	for _, c := range []struct{ words, want string }{
		{"s run", `want one that begins with ["s" "serve"]`},
		{"s serve m m2", "error: unrecognized arguments: m2"},
		{"s serve --what", "error: unrecognized arguments: --what"},
		{"s serve --dtype", "error: argument --dtype: expected one argument"},
		{"s serve --dtype --fast", "error: argument --dtype: expected one argument"},
		{"s serve -d fp16", "error: argument -d: invalid value: 'fp16'"},
		{"s serve --share 1.5", "error: argument --share: invalid value: '1.5'"},
		{"s serve --n 1.5", "error: argument --n: invalid value: '1.5'"},
		{"s serve --fast=1", "error: argument --fast: invalid value: '1'"},
		{"s serve --config {", "error: argument --config: invalid value: '{'"},
	} {
		_, err := f.ParseCommand(strings.Fields(c.words))
		assert.ErrorContains(t, err, c.want)
	}
	for style, want := range map[string]string{"clap": "error: unexpected argument '--x' found", "click": "Error: No such option: --x", "llama": "error: invalid argument: --x", "none": "unexpected argument: --x"} {
		f.Command.Style = style
		_, err := f.ParseCommand(strings.Fields("s serve --x"))
		var usage *UsageError
		assert.Assert(t, errors.As(err, &usage) && usage.Exit > 0, "%v", err)
		assert.Equal(t, usage.Message, want)
	}
}

func TestEnvironmentAndDocument(t *testing.T) {
	f, err := Parse([]byte(valid))
	assert.NilError(t, err)
	set, err := f.Environment(map[string]string{"DEBUG": "1"})
	assert.NilError(t, err)
	assert.Assert(t, set.Has("DEBUG=1"))
	_, err = f.Environment(map[string]string{"DEBUG": "yes"})
	assert.ErrorContains(t, err, `variable DEBUG: "yes": want`)
	_, err = f.Environment(map[string]string{"HOME": "/", "PATH": "", "TZ": "", "USER": ""})
	assert.ErrorContains(t, err, "variable HOME: s 1.2 does not read it")

	set, err = f.Document("c.json", []byte(`{"cache": {"sizes": [1, 2]}, "free": {"x": 1}}`))
	assert.NilError(t, err)
	assert.Assert(t, set.Has("cache.sizes.0=2") && set.Has("free"))
	for text, want := range map[string]string{
		`{"cash": 1, "d": 1, "e": 1}`: "c.json: s 1.2 does not read the member cash",
		`{"cache": {"sizes": 1}}`:     "c.json: cache.sizes is 1: want kind object",
		`{"cache": {"sizes": [1.5]}}`: `c.json: cache.sizes.0: "1.5": want kind int`,
		`{`:                           "c.json: unexpected end",
	} {
		_, err := f.Document("c.json", []byte(text))
		assert.ErrorContains(t, err, want)
	}
}

// TestFor checks which facts apply to an image.
func TestFor(t *testing.T) {
	all := []Facts{
		{Server: "s", Version: "3.9", Images: []Image{{Name: "a/s:old"}}},
		{Server: "s", Version: "3.23"},
		{Server: "other", Version: "9"},
	}
	for image, want := range map[string]string{"a/s:old": "3.9", "local/s:3.9-cuda": "3.9", "local/s:v3.23": "3.23", "local/s:3.9@sha256:0": "3.9"} {
		f, doubt, found := For(all, "s", image)
		assert.Assert(t, found)
		assert.Equal(t, f.Version, want, image)
		assert.Equal(t, doubt, "", image)
	}
	for _, image := range []string{"local/s:5", "local/s:13.9", "local/s:3.9.1", "r:3.9/s", ""} {
		f, doubt, found := For(all, "s", image)
		assert.Assert(t, found)
		assert.Equal(t, f.Version, "3.23", image)
		assert.Equal(t, doubt, fmt.Sprintf("no facts are about the image %q: these are the newest ones of s, of 3.23", image))
	}
	_, _, found := For(all, "none", "")
	assert.Assert(t, !found)
	assert.Assert(t, !launch.TagHas("local/s@sha256:ab11312f", "b11312"), "a digest is no tag")
}

// TestModelName checks under which name each server lists its model.
func TestModelName(t *testing.T) {
	for listed, want := range map[string]string{"": "A/b", "tagged": "A/b:latest", "base": "b", "own": "a--b"} {
		f := Facts{Model: Model{Settings: []string{"--name", "model"}, Listed: listed}}
		assert.Equal(t, f.ModelName(Settings{"model": {"A/b"}}), want)
		assert.Equal(t, f.ModelName(Settings{"model": {"m"}, "--name": {"A/b"}}), want)
		assert.Equal(t, f.ModelName(Settings{"--other": {"A/b"}}), "")
	}
	f := Facts{Model: Model{Settings: []string{"model"}, Listed: "tagged"}}
	assert.Equal(t, f.ModelName(Settings{"model": {"m:8b"}}), "m:8b")
}
