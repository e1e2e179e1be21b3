package source

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
)

// A Tree is a checked-out copy of a commit of the repository.
type Tree struct {
	Commit string // the full hash of the commit
	Root   string
	Dir    string   // the folder that corresponds to the working directory
	empty  []string // paths of submodules that could not be checked out
	Remove func()
}

// Resolve returns the full hash of the commit ref. Errors call ref the value of the flag name.
func Resolve(ctx context.Context, name, ref string) (string, error) {
	commit, err := proc.Command(ctx, "", "git", "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s=%s: want a commit of this repository (was it fetched?): %w", name, ref, err)
	}
	return strings.TrimSpace(commit), err
}

// TellEmpty prints the submodules that are empty in the tree. side names the tree in the message.
func (t Tree) TellEmpty(w io.Writer, side string) {
	for _, path := range t.empty {
		fmt.Fprintf(w, "the submodule %s is not checked out in the working tree, so it is empty in %s\n", path, side)
	}
}

// CheckOut writes the files of the commit ref and of its submodules to the folder path, which it empties first.
// The working directory must be in the repository. The folder is not registered as a git worktree, so several
// commands may call CheckOut at the same time.
func CheckOut(ctx context.Context, ref, path string) (Tree, error) {
	commit, err := Resolve(ctx, "-base", ref)
	if err != nil {
		return Tree{}, err
	}
	texts := [2]string{"--show-toplevel", "--show-prefix"}
	for i, flag := range texts {
		if texts[i], err = proc.Command(ctx, "", "git", "rev-parse", flag); err != nil {
			return Tree{}, err
		}
	}
	w := Tree{Commit: commit, Root: path, Dir: filepath.Join(path, strings.TrimSpace(texts[1]))}
	w.Remove = func() { os.RemoveAll(path) }
	if err := os.RemoveAll(path); err != nil { // remains of a killed command
		return Tree{}, err
	}
	if w.empty, err = writeFiles(ctx, strings.TrimSpace(texts[0]), w.Commit, path); err != nil {
		w.Remove()
		return Tree{}, err
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
	if _, err := proc.Output(ctx, from, env, "git", "read-tree", "--reset", "-u", "--no-recurse-submodules", commit); err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("the files of commit %s cannot be written to %s: %w", commit, to, err)
		}
		return nil, err
	}
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
	entries, err := proc.Command(ctx, from, "git", "ls-tree", "-r", "-z", "--full-tree", commit)
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

// Within reports whether an existing file is below the folder root.
func Within(file, root string) (bool, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return false, err
	}
	file, err = filepath.EvalSymlinks(file)
	return err == nil && strings.HasPrefix(file+string(filepath.Separator), root+string(filepath.Separator)), nil
}

// HeadVersion returns a description of the working tree for reports: its commit, and whether it has changes or
// equals the commit base. It also returns the commit with exactly the same files: base if they match, "" if
// there are changes. Files in the folder of samples are ignored.
func HeadVersion(ctx context.Context, base, samples string) (version, commit string, err error) {
	var texts [4]string // the working tree's folder, its commit, the changes since that commit and since base
	for i, args := range [][]string{{"rev-parse", "--show-toplevel"}, {"rev-parse", "HEAD"}, {"diff", "--name-only", "HEAD"}, {"diff", "--name-only", base}} {
		if texts[i], err = proc.Command(ctx, "", "git", args...); err != nil {
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

// untracked returns the untracked files of the working tree at top, as paths relative to top. It omits files in
// the folder of samples and files that git ignores.
func untracked(ctx context.Context, top, samples string) ([]string, error) {
	others, err := proc.Command(ctx, top, "git", "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(others, "\x00"), func(name string) bool {
		return name == "" || strings.HasPrefix(filepath.Join(top, name), samples+string(filepath.Separator))
	}), nil
}

// SourceState returns a hash of the working tree: of the commit, the changes since the commit, and the
// untracked files outside the folder of samples. The hash covers also files that no binary is built from.
// Outside a repository, SourceState returns "".
func SourceState(ctx context.Context, samples string) (string, error) {
	top, err := proc.Command(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return "", ctx.Err()
	}
	top = strings.TrimSpace(top)
	h := sha256.New()
	for _, args := range [][]string{{"rev-parse", "HEAD"}, {"diff", "HEAD", "--binary", "--submodule=diff"}} {
		text, err := proc.Command(ctx, top, "git", args...)
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

// MakeRepository makes the tree a git repository, so that a build can ask git for its version. The repository
// shares the objects of the working directory's repository, and has copies of the tags that exist now.
func (t Tree) MakeRepository(ctx context.Context) error {
	var texts [4]string // the objects folder, the file that lists a shallow clone's boundary, the tags, the hash function
	for i, args := range [][]string{
		{"rev-parse", "--path-format=absolute", "--git-path", "objects"},
		{"rev-parse", "--path-format=absolute", "--git-path", "shallow"},
		{"for-each-ref", "--format=%(objectname) %(refname)", "refs/tags"},
		{"rev-parse", "--show-object-format"},
	} {
		text, err := proc.Command(ctx, "", "git", args...)
		if err != nil {
			return err
		}
		texts[i] = strings.TrimSpace(text)
	}
	if _, err := proc.Command(ctx, t.Root, "git", "init", "--quiet", "--template=", "--object-format="+texts[3]); err != nil {
		return err
	}
	files := map[string]string{"objects/info/alternates": texts[0], "packed-refs": texts[2], "HEAD": t.Commit}
	shallow, err := os.ReadFile(texts[1])
	if err == nil {
		files["shallow"] = strings.TrimSpace(string(shallow))
	}
	for name, text := range files {
		if text == "" {
			continue
		}
		if err := command.WriteFile(filepath.Join(t.Root, ".git", name), []byte(text+"\n")); err != nil {
			return err
		}
	}
	_, err = proc.Command(ctx, t.Root, "git", "read-tree", "HEAD")
	return err
}
