package measure

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/source"
)

// A binary is a test binary: the compiled tests of one package.
type binary struct {
	pkg    string
	sha256 string // in hex
	path   string
	dir    string // the package's folder, in which the binary runs
}

// compile compiles the tests of the suite's packages in the working directory dir, and writes the binaries to
// the folder out. It empties out first. Packages without tests are skipped, so the result may be empty. A build does not
// vet: what "go vet" reports does not change what is measured, and a base cannot be mended.
func (s suite) compile(ctx context.Context, dir, out string) ([]binary, error) {
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, err
	}
	list := append([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}"}, s.build...)
	packages, err := proc.Command(ctx, dir, "go", append(list, s.packages...)...)
	if err != nil {
		return nil, err
	}
	var all []binary
	for line := range strings.Lines(packages) {
		b := binary{}
		b.pkg, b.dir, _ = strings.Cut(strings.TrimSpace(line), "\t")
		b.path = filepath.Join(out, fmt.Sprintf("%d.test", len(all)))
		test := append([]string{"test", "-c", "-vet=off", "-buildvcs=false", "-o", b.path}, s.build...)
		if _, err := proc.Output(ctx, dir, nil, "go", append(test, b.pkg)...); err != nil {
			return nil, fmt.Errorf("package %s: %w", b.pkg, err)
		}
		b.sha256, err = fileSum(b.path)
		if errors.Is(err, fs.ErrNotExist) { // the package has no test files
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// fileSum returns the SHA-256 of a file in hex.
func fileSum(path string) (string, error) {
	content, err := os.ReadFile(path)
	return fmt.Sprintf("%x", sha256.Sum256(content)), err
}

// compileHead compiles the tests of the working tree. It is an error if there are none.
func (s suite) compileHead(ctx context.Context, out string) ([]binary, error) {
	all, err := s.compile(ctx, "", out)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no package of %s has tests", strings.Join(s.packages, " "))
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("the working tree cannot be built: %w", err)
	}
	return all, err
}

// compileBase compiles the tests of the base. If the base has no tests in the suite's packages, compileBase
// returns none and no error, because the tests may be new in the working tree.
func (s suite) compileBase(ctx context.Context, base source.Tree, out string) ([]binary, error) {
	var err error
	if s.packages, err = s.packagesOf(ctx, base); err == nil && len(s.packages) > 0 {
		if err = s.checkSources(ctx, base.Dir, base.Root); err == nil {
			var all []binary
			if all, err = s.compile(ctx, base.Dir, out); err == nil {
				return all, nil
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("the base, commit %.12s, cannot be built: %w", base.Commit, err)
	}
	return nil, err
}

// moduleOf returns the path of the go.mod file that the go command uses in a folder, and whether it uses a workspace. If
// there is no go.mod file, the path is "" or os.DevNull.
func moduleOf(ctx context.Context, dir string) (mod string, workspace bool, err error) {
	env, err := proc.Command(ctx, dir, "go", "env", "GOMOD", "GOWORK")
	mod, work, _ := strings.Cut(strings.TrimSpace(env), "\n")
	return mod, work != "" && work != "off", err
}

// packagesOf returns the import paths of those packages of the suite that the base has. If the base lacks them
// all, or has no module, the result is empty.
func (s suite) packagesOf(ctx context.Context, base source.Tree) ([]string, error) {
	if _, err := os.Stat(base.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	mod, workspace, err := moduleOf(ctx, base.Dir)
	if err != nil {
		return nil, err
	}
	// If the base has no go.mod, the go command may find one in a folder above.
	inside, err := source.Within(mod, base.Root)
	if err != nil || !inside && !workspace {
		return nil, err
	}
	// For a package that does not exist, go list reports an error and no files.
	const present = "{{if not .Error}}{{.ImportPath}}{{else if or .GoFiles .CgoFiles .TestGoFiles .XTestGoFiles .IgnoredGoFiles .InvalidGoFiles}}{{.ImportPath}}{{end}}"
	list := append([]string{"list", "-e", "-f", present}, s.build...)
	packages, err := proc.Command(ctx, base.Dir, "go", append(list, s.packages...)...)
	return strings.Fields(packages), err
}
