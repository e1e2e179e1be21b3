package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A worktree is a checkout of a commit of the repository.
type worktree struct {
	commit string // its full hash
	root   string
	dir    string   // the folder that corresponds to the working directory
	empty  []string // paths of submodules that could not be checked out
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
	_, err = command(ctx, "", "git", "worktree", "add", "--quiet", "--detach", path, w.commit)
	if err == nil {
		var top string
		if top, err = command(ctx, "", "git", "rev-parse", "--show-toplevel"); err == nil {
			w.empty, err = checkOutSubmodules(ctx, strings.TrimSpace(top), w.commit, path)
		}
	}
	if err != nil {
		w.remove()
		return worktree{}, err
	}
	return w, nil
}

// checkOutSubmodules writes the files of a commit's submodules to the folder to, because git
// worktree leaves their folders empty. The commit is one of the repository at from, whose
// own submodules have the objects. A submodule that is not checked out there stays empty;
// checkOutSubmodules returns the paths of these.
func checkOutSubmodules(ctx context.Context, from, commit, to string) (empty []string, err error) {
	entries, err := command(ctx, from, "git", "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(entries, "\x00") {
		about, path, _ := strings.Cut(entry, "\t") // about: mode, type and hash
		fields := strings.Fields(about)
		if len(fields) != 3 || fields[1] != "commit" {
			continue
		}
		sub, folder := filepath.Join(from, path), filepath.Join(to, path)
		if _, err := os.Stat(filepath.Join(sub, ".git")); err != nil {
			empty = append(empty, path)
			continue
		}
		index := []string{"GIT_INDEX_FILE=" + folder + ".index"}
		if _, err = output(ctx, sub, index, "git", "read-tree", fields[2]); err == nil {
			_, err = output(ctx, sub, index, "git", "checkout-index", "--all", "--force", "--prefix="+folder+string(filepath.Separator))
		}
		if err != nil {
			return nil, fmt.Errorf("submodule %s: want its commit %s (git -C %s fetch): %w", path, fields[2], path, err)
		}
		if err := os.Remove(folder + ".index"); err != nil {
			return nil, err
		}
		inner, err := checkOutSubmodules(ctx, sub, fields[2], folder)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", path, err)
		}
		for _, p := range inner {
			empty = append(empty, filepath.Join(path, p))
		}
	}
	return empty, nil
}

// within reports whether a file that exists is below root.
func within(file, root string) (bool, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false, err
	}
	file, err = filepath.EvalSymlinks(file)
	return err == nil && strings.HasPrefix(file+string(filepath.Separator), root+string(filepath.Separator)), nil
}

// headVersion describes the working tree, for reports: its commit, whether there are
// changes, and whether it equals the commit base. The folder of samples does not count.
func headVersion(ctx context.Context, base, samples string) (version string, equal bool, err error) {
	var texts [4]string // the folder of the working tree, its commit, changes since it and since base
	for i, args := range [][]string{{"rev-parse", "--show-toplevel"}, {"rev-parse", "HEAD"}, {"diff", "--name-only", "HEAD"}, {"diff", "--name-only", base}} {
		if texts[i], err = command(ctx, "", "git", args...); err != nil {
			return "", false, err
		}
	}
	others, err := untracked(ctx, strings.TrimSpace(texts[0]), samples)
	if err != nil {
		return "", false, err
	}
	version = fmt.Sprintf("the working tree at %.12s", texts[1])
	switch {
	case texts[3] == "" && len(others) == 0:
		return version + ", equal to the base", true, nil
	case texts[2] != "" || len(others) > 0:
		version += " with changes"
	}
	return version, false, nil
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
	for line := range strings.Lines(packages) {
		path, folder, _ := strings.Cut(strings.TrimSpace(line), "\t")
		inside, err := within(folder, root)
		if err != nil {
			return err
		}
		if !inside {
			return fmt.Errorf("package %s would come from %s, outside its worktree: is there a go.work or a replace with an absolute path?", path, folder)
		}
	}
	return nil
}

// untracked returns the untracked files of the working tree at top, relative to it, except
// those in the folder of samples and those that git ignores.
func untracked(ctx context.Context, top, samples string) ([]string, error) {
	others, err := command(ctx, top, "git", "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(others, "\x00"), func(name string) bool {
		return name == "" || strings.HasPrefix(filepath.Join(top, name), samples+string(filepath.Separator))
	}), nil
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
	for _, args := range [][]string{{"rev-parse", "HEAD"}, {"diff", "HEAD", "--binary", "--submodule=diff"}} {
		text, err := command(ctx, top, "git", args...)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d\n%s", len(text), text)
	}
	others, err := untracked(ctx, top, samples)
	if err != nil {
		return "", err
	}
	for _, name := range others {
		text, err := os.ReadFile(filepath.Join(top, name))
		if err != nil { // a dangling link, or a file that was removed meanwhile
			text = []byte(err.Error())
		}
		fmt.Fprintf(h, "%s\n%d\n%s", name, len(text), text)
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
