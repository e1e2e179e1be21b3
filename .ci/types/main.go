// Types checks that no package of this module, and none of its tests, has a type error on other
// systems. It reads the sources of everything that they import, and compiles nothing. So a system
// takes seconds, where go vet takes minutes of CPU time.
//
// Usage:
//
//	go run ./.ci/types GOOS/GOARCH...
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

func main() {
	failed := len(os.Args) < 2
	for _, system := range os.Args[1:] {
		n, errs := check(system, "./...")
		for _, err := range errs {
			fmt.Fprintf(os.Stderr, "%s: %v\n", system, err)
			failed = true
		}
		fmt.Printf("%s: %d packages, %d type errors\n", system, n, len(errs))
	}
	if failed {
		os.Exit(1)
	}
}

// A listed is a package as go list prints it.
type listed struct {
	Dir, ImportPath   string
	GoFiles, CgoFiles []string
	Imports           []string
	ImportMap         map[string]string // maps the paths in the sources to the paths of the packages
	DepOnly           bool              // the package matches no pattern, but another package needs it
	Module            *struct{ GoVersion string }
	Error             *struct{ Err string }
}

// A job is the check of one package. The package may be read when done is closed.
type job struct {
	done chan struct{}
	pkg  *types.Package
}

// check checks the packages that match a pattern, for a system such as windows/386. It returns the
// number of the packages, and their errors.
func check(system, pattern string) (packages int, errs []error) {
	goos, goarch, found := strings.Cut(system, "/")
	sizes := types.SizesFor("gc", goarch)
	if !found || sizes == nil {
		return 0, []error{errors.New("want GOOS/GOARCH, such as windows/386")}
	}
	all, err := list(goos, goarch, pattern)
	if err != nil {
		return 0, []error{err}
	}
	var (
		mu   sync.Mutex
		wg   sync.WaitGroup
		jobs = map[string]*job{"unsafe": {done: closed(), pkg: types.Unsafe}}
		cpus = make(chan struct{}, 4)
	)
	for _, p := range all { // packages that others import come first
		j, needed := &job{done: make(chan struct{})}, map[string]*job{}
		for _, path := range p.Imports {
			needed[path] = jobs[path]
		}
		jobs[p.ImportPath] = j
		if !p.DepOnly {
			packages++
		}
		wg.Go(func() {
			defer close(j.done)
			for _, n := range needed {
				if n != nil {
					<-n.done
				}
			}
			cpus <- struct{}{}
			defer func() { <-cpus }()
			var own []error
			j.pkg, own = p.check(sizes, needed)
			if !p.DepOnly {
				mu.Lock()
				errs = append(errs, own...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return packages, errs
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// list returns the packages that match a pattern, with their tests. Each comes after the packages
// that it imports.
func list(goos, goarch, pattern string) (all []*listed, err error) {
	cmd := exec.Command("go", "list", "-e", "-deps", "-test", "-json=Dir,ImportPath,GoFiles,CgoFiles,Imports,ImportMap,DepOnly,Module,Error", pattern)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for d := json.NewDecoder(out); ; {
		p := &listed{}
		if err := d.Decode(p); err == io.EOF {
			return all, cmd.Wait()
		} else if err != nil {
			return nil, errors.Join(err, cmd.Wait())
		}
		switch {
		case p.ImportPath == "unsafe", strings.HasSuffix(p.ImportPath, ".test"): // go test writes the package itself
		case p.Error != nil:
			return nil, errors.Join(fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err), cmd.Wait())
		default:
			all = append(all, p)
		}
	}
}

// check returns the type-checked package and its errors. The bodies of functions outside this
// module are not read.
func (p *listed) check(sizes types.Sizes, needed map[string]*job) (pkg *types.Package, errs []error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			errs = append(errs, err)
		}
		files = append(files, f)
	}
	conf := types.Config{
		Sizes:            sizes,
		FakeImportC:      true,
		IgnoreFuncBodies: p.DepOnly,
		Error:            func(err error) { errs = append(errs, err) },
		Importer: importer(func(path string) (*types.Package, error) {
			if to := p.ImportMap[path]; to != "" {
				path = to
			}
			if j := needed[path]; j != nil && j.pkg != nil {
				return j.pkg, nil
			}
			return nil, fmt.Errorf("no package %s", path)
		}),
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	pkg, _ = conf.Check(path, fset, files, nil) // the errors are already in errs
	return pkg, errs
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
