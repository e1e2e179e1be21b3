package measure

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/source"
)

// commits returns the commits of the base and of the working tree. The latter is "" if the working tree has
// uncommitted changes. It also sets o.versions.
func (o *servers) commits(ctx context.Context) (commits [2]string, err error) {
	if commits[0], err = source.Resolve(ctx, "-base", o.base); err != nil {
		return commits, err
	}
	o.Versions[0] = fmt.Sprintf("the base, %.12s", commits[0])
	o.Versions[1], commits[1], err = source.HeadVersion(ctx, commits[0], o.folder.path)
	if err == nil && commits[1] == commits[0] {
		fmt.Fprintln(o.stderr, sameSides)
	}
	return commits, err
}

// buildServers builds the server of each side, or finds it in the cache. It sets the environment variables with
// which the benchmarks start the server.
func (o *servers) buildServers(ctx context.Context, sides []side, commits [2]string) error {
	cache, err := openBuildCache()
	if err != nil {
		return err
	}
	prefix, err := proc.Command(ctx, "", "git", "rev-parse", "--show-prefix")
	if err != nil {
		return err
	}
	var built [2]string                     // the folder for {out} of each side
	for i := range slices.Backward(sides) { // the working tree first, so that a wrong command is reported for it
		s := &sides[i]
		what := o.Versions[i]
		if i == 0 {
			what += " (-base=" + o.base + ")"
		}
		if commits[i] == "" { // uncommitted changes have no hash to use as a cache key
			built[i] = o.folder.join(s.name + "-out")
			fmt.Fprintf(o.stderr, "building the server of %s: %s\n", what, o.buildText)
			if err = os.RemoveAll(built[i]); err == nil {
				err = o.runBuild(ctx, "", built[i], o.folder.join(s.name+"-build.txt"))
			}
		} else {
			built[i], err = o.buildCommit(ctx, cache, prefix, commits[i], s.name, what)
		}
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("the server of %s cannot be built: %w", what, err)
		}
		s.env = o.buildEnv(built[i])
	}
	for _, out := range built {
		if err := readAll(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

// buildEnv returns the environment variables with which the benchmarks start the server in the folder out.
func (o *servers) buildEnv(out string) []string {
	return []string{"LLMBENCH_BACKEND=process", "LLMBENCH_COMMAND=" + o.command, "LLMBENCH_BUILD=" + out}
}

// buildCommit builds the server of a commit, or finds it in the cache, and returns the folder for {out}. prefix is
// the working directory's path in the repository. The build's files in the folder of samples begin with name;
// what describes the commit in messages.
func (o *servers) buildCommit(ctx context.Context, cache buildCache, prefix, commit, name, what string) (out string, err error) {
	key := buildKey(commit, prefix, o.buildText)
	return cache.get(ctx, key, func(state string) { fmt.Fprintf(o.stderr, "the server of %s: %s\n", what, state) }, func(out string) error {
		fmt.Fprintf(o.stderr, "building the server of %s: %s\n", what, o.buildText)
		tree, err := source.CheckOut(ctx, commit, o.folder.join("_"+name+"-src"))
		if err != nil {
			return err
		}
		tree.TellEmpty(o.stderr, what)
		if err := tree.MakeRepository(ctx); err != nil {
			return err
		}
		return o.runBuild(ctx, tree.Dir, out, o.folder.join(name+"-build.txt"))
	})
}

// plainPath matches the paths that a shell reads as one word.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// runBuild creates the folder out, and runs the command of -build in dir with out in place of {out}. The
// command's output goes to the file log.
func (o *servers) runBuild(ctx context.Context, dir, out, log string) error {
	out = filepath.ToSlash(out)
	if !plainPath.MatchString(out) {
		return fmt.Errorf("the folder for {out}, %q, has characters that a shell does not take literally: want another LLMBENCH_CACHE and -out", out)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	file, err := os.Create(log)
	if err != nil {
		return err
	}
	defer file.Close()
	cmd := exec.CommandContext(ctx, "sh", "-c", strings.ReplaceAll(o.buildText, "{out}", out))
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, file, file
	if err := proc.RunGroup(context.Background(), cmd, 10*time.Second); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		text, readErr := os.ReadFile(log)
		if readErr != nil {
			return readErr
		}
		return fmt.Errorf("%w; the end of %s:\n%s", err, log, proc.Tail(text))
	}
	entries, err := os.ReadDir(out)
	if err == nil && len(entries) == 0 {
		err = fmt.Errorf("the command has ended without an error, and has written nothing to {out}")
	}
	return err
}

// buildVariables matches the names of environment variables that may influence a build.
var buildVariables = regexp.MustCompile(`^(PATH|CC|CXX|AR|LD|[A-Z]*FLAGS|LIBRARY_PATH|CPATH|PKG_CONFIG_PATH|(GO|CGO_|CMAKE_|CARGO_|RUST|CUDA|PIP_|PYTHON).*)$`)

// buildTools lists programs whose version may influence a build.
var buildTools = []string{"go", "cc", "gcc", "g++", "clang", "clang++", "ld", "cmake", "make", "ninja", "cargo", "rustc", "nvcc", "python3", "node", "zig"}

// buildKey returns a cache key for the build of a commit by the command text, run in the folder prefix of the
// repository. The key also covers the build tools and the environment variables that may influence the build.
func buildKey(commit, prefix, text string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n%q\n%s/%s\n", commit, prefix, text, runtime.GOOS, runtime.GOARCH)
	environ := os.Environ()
	slices.Sort(environ)
	for _, v := range environ {
		if name, _, _ := strings.Cut(v, "="); buildVariables.MatchString(name) {
			fmt.Fprintf(h, "%q\n", v)
		}
	}
	for _, tool := range buildTools {
		path, err := exec.LookPath(tool)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		var info fs.FileInfo
		if err == nil {
			info, err = os.Stat(path)
		}
		if err == nil {
			fmt.Fprintf(h, "%q %d %d\n", path, info.Size(), info.ModTime().UnixNano())
		}
	}
	return fmt.Sprintf("%.12s-%.12x", commit, h.Sum(nil))
}

// readAll reads all readable files below a folder into the file cache of the operating system. Without that, a
// server built just now would start with its files in memory, and one built long ago would not.
func readAll(ctx context.Context, folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || !entry.Type().IsRegular() {
			return nil // a file that this user may not read is not needed by the server
		}
		if file, err := os.Open(path); err == nil {
			_, _ = io.Copy(io.Discard, file)
			file.Close()
		}
		return nil
	})
}
