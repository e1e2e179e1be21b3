// Rooms shows how the files of each package of this module use each other. It checks that the files
// of some packages use each other in one direction only. For each package it prints
//
//   - files: the number of its files, without tests and with the files for other
//     platforms;
//   - lines: the lines of code in them, without comments and blank lines;
//   - exported: the number of exported package-level names, if other modules can import the package;
//   - arrows: the number of pairs of files of which one uses the other. File a uses file b if a uses a
//     package-level name or a method that b declares. Files for other platforms have no arrows;
//   - in circles: the number of files that use themselves through other files;
//   - largest: the size of the largest circle (strongly connected component);
//   - longest: the lines of the longest function;
//   - stages: the number of its stages, if it has any.
//
// The last rows have the sums, and the largest value of largest and longest, for the product, for the test kit (the
// packages below a folder called testkit), for the laboratories, and in total.
//
// These numbers are for a person to look at. None of them has a limit.
//
// The file .ci/rooms/stages.txt of the module names the stages of packages. Rooms fails if a file uses a file of
// a stage above its own, and if a file of such a package is in no stage.
//
// Usage:
//
//	go run ./.ci/rooms [-v] [packages]
//
// Without packages it checks ./... and, on Linux, the packages below .ci . With -v it prints which names the files of each
// circle use of each other.
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
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	verbose := flag.Bool("v", false, "print the uses that hold each circle together")
	flag.Parse()
	patterns := flag.Args()
	if len(patterns) == 0 {
		patterns = []string{"./..."}
		if runtime.GOOS == "linux" { // some folders below .ci have files for Linux alone
			patterns = append(patterns, own()...)
		}
	}
	problems, err := check(os.Stdout, patterns, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rooms:", err)
		os.Exit(2)
	}
	for _, p := range problems {
		fmt.Println(p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// own returns patterns that match the packages below .ci in the working directory, which ./... does not match.
func own() (patterns []string) {
	files, _ := filepath.Glob(".ci/*/*.go") // the pattern is well-formed
	for _, f := range files {
		patterns = append(patterns, "./"+filepath.ToSlash(filepath.Dir(f)))
	}
	return slices.Compact(patterns)
}

// laboratories are the folders of programs and packages that find out how good models, verdicts and deployments are.
// They are not part of what users measure with.
var laboratories = []string{
	".ci",
	"llmbench/internal/compat",
	"mockserver/cmd/calibrate",
	"mockserver/cmd/simulate",
	"mockserver/internal/calibrate",
}

// The parts of the module, in the order of their rows.
var parts = []string{"product", "test kit", "laboratories"}

// part returns the part of the module that a package belongs to.
func part(folder string) string {
	switch {
	case slices.Contains(strings.Split(folder, "/"), "testkit"):
		return "test kit"
	case slices.ContainsFunc(laboratories, func(l string) bool { return folder == l || strings.HasPrefix(folder, l+"/") }):
		return "laboratories"
	}
	return "product"
}

// listed is the output of go list for a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, IgnoredGoFiles []string
	DepOnly                 bool
	Module                  *struct{ Path, Dir string }
}

// check writes the table of the packages that match patterns to w, and returns
// one line for each file that is in no stage or uses a stage above its own.
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
	fmt.Fprintln(table, "package\tfiles\tlines\texported\tarrows\tin circles\tlargest\tlongest\tstages")
	slices.SortFunc(packages, func(a, b listed) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	var stages map[string][]stage
	var reasons []string
	sums := map[string]*row{}
	for _, name := range append(parts, "total") {
		sums[name] = &row{name: name}
	}
	for _, p := range packages {
		if p.DepOnly || len(p.GoFiles) == 0 {
			continue
		}
		if stages == nil {
			if stages, err = readStages(filepath.Join(p.Module.Dir, ".ci", "rooms", "stages.txt")); err != nil {
				return nil, err
			}
		}
		room, err := load(p, exports)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
		r := row{name: name, files: len(room.files), lines: room.lines, exported: room.exported, longest: room.longest, stages: len(stages[name])}
		for _, c := range room.circles() {
			r.inCircles += len(c)
			r.largest = max(r.largest, len(c))
			if verbose {
				reasons = append(reasons, room.reasons(name, c)...)
			}
		}
		for _, used := range room.uses {
			r.arrows += len(used)
		}
		for _, p := range room.against(stages[name]) {
			problems = append(problems, name+": "+p)
		}
		r.write(table)
		sums[part(name)].add(r)
		sums["total"].add(r)
	}
	for _, name := range append(parts, "total") {
		sums[name].write(table)
	}
	if err := table.Flush(); err != nil {
		return nil, err
	}
	for _, r := range reasons {
		fmt.Fprintln(w, r)
	}
	return problems, nil
}

// A row is a row of the table.
type row struct {
	name                                                                string
	files, lines, exported, arrows, inCircles, largest, longest, stages int
}

// write writes the row to w.
func (r row) write(w io.Writer) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", r.name, r.files, r.lines, r.exported, r.arrows, r.inCircles, r.largest, r.longest, r.stages)
}

// add adds another row to the sums in r.
func (r *row) add(o row) {
	r.files += o.files
	r.lines += o.lines
	r.exported += o.exported
	r.arrows += o.arrows
	r.inCircles += o.inCircles
	r.largest, r.longest = max(r.largest, o.largest), max(r.longest, o.longest)
	r.stages += o.stages
}

// list returns the packages that match patterns, and all packages that these import. Each has the
// files of its compiled export data.
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

// A room holds the facts about a package.
type room struct {
	files    []string                              // the files that are not tests
	lines    int                                   // the lines of code of these files
	exported int                                   // the number of exported package-level names that other modules can import
	uses     map[string]map[string]map[string]bool // using file, used file, used names
	longest  int                                   // the number of lines of the longest function
}

func load(p listed, exports map[string]string) (*room, error) {
	fset := token.NewFileSet()
	room := &room{uses: map[string]map[string]map[string]bool{}}
	var files []*ast.File
	for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		room.lines += codeLines(text)
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if slices.Contains(p.GoFiles, name) { // files for other systems are counted, but not type-checked
			files = append(files, f)
		}
		room.files = append(room.files, name)
		room.measure(fset, f)
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup)}
	pkg, err := config.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	if pkg.Name() != "main" && !slices.Contains(strings.Split(p.ImportPath, "/"), "internal") {
		for _, name := range pkg.Scope().Names() {
			if ast.IsExported(name) {
				room.exported++
			}
		}
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

// codeLines returns the number of lines of a Go file that have code.
func codeLines(text []byte) int {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	n, last := 0, 0
	for {
		pos, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return n
		case tok == token.SEMICOLON && literal == "\n": // inserted by the scanner
			continue
		}
		first := file.Line(pos)
		end := first + strings.Count(literal, "\n") // a raw string may have several lines
		n += end - max(first-1, last)
		last = end
	}
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

// measure updates the length of the longest function with the functions of f.
func (r *room) measure(fset *token.FileSet, f *ast.File) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			r.longest = max(r.longest, fset.Position(fn.End()).Line-fset.Position(fn.Pos()).Line+1)
		}
	}
}
