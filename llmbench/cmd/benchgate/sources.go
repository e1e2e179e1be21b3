package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A worktree is a commit of the repository, checked out beside it.
type worktree struct {
	commit string // its full hash
	root   string
	dir    string // what is the working directory in it
	remove func()
}

// checkOut makes path a worktree of what ref names in the repository of the
// working directory.
func checkOut(ctx context.Context, ref, path string) (worktree, error) {
	commit, err := command(ctx, "", "git", "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		if ctx.Err() != nil {
			return worktree{}, err
		}
		return worktree{}, fmt.Errorf("-base=%s: want a commit of this repository (was it fetched?): %w", ref, err)
	}
	prefix, err := command(ctx, "", "git", "rev-parse", "--show-prefix")
	if err != nil {
		return worktree{}, err
	}
	w := worktree{commit: strings.TrimSpace(commit), root: path, dir: filepath.Join(path, strings.TrimSpace(prefix))}
	w.remove = func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		// What a run that was killed left is not known to git, or only to git, or
		// locked.
		command(ctx, "", "git", "worktree", "remove", "--force", "--force", path)
		os.RemoveAll(path)
		command(ctx, "", "git", "worktree", "unlock", path)
		command(ctx, "", "git", "worktree", "prune")
	}
	w.remove()
	if _, err := command(ctx, "", "git", "worktree", "add", "--quiet", "--detach", path, w.commit); err != nil {
		w.remove()
		return worktree{}, err
	}
	return w, nil
}

// checkSources says whether what the suite's packages are built of, in dir, lies
// below root, but for the standard library and modules of a version: a workspace or
// a replacement can lead to sources of the other side.
func (s suite) checkSources(ctx context.Context, dir, root string) error {
	list := append([]string{"list", "-deps", "-test", "-f", "{{if not .Standard}}{{if .Module}}{{if not (or .Module.Version .ForTest)}}{{.ImportPath}}\t{{.Dir}}{{end}}{{end}}{{end}}"}, s.build...)
	packages, err := command(ctx, dir, "go", append(list, s.packages...)...)
	if err != nil {
		return err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return err
	}
	for line := range strings.Lines(packages) {
		path, at, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if real, err := filepath.EvalSymlinks(at); err == nil && !strings.HasPrefix(real+string(filepath.Separator), root+string(filepath.Separator)) {
			return fmt.Errorf("the base would be built with %s of %s, which is not its own: is there a go.work or a replace with an absolute path?", path, at)
		}
	}
	return nil
}

// sourceState tells states of the working tree apart, files that no binary holds
// included: the commit, what differs from it, and what git does not know, except
// for the folder of samples. Outside a repository it is "".
func sourceState(ctx context.Context, samples string) (string, error) {
	top, err := command(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return "", ctx.Err()
	}
	top = strings.TrimSpace(top)
	h := sha256.New()
	for _, args := range [][]string{{"rev-parse", "HEAD"}, {"diff", "HEAD", "--binary"}} {
		text, err := command(ctx, top, "git", args...)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d\n%s", len(text), text)
	}
	others, err := command(ctx, top, "git", "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return "", err
	}
	for name := range strings.SplitSeq(others, "\x00") {
		path := filepath.Join(top, name)
		if name == "" || strings.HasPrefix(path, samples+string(filepath.Separator)) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil { // a link to nowhere, or gone since
			text = []byte(err.Error())
		}
		fmt.Fprintf(h, "%s\n%d\n%s", name, len(text), text)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
