// Package docs checks the documents of this module against its code. The links, files, packages,
// names, variables and benchmarks in them must exist. The pattern ./... does not match this
// package, because the name of a folder above it begins with a dot:
//
//	go test ./.ci/docs
package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// root is the folder of the module, relative to this package.
const root = "../.."

// changelog names things that no longer exist, so only its links are checked.
const changelog = "CHANGELOG.md"

// documents returns the text of every Markdown file by its path in the module.
func documents(t *testing.T) map[string]string {
	texts := map[string]string{}
	for _, file := range strings.Fields(git(t, "ls-files", "*.md")) {
		texts[file] = read(t, file)
	}
	assert.Assert(t, len(texts) >= 8, "%d documents", len(texts))
	return texts
}

func git(t *testing.T, args ...string) string {
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	assert.NilError(t, err)
	return string(out)
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(filepath.Join(root, file))
	assert.NilError(t, err)
	return string(text)
}

func exists(file string) bool {
	_, err := os.Stat(filepath.Join(root, file))
	return err == nil
}

// find returns what the first group of the pattern matches, for each match in text.
func find(pattern, text string) (all []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// anchors returns the anchors of the headings of a document, as GitHub makes them.
func anchors(text string) (all []string) {
	for _, heading := range find(`(?m)^#+ (.+)$`, text) {
		heading = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading), "")
		all = append(all, strings.ReplaceAll(heading, " ", "-"))
	}
	return all
}

// TestReadmeLength checks that README.md stays short enough for an introduction.
func TestReadmeLength(t *testing.T) {
	n := strings.Count(read(t, "README.md"), "\n")
	assert.Assert(t, n <= 120, "README.md has %d lines; at most 120 are allowed", n)
}

// TestLinks checks that each relative link leads to a file that exists, and to a heading in it that
// exists.
func TestLinks(t *testing.T) {
	texts := documents(t)
	for file, text := range texts {
		for _, link := range find(`\]\(([^)\s]+)\)`, text) {
			if strings.Contains(link, "://") {
				continue
			}
			target, anchor, _ := strings.Cut(link, "#")
			if target = path.Join(path.Dir(file), target); strings.HasPrefix(link, "#") {
				target = file
			}
			if !exists(target) {
				t.Errorf("%s: the link %s leads to no file", file, link)
			} else if anchor != "" && !slices.Contains(anchors(texts[target]), anchor) {
				t.Errorf("%s: the link %s leads to no heading", file, link)
			}
		}
	}
}

// TestFiles checks each path that is written as code. The file or folder must exist, either from the folder
// of the module or from the folder of the document.
func TestFiles(t *testing.T) {
	for file, text := range documents(t) {
		if file == changelog {
			continue
		}
		for _, name := range find("(?:^|[\\s`])(?:\\./)?((?:llmbench|mockserver|backends|benchdata|scenarios|\\.ci|\\.github)/[\\w./-]*[\\w])", text) {
			if strings.HasPrefix(name, ".ci/cache") || exists(name) || exists(path.Join(path.Dir(file), name)) {
				continue
			}
			t.Errorf("%s: %s does not exist", file, name)
		}
	}
}

// TestNames checks that a file has the name that a document says is in it.
func TestNames(t *testing.T) {
	checked := 0
	for file, text := range documents(t) {
		if file == changelog {
			continue
		}
		for _, m := range regexp.MustCompile("`(\\w+)` (?:in|of) `([\\w./-]+/[\\w-]+\\.go)`").FindAllStringSubmatch(text, -1) {
			checked++
			if !regexp.MustCompile(`\b` + m[1] + `\b`).MatchString(read(t, m[2])) {
				t.Errorf("%s: %s does not have %s", file, m[2], m[1])
			}
		}
	}
	assert.Assert(t, checked > 5, "%d names", checked)
}

// TestVariables checks that each variable in a document exists.
func TestVariables(t *testing.T) {
	for file, text := range documents(t) {
		for _, name := range find(`(LLMBENCH_[A-Z_]*[A-Z])`, text) {
			old := env.Old()[name] != "" && file == "llmbench/VARIABLES.md"
			if file != changelog && !old && !slices.Contains(env.Names(), name) {
				t.Errorf("%s: %s is no variable", file, name)
			}
		}
	}
}

