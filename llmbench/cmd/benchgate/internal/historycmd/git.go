package historycmd

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/proc"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/source"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history"
)

// A place is where a history is: a folder of the file system or, with -git, a folder of a branch of the
// repository. The branch's files are in a temporary folder while the command runs, and the repository's working
// tree and branches stay as they are. publish pushes what the command changed.
type place struct {
	dir, branch, remote string

	folder string // the temporary folder, or ""
	before string // the commit of the branch, or "" if there is none yet
	names  []string
	env    []string // variables for git commands that use the remote
}

// historyDir is the default value of -dir.
const historyDir = "benchhistory"

// flags adds the flags that say where the history is.
func (p *place) flags(fs *flag.FlagSet) {
	fs.StringVar(&p.dir, "dir", historyDir, "the `folder` of the history")
	fs.StringVar(&p.branch, "git", "", "the history is in this `branch` of the repository, in the folder of -dir; changes are pushed")
	fs.StringVar(&p.remote, "remote", "", "the `repository` that has the branch of -git (default origin, or this one if there is no origin)")
}

// said returns the flags that say where the history is, for commands that texts advise. It is "" for the default.
func (p *place) said() string {
	var flags []string
	for _, f := range [][2]string{{"-dir", p.dir}, {"-git", p.branch}, {"-remote", p.remote}} {
		if f[1] != "" && f != [2]string{"-dir", historyDir} {
			flags = append(flags, f[0], f[1])
		}
	}
	return shellquote.Join(flags...)
}

// placeTimeout is the maximum time of a step that uses git.
const placeTimeout = 10 * time.Minute

// gitContext returns a context for a step that uses git. It ends after placeTimeout, and with Ctrl-C or SIGTERM, so
// that no git is left and the command itself cleans up.
func gitContext() (ctx context.Context, end func()) {
	in := proc.NewInterrupt(os.Stderr)
	ctx, cancel := context.WithTimeout(in.Gentle, placeTimeout)
	return ctx, func() { cancel(); in.Stop() }
}

// remoteEnv returns variables for git commands that use a remote: their messages are in English, and they ask for no
// password, passphrase or host key, because they do not have the terminal. A program that the user chose instead of
// ssh stays as it is.
func remoteEnv(ctx context.Context) []string {
	env := []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0"}
	configured, _ := proc.Command(ctx, "", "git", "config", "core.sshCommand")
	if cmp.Or(os.Getenv("GIT_SSH_COMMAND"), os.Getenv("GIT_SSH"), strings.TrimSpace(configured)) == "" {
		env = append(env, "GIT_SSH_COMMAND=ssh -oBatchMode=yes")
	}
	return env
}

// open returns the folder of the history. A branch that does not exist is an empty history.
func (p *place) open() (history.Dir, error) {
	if p.branch == "" {
		if p.remote != "" {
			return "", errors.New("-remote: means nothing without -git")
		}
		return history.Dir(p.dir), nil
	}
	ctx, end := gitContext()
	defer end()
	if !filepath.IsLocal(p.dir) {
		return "", fmt.Errorf("-dir=%s: want a folder of the branch, because -git is set", p.dir)
	}
	if _, err := proc.Command(ctx, "", "git", "check-ref-format", "refs/heads/"+p.branch); err != nil {
		return "", fmt.Errorf("-git=%s: want the name of a branch: %w", p.branch, err)
	}
	if p.remote == "" {
		all, err := proc.Command(ctx, "", "git", "remote")
		if err != nil {
			return "", err
		}
		if p.remote = "."; slices.Contains(strings.Fields(all), "origin") {
			p.remote = "origin"
		}
	}
	p.env = remoteEnv(ctx)
	var err error
	if p.folder, err = os.MkdirTemp("", "benchgate-history-"); err != nil {
		return "", err
	}
	if err := p.fetch(ctx); err != nil {
		return "", err
	}
	if p.before != "" {
		if _, err := source.CheckOut(ctx, p.before, filepath.Join(p.folder, "tree")); err != nil {
			return "", err
		}
	}
	d := p.local()
	if err := os.MkdirAll(string(d), 0o777); err != nil {
		return "", err
	}
	p.names, err = fileNames(string(d))
	return d, err
}

