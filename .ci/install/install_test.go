// Package install checks that somebody who knows nothing of this module can install it. The go
// command must be able to make a module of each go.mod in the repository. README.md must lead from
// an empty folder to the results of a benchmark. The pattern ./... does not match this package,
// because the name of a folder above it begins with a dot:
//
//	go test -v ./.ci/install
package install

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/zip"
	"golang.org/x/perf/benchfmt"
	"gotest.tools/v3/assert"
)

const modulePath = "github.com/seed-2b9cec6d/llmbench"

// checkout returns the absolute path of the repository. If the sources are not in a git checkout
// but, for example, in an archive, it skips the test.
func checkout(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	assert.NilError(t, err)
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skipf("NO GIT CHECKOUT: the test needs git's list of files and the commit: %v", err)
	}
	return root
}

// A program runs commands in a folder, with an environment.
type program struct {
	folder string
	env    []string
}

// run returns the standard output of a command. If the command fails, the test ends.
func (p program) run(t *testing.T, command ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.folder, p.env, &stdout, &stderr
	err := cmd.Run()
	assert.NilError(t, err, "%s\n%s%s", strings.Join(command, " "), &stdout, &stderr)
	return stdout.String()
}

// A file is a file of the repository, with the methods that package zip needs.
type file struct{ module, name string }

func (f file) Path() string                 { return f.name }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(f.module, f.name)) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.module, f.name)) }

// TestZip checks the names and sizes of the files that git tracks. If one of them may not be in the
// zip file of a module, "go get" fails for everybody. It is left to package zip that a module does
// not contain the files of modules in its folders.
func TestZip(t *testing.T) {
	root := checkout(t)
	for name := range strings.FieldsSeq(program{folder: root}.run(t, "git", "ls-files", ":(glob)**/go.mod")) {
		t.Run(path.Dir(name), func(t *testing.T) {
			module := filepath.Join(root, path.Dir(name))
			var files []zip.File
			for name := range strings.SplitSeq(strings.TrimSuffix(program{folder: module}.run(t, "git", "ls-files", "-z"), "\x00"), "\x00") {
				files = append(files, file{module, name})
			}
			checked, err := zip.CheckFiles(files)
			assert.NilError(t, err)
			assert.Assert(t, slices.Contains(checked.Valid, "go.mod"))
			t.Logf("%d files", len(checked.Valid))
		})
	}
}

// A stranger has a machine that knows nothing of this module. In place of the repository, Git finds
// a copy of the commit that is checked out.
type stranger struct {
	copy   string // the folder that holds the copy
	commit string
	env    []string
}

func newStranger(t *testing.T) stranger {
	root := program{folder: checkout(t)}
	s := stranger{copy: filepath.Join(t.TempDir(), "llmbench"), commit: strings.TrimSpace(root.run(t, "git", "rev-parse", "HEAD"))}
	t.Logf("checked is commit %s; CHANGES THAT ARE NOT COMMITTED ARE NOT CHECKED", s.commit)
	// There are no tags and only one commit, so this commit is the newest version.
	root.run(t, "git", "clone", "-q", "--no-tags", "--depth=1", "--no-local", root.folder, s.copy)
	s.env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "LLMBENCH_") || strings.HasPrefix(v, "GOWORK=")
	})
	goEnv := strings.Fields(root.run(t, "go", "env", "GOMODCACHE", "GOPROXY"))
	assert.Equal(t, len(goEnv), 2, "GOMODCACHE and GOPROXY are %q", goEnv)
	s.env = append(s.env,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+s.copy+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+modulePath,
		"GOPRIVATE="+modulePath,
		// The module cache is empty. Modules come from the cache of other tests, which have
		// compared them with go.sum.
		"GOMODCACHE="+t.TempDir(), "GOPROXY=file://"+goEnv[0]+"/cache/download,"+goEnv[1], "GOSUMDB=off",
		// TempDir can remove the cache, builds are the same in any folder, and programs are linked faster without symbols.
		"GOFLAGS=-modcacherw -trimpath '-ldflags=-s -w'",
		"LLMBENCH_CLIENT_BOUND=report") // the machine may be busy
	return s
}

// in returns a program that runs the stranger's commands in a folder.
func (s stranger) in(folder string) program { return program{folder, s.env} }

// follow runs a command of a document in a folder, and returns its standard output.
func (s stranger) follow(t *testing.T, folder, command string) string {
	t.Helper()
	output := s.in(folder).run(t, "bash", "-euc", command)
	t.Logf("$ %s\n%s", strings.TrimSpace(command), output)
	return output
}

// requiresCommit ends the test if the module in the folder does not require the commit.
func (s stranger) requiresCommit(t *testing.T, folder string) {
	t.Helper()
	version := strings.TrimSpace(s.in(folder).run(t, "go", "list", "-m", "-f", "{{.Version}}", modulePath))
	assert.Assert(t, strings.HasSuffix(version, "-"+s.commit[:12]), "version %s is required; want commit %s", version, s.commit)
}