// TestErrors checks that the texts of errors say what is allowed after a colon, as CONTRIBUTING.md has it.
func TestErrors(t *testing.T) {
	for file := range strings.FieldsSeq(git(t, "ls-files", "*.go", ":!*_test.go", ":!*/sigv4/*")) { // sigv4 has AWS's own texts
		for _, text := range find("([\"`][^\"`\n]*[,;] (?:want|must be) [^\"`\n]*)", read(t, file)) {
			t.Errorf("%s: %s: want a colon before what is allowed", file, text)
		}
	}
}

// TestBenchmarks checks that each benchmark and test in a document exists, and that
// -bench and -run in commands select something.
func TestBenchmarks(t *testing.T) {
	functions := find(`func ((?:Benchmark|Test|Fuzz|Example)\w+)`, git(t, "grep", "-hE", `^func (Benchmark|Test|Fuzz|Example)`, "--", "*.go"))
	for _, text := range documents(t) {
		functions = append(functions, find(`func (Benchmark\w+)`, text)...) // a benchmark for the reader to write
	}
	for file, text := range documents(t) {
		if file == changelog {
			continue
		}
		for _, name := range find(`\b((?:Benchmark|Test)[A-Z][A-Za-z]+)`, text) {
			if !slices.Contains(functions, name) {
				t.Errorf("%s: %s does not exist", file, name)
			}
		}
		for _, names := range find(`-(?:bench|run)='?([A-Z][A-Za-z|]+)`, text) {
			for name := range strings.SplitSeq(names, "|") {
				if !slices.ContainsFunc(functions, func(f string) bool { return strings.Contains(f, name) }) {
					t.Errorf("%s: nothing is called %s", file, name)
				}
			}
		}
	}
}

// declared returns the names that the package in a folder declares: Name, and Type.Member for the fields and
// methods of a type. The name "" is the package itself.
func declared(t *testing.T, folder string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	assert.NilError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		assert.NilError(t, err)
		names[""] = true
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if d.Recv != nil {
					receiver := strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*")
					receiver, _, _ = strings.Cut(receiver, "[")
					name = receiver + "." + name
				}
				names[name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							names[name.Name] = true
						}
					case *ast.TypeSpec:
						names[spec.Name.Name] = true
						for _, member := range members(spec.Type) {
							names[spec.Name.Name+"."+member] = true
						}
					}
				}
			}
		}
	}
	return names
}

// members returns the names of the fields of a struct, or of the methods of an interface.
func members(of ast.Expr) (names []string) {
	var list *ast.FieldList
	switch of := of.(type) {
	case *ast.StructType:
		list = of.Fields
	case *ast.InterfaceType:
		list = of.Methods
	default:
		return nil
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
		if len(field.Names) == 0 { // an embedded type
			names = append(names, path.Ext("." + strings.TrimPrefix(types.ExprString(field.Type), "*"))[1:])
		}
	}
	return names
}