// local returns the folder with the files of the branch.
func (p *place) local() history.Dir { return history.Dir(filepath.Join(p.folder, "tree", p.dir)) }

// close removes the temporary folder.
func (p *place) close() {
	if p.folder != "" {
		os.RemoveAll(p.folder)
	}
}

// fileNames returns the names of the files in a folder.
func fileNames(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// ref is the branch's full name.
func (p *place) ref() string { return "refs/heads/" + p.branch }

// lock waits until no other benchgate fetches or pushes in this clone: git does not support two fetches into a
// shallow clone at once.
func (p *place) lock(ctx context.Context) (unlock func() error, err error) {
	dir, err := proc.Command(ctx, "", "git", "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(strings.TrimSpace(dir), "benchgate.lock"))
	_, err = lock.TryLockContext(ctx, 20*time.Millisecond)
	return lock.Close, err
}

// fetch sets p.before to the commit of the branch, and fetches its objects.
func (p *place) fetch(ctx context.Context) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	listed, err := proc.Output(ctx, "", p.env, "git", "ls-remote", "--", p.remote, p.ref())
	if err != nil {
		return p.failed("ls-remote", err)
	}
	p.before = ""
	for line := range strings.Lines(listed) {
		if hash, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); name == p.ref() {
			p.before = hash
		}
	}
	if p.before == "" {
		return nil
	}
	// The fetch goes to a ref that only holders of the lock use. In a shallow clone, as CI systems make it, the fetch
	// stays shallow.
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head"}
	shallow, err := proc.Command(ctx, "", "git", "rev-parse", "--is-shallow-repository")
	if err != nil {
		return err
	}
	if strings.TrimSpace(shallow) == "true" {
		args = append(args, "--depth=1")
	}
	const ref = "refs/benchgate/history"
	for attempt := 1; ; attempt++ {
		_, err := proc.Output(ctx, "", p.env, "git", append(args, "--", p.remote, "+"+p.ref()+":"+ref)...)
		if err == nil {
			break
		}
		if attempt == pushes || !raced(err) { // another git uses the clone
			return p.failed("fetch", err)
		}
		if err := wait(ctx, attempt); err != nil {
			return err
		}
	}
	// The branch may have grown since it was listed.
	got, err := proc.Command(ctx, "", "git", "rev-parse", "--verify", ref)
	if err == nil {
		p.before = strings.TrimSpace(got)
		_, err = proc.Command(ctx, "", "git", "update-ref", "-d", ref)
	}
	return err
}

// pushes is the largest number of attempts to fetch or to push while others do so at the same time.
const pushes = 50

// publish pushes the files that were added to the history or removed from it since open. If somebody else pushes
// at the same time, publish adds the files to the new state of the branch and tries again, so nothing is lost.
func (p *place) publish() error {
	if p.branch == "" {
		return nil
	}
	now, err := fileNames(string(p.local()))
	if err != nil {
		return err
	}
	without := func(all, these []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(these, name) })
	}
	added, removed := without(now, p.names), without(p.names, now)
	if len(added)+len(removed) == 0 {
		return nil
	}
	ctx, end := gitContext()
	defer end()
	for attempt := 1; ; attempt++ {
		commit, err := p.commit(ctx, added, removed)
		if err != nil {
			return err
		}
		_, err = proc.Output(ctx, "", p.env, "git", "push", "--quiet", "--", p.remote, commit+":"+p.ref())
		if err == nil {
			return nil
		}
		if attempt == pushes || !raced(err) {
			return fmt.Errorf("%w; nothing is lost: commit %s of this repository has the files, push it to %s", p.failed("push", err), commit, p.ref())
		}
		if err := wait(ctx, attempt); err != nil {
			return err
		}
		if err := p.fetch(ctx); err != nil {
			return err
		}
	}
}

