package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A binary is the compiled tests of one package.
type binary struct {
	pkg    string
	sha256 string // in hex
	path   string
	dir    string // the working directory of the process: the folder of the package
}

// compile compiles the tests of the suite's packages, with dir as the working directory.
// It writes the binaries to the folder out, which it empties first. Packages without
// tests are left out.
func (s suite) compile(ctx context.Context, dir, out string) ([]binary, error) {
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, err
	}
	list := append([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}"}, s.build...)
	packages, err := command(ctx, dir, "go", append(list, s.packages...)...)
	if err != nil {
		return nil, err
	}
	var all []binary
	for line := range strings.Lines(packages) {
		b := binary{}
		b.pkg, b.dir, _ = strings.Cut(strings.TrimSpace(line), "\t")
		b.path = filepath.Join(out, fmt.Sprintf("%d.test", len(all)))
		test := append([]string{"test", "-c", "-buildvcs=false", "-o", b.path}, s.build...)
		if _, err := command(ctx, dir, "go", append(test, b.pkg)...); err != nil {
			return nil, err
		}
		content, err := os.ReadFile(b.path)
		if errors.Is(err, fs.ErrNotExist) { // no test files
			continue
		}
		if err != nil {
			return nil, err
		}
		b.sha256 = fmt.Sprintf("%x", sha256.Sum256(content))
		all = append(all, b)
	}
	if len(all) == 0 {
		if dir == "" {
			dir = "the working directory"
		}
		return nil, fmt.Errorf("no package of %s has tests in %s", strings.Join(s.packages, " "), dir)
	}
	return all, nil
}
