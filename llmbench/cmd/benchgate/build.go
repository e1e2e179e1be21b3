package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A binary is the compiled tests of one package.
type binary struct {
	Package string
	SHA256  string // in hex
	path    string
	dir     string // where it runs: the folder of the package's sources
}

func (b binary) same(c binary) bool { return b.Package == c.Package && b.SHA256 == c.SHA256 }

// compile compiles the suite's packages below dir into the folder out. Packages
// without tests are left out.
func (s suite) compile(ctx context.Context, dir, out string) ([]binary, error) {
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
		b.Package, b.dir, _ = strings.Cut(strings.TrimSpace(line), "\t")
		b.path = filepath.Join(out, fmt.Sprintf("%d.test", len(all)))
		test := append([]string{"test", "-c", "-buildvcs=false", "-o", b.path}, s.build...)
		if _, err := command(ctx, dir, "go", append(test, b.Package)...); err != nil {
			return nil, err
		}
		content, err := os.ReadFile(b.path)
		if errors.Is(err, fs.ErrNotExist) { // no test files
			continue
		}
		if err != nil {
			return nil, err
		}
		b.SHA256 = fmt.Sprintf("%x", sha256.Sum256(content))
		all = append(all, b)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no package of %s has tests in %s", strings.Join(s.packages, " "), dir)
	}
	return all, nil
}

// A worktree is another commit of the repository, checked out beside it.
type worktree struct {
	commit string // its full hash
	dir    string // what is the working directory in it
	remove func()
}

// checkOut makes path a worktree of what ref names in the repository of the
// working directory.
func checkOut(ctx context.Context, ref, path string) (worktree, error) {
	commit, err := command(ctx, "", "git", "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return worktree{}, fmt.Errorf("-base=%s: want a commit of this repository (was it fetched?): %w", ref, err)
	}
	prefix, err := command(ctx, "", "git", "rev-parse", "--show-prefix")
	if err != nil {
		return worktree{}, err
	}
	w := worktree{commit: strings.TrimSpace(commit), dir: filepath.Join(path, strings.TrimSpace(prefix))}
	w.remove = func() {
		// What a run that was killed left is not known to git, or only to git.
		command(context.Background(), "", "git", "worktree", "remove", "--force", path)
		os.RemoveAll(path)
		command(context.Background(), "", "git", "worktree", "prune")
	}
	w.remove()
	if _, err := command(ctx, "", "git", "worktree", "add", "--quiet", "--detach", path, w.commit); err != nil {
		w.remove()
		return worktree{}, err
	}
	return w, nil
}

// command runs a command in dir and returns what it prints to stdout. Its error
// says what it printed to stderr.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}
