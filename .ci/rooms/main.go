// Rooms checks the structure of the packages of this module. For each package it
// prints
//
//   - files: the number of its files, without tests and with the files for other
//     platforms;
//   - in circles: the number of files that depend on themselves through other
//     files. File a depends on file b if a uses a package-level name or a method
//     that b declares;
//   - largest: the size of the largest circle (strongly connected component);
//   - long: the number of functions with more than 80 lines.
//
// Rooms fails if a circle has more than 4 files, if a package has more than 25
// files, or if a function has more than 80 lines and no comment in or above it
// contains "long because". CONTRIBUTING.md can allow a package more files, with
// a reason, in a line of this form, where PACKAGE is the folder in the module:
//
//   - `PACKAGE` may have N files: REASON
//
// Usage:
//
//	go run ./.ci/rooms [-report] [-v] [packages]
//
// Without packages it checks ./... . With -report the exit status is always 0.
// With -v it prints which names the files of each circle use of each other.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

const (
	maxCircle = 4
	maxFiles  = 25
	maxLines  = 80
)

func main() {
	report := flag.Bool("report", false, "exit 0 whatever is found")
	verbose := flag.Bool("v", false, "print the uses that hold each circle together")
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	problems, err := check(os.Stdout, patterns, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rooms:", err)
		os.Exit(2)
	}
	for _, p := range problems {
		fmt.Println(p)
	}
	if len(problems) > 0 && !*report {
		os.Exit(1)
	}
}

// listed is the output of go list for a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, IgnoredGoFiles []string
	DepOnly                 bool
	Module                  *struct{ Path, Dir string }
}

// check writes the table of the packages that match patterns to w, and returns
// one line for each rule that a package breaks.
func check(w io.Writer, patterns []string, verbose bool) (problems []string, err error) {
	packages, err := list(patterns)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "package\tfiles\tin circles\tlargest\tlong")
	slices.SortFunc(packages, func(a, b listed) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	var allowed map[string]int
	var reasons []string
	for _, p := range packages {
		if p.DepOnly {
			continue
		}
		if allowed == nil {
			if allowed, err = allowances(filepath.Join(p.Module.Dir, "CONTRIBUTING.md")); err != nil {
				return nil, err
			}
		}
		room, err := load(p, exports)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
		circles := room.circles()
		inCircles, largest := 0, 0
		for _, c := range circles {
			inCircles += len(c)
			largest = max(largest, len(c))
			if len(c) > maxCircle {
				problems = append(problems, fmt.Sprintf("%s: a circle of %d files, at most %d are allowed: %s", name, len(c), maxCircle, strings.Join(c, " ")))
			}
			if verbose {
				reasons = append(reasons, room.reasons(name, c)...)
			}
		}
		if limit := max(maxFiles, allowed[name]); room.files > limit {
			problems = append(problems, fmt.Sprintf("%s: %d files, at most %d are allowed", name, room.files, limit))
		}
		for _, f := range room.long {
			if !f.argued {
				problems = append(problems, fmt.Sprintf("%s: %s: %s has %d lines; more than %d need a comment with \"long because\"", name, f.file, f.name, f.lines, maxLines))
			}
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\n", name, room.files, inCircles, largest, len(room.long))
	}
	if err := table.Flush(); err != nil {
		return nil, err
	}
	for _, r := range reasons {
		fmt.Fprintln(w, r)
	}
	return problems, nil
}

// list returns the packages that match patterns and all packages they import,
// with the files of their compiled export data.
func list(patterns []string) ([]listed, error) {
	args := append([]string{"list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,IgnoredGoFiles,DepOnly,Module", "--"}, patterns...)
	cmd := exec.Command("go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.Bytes())
	}
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
}

// allowance is the line of CONTRIBUTING.md that allows a package more files.
var allowance = regexp.MustCompile("(?m)^- `([^`]+)` may have ([0-9]+) files: ")

func allowances(file string) (map[string]int, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	limits := map[string]int{}
	for _, m := range allowance.FindAllSubmatch(text, -1) {
		limits[string(m[1])], _ = strconv.Atoi(string(m[2]))
	}
	return limits, nil
}

// A room has the facts about a package.
type room struct {
	files int                                   // number of files that are not tests
	uses  map[string]map[string]map[string]bool // using file, used file, used names
	long  []function
}

// A function has more than maxLines lines.
type function struct {
	file, name string
	lines      int
	argued     bool // a comment states the reason
}

func load(p listed, exports map[string]string) (*room, error) {
	fset := token.NewFileSet()
	room := &room{uses: map[string]map[string]map[string]bool{}}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
		room.measure(fset, f)
	}
	room.files = len(files)
	// Files for other platforms count, but are not type-checked.
	for _, name := range p.IgnoredGoFiles {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		room.files++
		room.measure(fset, f)
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	pkg, err := config.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	for ident, object := range info.Uses {
		if object.Pkg() != pkg || !counts(object) {
			continue
		}
		from, to := fset.Position(ident.Pos()).Filename, fset.Position(object.Pos()).Filename
		if from != to {
			room.use(filepath.Base(from), filepath.Base(to), object.Name())
		}
	}
	return room, nil
}

// counts reports whether a use of object makes one file depend on another:
// object is declared at package level, or is a method.
func counts(object types.Object) bool {
	if f, ok := object.(*types.Func); ok && f.Signature().Recv() != nil {
		return true
	}
	return object.Parent() == object.Pkg().Scope()
}

func (r *room) use(from, to, name string) {
	if r.uses[from] == nil {
		r.uses[from] = map[string]map[string]bool{}
	}
	if r.uses[from][to] == nil {
		r.uses[from][to] = map[string]bool{}
	}
	r.uses[from][to][name] = true
}

// measure adds the long functions of f.
func (r *room) measure(fset *token.FileSet, f *ast.File) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		lines := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
		if lines <= maxLines {
			continue
		}
		// The doc comment does not count as lines of the function.
		from := fn.Pos()
		if fn.Doc != nil {
			from = fn.Doc.Pos()
		}
		argued := slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
			return c.Pos() >= from && c.End() <= fn.End() && strings.Contains(strings.ToLower(strings.Join(strings.Fields(c.Text()), " ")), "long because")
		})
		r.long = append(r.long, function{filepath.Base(fset.Position(fn.Pos()).Filename), fn.Name.Name, lines, argued})
	}
}
