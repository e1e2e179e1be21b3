package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A tree is a checked-out copy of a commit of the repository.
type tree struct {
	commit string // the full hash of the commit
	root   string
	dir    string   // the folder that corresponds to the working directory
	empty  []string // paths of submodules that could not be checked out
	remove func()
}

// resolve returns the full hash of the commit ref. Errors call ref the value of the flag name.
func resolve(ctx context.Context, name, ref string) (string, error) {
	commit, err := command(ctx, "", "git", "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s=%s: want a commit of this repository (was it fetched?): %w", name, ref, err)
	}
	return strings.TrimSpace(commit), err
}

// tellEmpty prints the submodules that are empty in the tree. side names the tree in the message.
func (t tree) tellEmpty(w io.Writer, side string) {
	for _, path := range t.empty {
		fmt.Fprintf(w, "the submodule %s is not checked out in the working tree, so it is empty in %s\n", path, side)
	}
}

// checkOut writes the files of the commit ref and of its submodules to the folder path, which it empties first.
// The working directory must be in the repository. The folder is not registered as a git worktree, so several
// commands may call checkOut at the same time.
func checkOut(ctx context.Context, ref, path string) (tree, error) {
	commit, err := resolve(ctx, "-base", ref)
	if err != nil {
		return tree{}, err
	}
	texts := [2]string{"--show-toplevel", "--show-prefix"}
	for i, flag := range texts {
		if texts[i], err = command(ctx, "", "git", "rev-parse", flag); err != nil {
			return tree{}, err
		}
	}
	w := tree{commit: commit, root: path, dir: filepath.Join(path, strings.TrimSpace(texts[1]))}
	w.remove = func() { os.RemoveAll(path) }
	if err := os.RemoveAll(path); err != nil { // remains of a killed command
		return tree{}, err
	}
	if w.empty, err = writeFiles(ctx, strings.TrimSpace(texts[0]), w.commit, path); err != nil {
		w.remove()
		return tree{}, err
	}
	return w, nil
}

// writeFiles writes the files of a commit and of its submodules to the folder to. The commit belongs to the
// repository at from, and the submodules' commits to the submodules checked out there. A submodule that is not
// checked out at from stays empty; writeFiles returns the paths of such submodules.
func writeFiles(ctx context.Context, from, commit, to string) (empty []string, err error) {
	// The index goes to a folder named .git, because no commit can have files in such a folder.
	folder := filepath.Join(to, ".git")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	env := []string{"GIT_WORK_TREE=" + to, "GIT_INDEX_FILE=" + filepath.Join(folder, "index")}
	if _, err := output(ctx, from, env, "git", "read-tree", "--reset", "-u", "--no-recurse-submodules", commit); err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("the files of commit %s cannot be written to %s: %w", commit, to, err)
		}
		return nil, err
	}
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
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
		sub := filepath.Join(from, path)
		if _, err := os.Stat(filepath.Join(sub, ".git")); err != nil {
			empty = append(empty, path)
			continue
		}
		inner, err := writeFiles(ctx, sub, fields[2], filepath.Join(to, path))
		if err != nil {
			if ctx.Err() == nil {
				err = fmt.Errorf("submodule %s: want its commit %s (git -C %s fetch): %w", path, fields[2], path, err)
			}
			return nil, err
		}
		for _, p := range inner {
			empty = append(empty, filepath.Join(path, p))
		}
	}
	return empty, nil
}

// within reports whether an existing file is below the folder root.
func within(file, root string) (bool, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false, err
	}
	file, err = filepath.EvalSymlinks(file)
	return err == nil && strings.HasPrefix(file+string(filepath.Separator), root+string(filepath.Separator)), nil
}

// headVersion returns a description of the working tree for reports: its commit, and whether it has changes or
// equals the commit base. It also returns the commit with exactly the same files: base if they match, "" if
// there are changes. Files in the folder of samples are ignored.
func headVersion(ctx context.Context, base, samples string) (version, commit string, err error) {
	var texts [4]string // the working tree's folder, its commit, the changes since that commit and since base
	for i, args := range [][]string{{"rev-parse", "--show-toplevel"}, {"rev-parse", "HEAD"}, {"diff", "--name-only", "HEAD"}, {"diff", "--name-only", base}} {
		if texts[i], err = command(ctx, "", "git", args...); err != nil {
			return "", "", err
		}
	}
	others, err := untracked(ctx, strings.TrimSpace(texts[0]), samples)
	if err != nil {
		return "", "", err
	}
	version = fmt.Sprintf("the working tree at %.12s", texts[1])
	switch {
	case texts[3] == "" && len(others) == 0:
		return version + ", equal to the base", base, nil
	case texts[2] != "" || len(others) > 0:
		return version + " with changes", "", nil
	}
	return version, strings.TrimSpace(texts[1]), nil
}

// checkSources returns an error if the suite's packages, built in dir, use sources outside root. A workspace or
// a replace directive could lead to the sources of the other side. The standard library and modules with a
// version are allowed.
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
			return fmt.Errorf("package %s would come from %s, outside the files of the commit: is there a go.work or a replace with an absolute path?", path, folder)
		}
	}
	return nil
}

// untracked returns the untracked files of the working tree at top, as paths relative to top. It omits files in
// the folder of samples and files that git ignores.
func untracked(ctx context.Context, top, samples string) ([]string, error) {
	others, err := command(ctx, top, "git", "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(others, "\x00"), func(name string) bool {
		return name == "" || strings.HasPrefix(filepath.Join(top, name), samples+string(filepath.Separator))
	}), nil
}

// sourceState returns a hash of the working tree: of the commit, the changes since the commit, and the
// untracked files outside the folder of samples. The hash covers also files that no binary is built from.
// Outside a repository, sourceState returns "".
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