// results returns the throughput of each result in a benchmark file. Its keys are the names of the
// results without GOMAXPROCS.
func results(text string) map[string]float64 {
	found := map[string]float64{}
	reader := benchfmt.NewReader(strings.NewReader(text), "")
	for reader.Scan() {
		if r, ok := reader.Result().(*benchfmt.Result); ok {
			name := regexp.MustCompile(`-\d+$`).ReplaceAllString(r.Name.String(), "")
			found[name], _ = r.Value("output-tok/s")
		}
	}
	return found
}

// blocks matches the indented blocks of a document. It also matches Go blocks, with the name of the
// file in the line before each.
var blocks = regexp.MustCompile("(?m)as `(\\w+\\.go)`:\\n\\n```go\\n((?s:.*?))^```$|((?:^    .*\\n)+)")

// TestStranger follows what the documentation says for a reader who has nothing yet.
func TestStranger(t *testing.T) {
	s := newStranger(t)
	t.Run("README.md", s.readme)
	t.Run("scenarios/example", s.example)
	t.Run("scenarios/GATEWAY.md", s.gateway)
}

// section returns the text of a section of a document.
func (s stranger) section(t *testing.T, document, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.copy, document))
	assert.NilError(t, err)
	_, section, found := strings.Cut(string(text), "\n## "+name+"\n")
	assert.Assert(t, found, "%s has no section %q", document, name)
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// followSection does in a folder what a section says: it writes the Go files, and runs the commands. In
// indented blocks, lines that begin with "go " or "$ " are commands. It returns what the commands printed, and
// the other lines of the blocks, which are output too.
func (s stranger) followSection(t *testing.T, folder, section string) (printed, shown string) {
	t.Helper()
	for _, block := range blocks.FindAllStringSubmatch(section, -1) {
		if file := block[1]; file != "" {
			t.Logf("writes %s", file)
			assert.NilError(t, os.WriteFile(filepath.Join(folder, file), []byte(block[2]), 0o644))
		}
		for line := range strings.Lines(block[3]) {
			line = strings.TrimPrefix(line, "    ")
			if command, prompted := strings.CutPrefix(line, "$ "); prompted || strings.HasPrefix(line, "go ") {
				printed += s.follow(t, folder, command)
			} else {
				shown += line
			}
		}
	}
	s.requiresCommit(t, folder)
	return printed, shown
}

// readme follows the sections "Install" and "A first benchmark" of README.md exactly.
func (s stranger) readme(t *testing.T) {
	folder := t.TempDir()
	s.followSection(t, folder, s.section(t, "README.md", "Install"))
	printed, shown := s.followSection(t, folder, s.section(t, "README.md", "A first benchmark"))
	s.in(folder).run(t, "go", "build", "tool") // what "go tool" runs
	assert.Assert(t, len(results(shown)) > 0, "README.md shows no result")
	for name := range results(shown) {
		assert.Assert(t, results(printed)[name] > 0, "README.md shows a result of %s; the commands printed\n%s", name, printed)
	}
}

// gateway follows the first two sections of GATEWAY.md in the module of a gateway, with fewer rounds.
func (s stranger) gateway(t *testing.T) {
	folder := t.TempDir()
	assert.NilError(t, os.CopyFS(filepath.Join(folder, "cmd/gateway"), os.DirFS(filepath.Join(s.copy, "llmbench/cmd/benchgate/testdata/gateway"))))
	s.in(folder).run(t, "go", "mod", "init", "example.com/gateway")
	s.followSection(t, folder, s.section(t, "scenarios/GATEWAY.md", "1. Install"))
	printed, _ := s.followSection(t, folder, strings.ReplaceAll(s.section(t, "scenarios/GATEWAY.md", "2. What does it add?"), "-benchtime=8x", "-benchtime=1x"))
	// What the gateway adds to answers that are not streamed is shown on a busy machine, too, where the tokens of streams
	// may come in bursts.
	assert.Assert(t, strings.Contains(printed, " added-whole-ms"), printed)
}

// example makes a separate module of a copy of scenarios/example, with the commands in the
// documentation of that package.
func (s stranger) example(t *testing.T) {
	folder := t.TempDir()
	assert.NilError(t, os.CopyFS(folder, os.DirFS(filepath.Join(s.copy, "scenarios/example"))))
	source, err := os.ReadFile(filepath.Join(folder, "gateway.go"))
	assert.NilError(t, err)
	commands := regexp.MustCompile(`(?m)^//\t(go .*)$`).FindAllStringSubmatch(string(source), -1)
	assert.Assert(t, len(commands) > 0, "the documentation of scenarios/example has no commands")
	for _, command := range commands {
		s.follow(t, folder, command[1])
	}
	s.requiresCommit(t, folder)
	s.in(folder).run(t, "go", "vet", "./...")
}
