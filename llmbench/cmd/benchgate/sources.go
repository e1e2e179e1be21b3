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

// A worktree is a checkout of a commit of the repository.
type worktree struct {
	commit string // its full hash
	root   string
	dir    string // the folder that corresponds to the working directory
	remove func()
}

// checkOut checks out the commit ref of the repository of the working directory, as a
// worktree at path.
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
		// A killed run can leave a worktree that git does not know, that only git
		// knows, or that is locked.
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

// checkSources checks that the suite's packages, built in dir, use only sources below
// root, apart from the standard library and modules with a version. A workspace or a
// replace directive could lead to the sources of the other side.
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
		path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if real, err := filepath.EvalSymlinks(folder); err == nil && !strings.HasPrefix(real+string(filepath.Separator), root+string(filepath.Separator)) {
			return fmt.Errorf("the base would be built with package %s in %s, outside its worktree: is there a go.work or a replace with an absolute path?", path, folder)
		}
	}
	return nil
}

// sourceState returns a hash of the working tree: the commit, the differences from it,
// and the untracked files except those in the folder of samples. It includes files that
// are not part of a binary. Outside a repository it returns "".
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
		if err != nil { // a dangling link, or a file that was removed meanwhile
			text = []byte(err.Error())
		}
		fmt.Fprintf(h, "%s\n%d\n%s", name, len(text), text)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