// TestSymbols checks that exported names in a document exist: PACKAGE.Name, Type.Member of the document's
// package or of llmbench, and arguments of go doc.
func TestSymbols(t *testing.T) {
	folders := map[string][]string{} // of each package, by its name
	for _, folder := range strings.Fields(git(t, "ls-files", "*/doc.go")) {
		folder = path.Dir(folder)
		folders[path.Base(folder)] = append(folders[path.Base(folder)], folder)
	}
	known := map[string]map[string]bool{} // names that packages declare, by folder
	checked := 0
	check := func(file, symbol string, folders ...string) {
		checked++
		for _, folder := range folders {
			if known[folder] == nil {
				known[folder] = declared(t, folder)
			}
			if known[folder][symbol] {
				return
			}
		}
		t.Errorf("%s: %s is in none of %s", file, symbol, strings.Join(folders, ", "))
	}
	for file, text := range documents(t) {
		if file == changelog || strings.Contains(file, "peers/") || strings.Contains(file, "published/") {
			continue
		}
		for _, m := range regexp.MustCompile("`([a-z]+)\\.([A-Z]\\w+(?:\\.[A-Z]\\w+)?)\\b").FindAllStringSubmatch(text, -1) {
			if in := folders[m[1]]; in != nil {
				check(file, m[2], in...)
			}
		}
		for _, symbol := range find("`([A-Z][A-Za-z]+\\.[A-Z][A-Za-z]+)`", text) {
			in := []string{"llmbench"}
			if d := path.Dir(file); d != "." && d != "llmbench" {
				in = append(in, d)
			}
			check(file, symbol, in...)
		}
		for _, m := range regexp.MustCompile(`go doc (?:-all )?\./([\w/]+)(?: ([A-Z]\w*(?:\.\w+)?))?`).FindAllStringSubmatch(text, -1) {
			check(file, m[2], m[1])
		}
	}
	assert.Assert(t, checked > 20, "%d names", checked)
}

// TestPlan checks the list of packages in CONTRIBUTING.md. It must have each package that is not
// internal, with the beginning of the package's comment. The flag -update writes the list.
func TestPlan(t *testing.T) {
	const begin, end = "<!-- packages -->\n", "<!-- /packages -->\n"
	text := read(t, "CONTRIBUTING.md")
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	assert.Assert(t, found && closed, "CONTRIBUTING.md has no section between %q and %q", begin, end)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", `{{slice .ImportPath (len .Module.Path)}} {{.Doc}}`, "./...")
	cmd.Dir = root
	packages, err := cmd.Output()
	assert.NilError(t, err)
	var list strings.Builder
	for line := range strings.Lines(string(packages)) {
		folder, synopsis, documented := strings.Cut(strings.TrimSpace(line), " ")
		assert.Check(t, documented, "package %s has no comment", folder)
		if strings.Contains(folder+"/", "/internal/") {
			continue
		}
		fmt.Fprintf(&list, "- `%s` %s\n", folder[1:], purpose(synopsis))
	}
	want := before + begin + list.String() + end + after
	if golden.FlagUpdate() {
		assert.NilError(t, os.WriteFile(filepath.Join(root, "CONTRIBUTING.md"), []byte(want), 0o666))
		return
	}
	assert.Equal(t, text, want, "run: go test ./.ci/docs -run=Plan -update")
}

// purpose returns the main clause of the first sentence of a package's comment, without the name of
// the package.
func purpose(synopsis string) string {
	words := strings.Fields(synopsis)
	skip := 1 // skips the name of a command
	if words[0] == "Package" || words[0] == "Command" {
		skip = 2
	}
	clause := strings.Join(words[skip:], " ")
	if i := strings.IndexAny(clause, ":,;("); i > 0 {
		clause = clause[:i]
	}
	return strings.TrimSpace(strings.TrimSuffix(clause, "."))
}

func TestPurpose(t *testing.T) {
	for synopsis, want := range map[string]string{
		"Package check says whether an answer of a model is right.":    "says whether an answer of a model is right",
		"Package sse decodes a body, one event at a time.":             "decodes a body",
		"Command standin stands in for a server: in tests.":            "stands in for a server",
		"Calibrate fits a simulated server to a measured one.":         "fits a simulated server to a measured one",
		"Package merge changes bodies by JSON merge patch (RFC 7386).": "changes bodies by JSON merge patch",
	} {
		assert.Equal(t, purpose(synopsis), want)
	}
}

// TestSteps checks that CONTRIBUTING.md has every step of .ci/run.
func TestSteps(t *testing.T) {
	contributing := read(t, "CONTRIBUTING.md")
	steps := find(`(?m)^step (.+)$`, read(t, ".ci/run"))
	assert.Assert(t, len(steps) > 10, "%d steps", len(steps))
	for _, step := range steps {
		if step = strings.ReplaceAll(step, `\'`, "'"); step != "done" && !strings.Contains(contributing, step) {
			t.Errorf("CONTRIBUTING.md has no step %q", step)
		}
	}
}
