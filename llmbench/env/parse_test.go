package env

import (
	"math"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// parsed adapts a parser so that its result has the type any. A table can then contain parsers of different
// types.
func parsed[T any](parse func(string) (T, error)) func(string) (any, error) {
	return func(value string) (any, error) { return parse(value) }
}

func TestParsers(t *testing.T) {
	parsers := map[string]func(string) (any, error){
		"List":     parsed(List(AtLeast(1))),
		"OneOf":    parsed(OneOf("core", "all")),
		"Text":     parsed(Text),
		"Full":     parsed(Full),
		"AtLeast":  parsed(AtLeast(0)),
		"Uint64":   parsed(Uint64),
		"Positive": parsed(Positive),
		"Share":    parsed(Share),
		"Duration": parsed(Duration),
	}
	for _, tt := range []struct {
		parser, value string
		want          any // nil means an error
	}{
		{"List", "1", []int{1}},
		{"List", "1, 8", []int{1, 8}},
		{"List", "8,8", nil},
		{"List", "1,,2", nil},
		{"List", "0", nil},
		{"List", "", nil},
		{"OneOf", "all", "all"},
		{"OneOf", "All", nil},
		{"OneOf", " all", nil},
		{"Text", " a ", " a "},
		{"Text", " \t", nil},
		{"Full", "1", "1"},
		{"Full", "true", "1"},
		{"Full", "0", ""},
		{"Full", " D11 ", "D11"},
		{"Full", " ", nil},
		{"AtLeast", "0", 0},
		{"AtLeast", "-1", nil},
		{"AtLeast", "1.5", nil},
		{"AtLeast", "1e3", nil},
		{"Uint64", "18446744073709551615", uint64(math.MaxUint64)},
		{"Uint64", "18446744073709551616", nil},
		{"Uint64", "-1", nil},
		{"Positive", "0.5", 0.5},
		{"Positive", "1e308", 1e308},
		{"Positive", "0", nil},
		{"Positive", "-1", nil},
		{"Positive", "NaN", nil},
		{"Positive", "Inf", nil},
		{"Positive", "1e309", nil},
		{"Share", "0", 0.0},
		{"Share", "1", 1.0},
		{"Share", "1.1", nil},
		{"Share", "-0.1", nil},
		{"Share", "NaN", nil},
		{"Duration", "1m30s", 90 * time.Second},
		{"Duration", "0s", nil},
		{"Duration", "-1s", nil},
		{"Duration", "10", nil},
	} {
		got, err := parsers[tt.parser](tt.value)
		if tt.want == nil {
			assert.Assert(t, err != nil, "%s(%q) = %v, want an error", tt.parser, tt.value, got)
			continue
		}
		assert.NilError(t, err, "%s(%q)", tt.parser, tt.value)
		assert.DeepEqual(t, got, tt.want)
	}
}

func TestFolder(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	got, err := Folder(".")
	assert.NilError(t, err)
	assert.Equal(t, got, here)
	_, err = Folder("missing")
	assert.ErrorContains(t, err, "missing")
	_, err = Folder("/dev/null")
	assert.ErrorContains(t, err, "")
}

func FuzzParsers(f *testing.F) {
	for _, v := range []string{"", "1,8", "0.5", "1e308", "10m", "-0", "NaN", "+Inf", "0x10", "1_000"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		if all, err := List(AtLeast(1))(v); err == nil {
			assert.Assert(t, len(all) > 0, "List: %q gives none", v)
			seen := map[int]bool{}
			for _, n := range all {
				assert.Assert(t, n >= 1 && !seen[n], "List: %q gives %v", v, all)
				seen[n] = true
			}
		}
		if n, err := Uint64(v); err == nil {
			again, err := Uint64(strconv.FormatUint(n, 10))
			assert.Assert(t, err == nil && again == n, "Uint64: %q gives %d", v, n)
		}
		if x, err := Positive(v); err == nil {
			assert.Assert(t, x > 0 && !math.IsInf(x, 0), "Positive: %q gives %v", v, x)
		}
		if x, err := Share(v); err == nil {
			assert.Assert(t, x >= 0 && x <= 1, "Share: %q gives %v", v, x)
		}
		if d, err := Duration(v); err == nil {
			assert.Assert(t, d > 0, "Duration: %q gives %v", v, d)
		}
	})
}

func TestNoShell(t *testing.T) {
	for command, operator := range map[string]string{
		"x -a=b {port} 'c d'":         "",
		`sh -c 'x && y | z >a 2>&1'`:  "",
		`sh -c "x; y" "it's" a\;b \&`: "",
		`a "\";"`:                     "",
		"x && y":                      "&&",
		"x&&y":                        "&&",
		"x || y":                      "||",
		"x 'a' | y":                   "|",
		"x; y":                        ";",
		"x >a":                        ">",
		"x <a":                        "<",
		"x 2>&1":                      ">",
		"x & y":                       "&",
		"x $(y)":                      "$(",
		"x `y`":                       "`",
		`x 'a\' && y`:                 "&&",
		`x "a\\" && y`:                "&&",
		`x\`:                          "",
	} {
		err := NoShell(command)
		if operator == "" {
			assert.NilError(t, err, command)
			continue
		}
		assert.Error(t, err, operator+" outside of quotation marks, and no shell reads the command: want sh -c '…'")
	}
	assert.NilError(t, NoShell("x & y", "&"))
	assert.ErrorContains(t, NoShell("x && y", "&"), "&& outside")
}
