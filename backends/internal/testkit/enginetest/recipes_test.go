package enginetest

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
)

// TestRecipes checks that each engine from PyPI has a list of pinned packages, with the engine's version and without
// packages for GPUs.
func TestRecipes(t *testing.T) {
	pinned := regexp.MustCompile(`^[a-z0-9-]+==\S+( ; .*)? \\$`)
	all := slices.Clone(Engines)
	for _, g := range Gateways {
		all = append(all, g.Engine)
	}
	for _, e := range all {
		if _, ok := e.source.(pypi); !ok {
			continue
		}
		text, err := recipes.ReadFile("recipes/" + e.Name + ".txt")
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(text), "=="+e.Version+" "), "%s.txt has no package of version %s", e.Name, e.Version)
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			hash := strings.HasPrefix(line, "--hash=sha256:")
			assert.Assert(t, hash || pinned.MatchString(line), "%s.txt: %s", e.Name, line)
			assert.Assert(t, hash || !strings.HasPrefix(line, "nvidia-") || strings.HasPrefix(line, "nvidia-cuda-runtime=="), "%s.txt: %s", e.Name, line)
		}
	}
}

// TestCommand checks that the command of an engine has no placeholder left but those that package backends replaces.
func TestCommand(t *testing.T) {
	known := regexp.MustCompile(`\{(port|upstream|dir|python|model|tmp|key)\}`)
	for _, e := range Engines {
		for _, c := range e.programs {
			for _, word := range append(c.args, c.env...) {
				assert.Assert(t, !strings.ContainsAny(known.ReplaceAllString(word, ""), "{}"), "%s: %s", e.Name, word)
			}
		}
	}
}

// TestUnreachable checks what tells that the index of packages cannot be reached. Other failures, such as a wrong sum, must
// not pass as one.
func TestUnreachable(t *testing.T) {
	for text, want := range map[string]string{
		"  cause: error sending request for url (https://index/simple/torch/)\n  cause: dns error\n":  "error sending request for url (https://index/simple/torch/)",
		"WARNING: Retrying after connection broken by 'NewConnectionError('x'): /simple/uv/\nERROR\n": "NewConnectionError('x'): /simple/uv/",
		"error: Hash mismatch for `torch==2.13.0`\n":                                                  "",
		"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE":                    "",
		"error: No space left on device":                                                              "",
	} {
		assert.Equal(t, string(unreachable.Find([]byte(text))), want)
		assert.Assert(t, !noWheel.MatchString(text), text)
	}
	lacks := "error: No solution found when resolving dependencies\n  cause: Because sglang==0.5.14 has no wheels with a matching Python ABI tag (e.g., `cp314`) and you require sglang==0.5.14, we can conclude that your requirements are unsatisfiable.\n"
	assert.Assert(t, strings.HasPrefix(string(noWheel.Find([]byte(lacks))), "sglang==0.5.14 has no wheels with a matching Python ABI tag (e.g., `cp314`)"))
}

// TestStandIns links a library with one of NVIDIA's, puts a stand-in in its place, and loads the first one.
func TestStandIns(t *testing.T) {
	python, err := exec.LookPath("python3")
	if _, noGCC := exec.LookPath("gcc"); err != nil || noGCC != nil {
		t.Skip("no python3 or no gcc")
	}
	dir := t.TempDir()
	lib := filepath.Join(dir, "venv/lib/python3.11/site-packages/torch/lib")
	assert.NilError(t, os.MkdirAll(lib, 0o755))
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	compile := func(args ...string) {
		out, err := exec.Command("gcc", append([]string{"-shared", "-fPIC"}, args...)...).CombinedOutput()
		assert.NilError(t, err, "%s", out)
	}
	real := filepath.Join(dir, "libcublas.so.13")
	compile("-o", real, "-Wl,-soname,libcublas.so.13", "-Wl,--version-script="+file("map", "libcublas.so.13 { *; };"), file("real.c", "int f(void) { return 7; }"))
	user := filepath.Join(lib, "libtorch.so")
	compile("-o", user, "-Wl,-z,now", file("user.c", "int f(void); int g(void) { return f(); }"), real)

	assert.NilError(t, standIns(t.Context(), Engine{}, dir))
	stand, err := elf.Open(filepath.Join(lib, "libcublas.so.13"))
	assert.NilError(t, err)
	defer stand.Close()
	load := exec.Command(python, "-c", "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).g())", user)
	load.Env = append(os.Environ(), "LD_LIBRARY_PATH="+lib)
	out, err := load.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	assert.Equal(t, string(out), "0\n")
}

func TestSum(t *testing.T) {
	m := Metrics{`a_total{x="1"}`: 2, `a_total{x="2"}`: 3, "b": 4, "h_sum": 6, "h_count": 3}
	assert.Equal(t, m.Sum("a_total"), 5.0)
	assert.Equal(t, m.Sum(`a_total{x="2"`, "b"), 7.0)
	assert.Equal(t, m.Sum("a"), 0.0)
	mean, count := m.Mean(Metrics{"h_sum": 2, "h_count": 1}, "h")
	assert.Equal(t, mean, 2.0)
	assert.Equal(t, count, 2.0)
}

// A recorder is a testing.TB that remembers how it was ended.
type recorder struct {
	testing.TB
	ended, why string
}

func (r *recorder) Helper()        {}
func (r *recorder) Skip(a ...any)  { r.end("skip", a) }
func (r *recorder) Fatal(a ...any) { r.end("fatal", a) }

// end ends the goroutine, as the methods of package testing do.
func (r *recorder) end(how string, a []any) {
	r.ended, r.why = how, fmt.Sprint(a...)
	runtime.Goexit()
}

// TestMissing checks that tests install nothing. Without an engine they skip in one line, unless the engine is required and
// .ci/run runs it each time.
func TestMissing(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("LLMBENCH_CACHE", cache)
	for _, required := range []string{"", "engines"} {
		t.Setenv("LLMBENCH_REQUIRE", required)
		for _, e := range Engines {
			r, want := &recorder{}, "skip"
			if required != "" && e.Each && !testing.Short() {
				want = "fatal"
			}
			var wg sync.WaitGroup
			wg.Go(func() { Check(r, e) })
			wg.Wait()
			assert.Equal(t, r.ended, want, "%s, LLMBENCH_REQUIRE=%s: %s", e.Name, required, r.why)
			assert.Assert(t, !strings.Contains(r.why, "\n"), "%s", r.why)
		}
	}
	built, err := filepath.Glob(filepath.Join(cache, "*", "*"))
	assert.NilError(t, err)
	assert.Equal(t, len(built), 0, "%v", built)
}