// failed returns the error of a git command that uses the remote. The remote may be a URL with a password, which
// the error does not have.
func (p *place) failed(name string, err error) error {
	shown := p.remote
	if strings.Contains(shown, "://") {
		shown = command.ShownURL(shown)
		err = errors.New(strings.ReplaceAll(err.Error(), p.remote, shown))
	}
	for _, sign := range []string{"Host key verification failed", "Permission denied (", "terminal prompts disabled"} {
		if strings.Contains(err.Error(), sign) {
			err = fmt.Errorf("%w\nbenchgate lets git ask no questions: put the key into ssh-agent, the host into known_hosts, or the password into a credential helper", err)
		}
	}
	return fmt.Errorf("git %s %s %s: %w", name, shown, p.ref(), err)
}

// wait waits before the next attempt: a random time, so that commands that disturbed each other do not do so again.
func wait(ctx context.Context, attempt int) error {
	select {
	case <-time.After(rand.N(min(2*time.Second, time.Duration(attempt)*100*time.Millisecond))):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// raced reports whether git failed because another git pushed or used the clone at the same time.
func raced(err error) bool {
	signs := []string{".lock': File exists", "shallow file has changed", "(fetch first)", "(non-fast-forward)", "(stale info)", "cannot lock ref", "failed to update ref", "incorrect old value", "reference already exists"}
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(err.Error(), sign) })
}

// commit makes a commit on top of p.before and returns its hash. It needs neither a working tree nor a branch.
func (p *place) commit(ctx context.Context, added, removed []string) (string, error) {
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(p.folder, "index")}
	git := func(env []string, args ...string) (string, error) {
		out, err := proc.Output(ctx, "", env, "git", args...)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("git %s: %w", args[0], err)
		}
		return strings.TrimSpace(out), err
	}
	if _, err := git(index, "read-tree", cmp.Or(p.before, "--empty")); err != nil {
		return "", err
	}
	path := func(name string) string { return filepath.ToSlash(filepath.Join(p.dir, name)) }
	for _, name := range added {
		blob, err := git(nil, "hash-object", "-w", "--no-filters", "--", filepath.Join(string(p.local()), name))
		if err != nil {
			return "", err
		}
		if _, err := git(index, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+path(name)); err != nil {
			return "", err
		}
	}
	for _, name := range removed {
		if _, err := git(index, "update-index", "--force-remove", "--", path(name)); err != nil {
			return "", err
		}
	}
	made, err := git(index, "write-tree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", made, "-m", message(added, removed)}
	if p.before != "" {
		args = append(args, "-p", p.before)
	}
	return git(identityOf(ctx), args...)
}

// message returns the message of a commit.
func message(added, removed []string) string {
	switch {
	case len(removed) == 0 && len(added) == 1:
		return "benchgate history: " + added[0]
	case len(removed) == 0:
		return fmt.Sprintf("benchgate history: %d runs", len(added))
	}
	return fmt.Sprintf("benchgate history: %d files removed", len(removed))
}

// identityOf returns environment variables that name benchgate as the author, if git knows no author, as on a CI
// system.
func identityOf(ctx context.Context) (env []string) {
	for _, v := range []struct{ key, value string }{{"name", "benchgate"}, {"email", "benchgate@localhost"}} {
		known, _ := proc.Command(ctx, "", "git", "config", "user."+v.key)
		for _, role := range []string{"AUTHOR", "COMMITTER"} {
			variable := "GIT_" + role + "_" + strings.ToUpper(v.key)
			if cmp.Or(strings.TrimSpace(known), os.Getenv(variable)) == "" {
				env = append(env, variable+"="+v.value)
			}
		}
	}
	return env
}
