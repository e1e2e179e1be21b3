package measure

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/source"
)

// servers holds the flags of benchgate ab that say what the two sides are. If one of the flags names servers,
// the sides differ in the server, and the same benchmarks measure both servers. Otherwise each side runs its
// own benchmarks.
type servers struct {
	*collector
	base      string    // the commit to compare with, or "" if no commit is needed
	buildText string    // the command that builds a server; {out} is the folder to build into
	command   string    // the command that starts a server
	urls      [2]string // of running servers: base, head
	images    [2]string // of the containers to start: base, head
	from      string    // where the benchmarks come from: head, base, a folder or a test binary
}

func (o *servers) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.base, "base", "", "compare the working tree with this `commit`")
	fs.StringVar(&o.buildText, "build", "", "build the server of each side with this shell `command`, once in the files of the commit and once in the working tree; {out} is the folder to build into")
	fs.StringVar(&o.command, "command", "", "start the server of -build with this `command`, as in LLMBENCH_COMMAND; {out} is the folder with what was built, {port} the port to listen on, {data} a new folder")
	fs.StringVar(&o.urls[0], "base-url", "", "measure the server at this `URL` as the base, and the server at -head-url as the head")
	fs.StringVar(&o.urls[1], "head-url", "", "the `URL` of the server to compare with the server at -base-url")
	fs.StringVar(&o.images[0], "base-image", "", "start the server in LLMBENCH_BACKEND from this `image` as the base, and from -head-image as the head")
	fs.StringVar(&o.images[1], "head-image", "", "the `image` to compare with -base-image")
	fs.StringVar(&o.from, "bench-from", "", "measure both servers with the benchmarks of this `place`: head, base, a folder of another module, or a test binary (default head)")
}

// kind returns the flag that names what differs between the servers, or "" if the sides differ in their
// benchmarks.
func (o *servers) kind() string {
	switch {
	case o.buildText != "":
		return "-build"
	case o.urls != [2]string{}:
		return "-base-url"
	case o.images != [2]string{}:
		return "-base-image"
	}
	return ""
}

// check returns an error if flags or environment variables contradict each other or have no effect together.
func (o *servers) check() error {
	pairs := []struct {
		base, head string
		values     [2]string
	}{{"-base-url", "-head-url", o.urls}, {"-base-image", "-head-image", o.images}}
	kinds := 0
	for _, p := range pairs {
		switch {
		case p.values == [2]string{}:
			continue
		case p.values[0] == "":
			return fmt.Errorf("%s: not set: want both %s and %s", p.base, p.base, p.head)
		case p.values[1] == "":
			return fmt.Errorf("%s: not set: want both %s and %s", p.head, p.base, p.head)
		}
		kinds++
	}
	kind := o.kind()
	if kind == "-build" {
		kinds++
	}
	switch {
	case kinds > 1:
		return errors.New("-build, -base-url and -base-image: want one of them")
	case o.from != "" && kind == "":
		return errors.New("-bench-from: want -build, -base-url or -base-image too; without them, each side runs the benchmarks of its own commit")
	case o.command != "" && kind != "-build":
		return errors.New("-command: means nothing without -build")
	case o.base != "" && kind != "" && kind != "-build":
		return fmt.Errorf("-base: means nothing with %s, which compares no commits", kind)
	case o.from == "base" && kind != "-build":
		return fmt.Errorf("-bench-from=base: means nothing with %s, which has no commit", kind)
	case o.base == "" && (kind == "" || kind == "-build"):
		return errors.New("-base: not set: want the commit to compare the working tree with, or two servers: -base-url and -head-url, or -base-image and -head-image")
	}
	o.from = cmp.Or(o.from, "head")
	return o.checkVariables()
}

// checkVariables returns an error if an environment variable contradicts the flags. Messages do not contain
// values that may be secret.
func (o *servers) checkVariables() error {
	none := func(names ...string) error {
		for _, name := range names {
			if os.Getenv(name) != "" {
				return fmt.Errorf("%s is set, and %s chooses the servers: want one of them", name, o.kind())
			}
		}
		return nil
	}
	backend := os.Getenv("LLMBENCH_BACKEND")
	switch o.kind() {
	case "-base-url":
		return none("LLMBENCH_URL", "LLMBENCH_BACKEND")
	case "-base-image":
		if backend == "" || strings.Contains(backend, ",") {
			return fmt.Errorf("LLMBENCH_BACKEND=%s: want the name of the server that both images contain, such as vllm", backend)
		}
		return none("LLMBENCH_URL", "LLMBENCH_IMAGE")
	case "-build":
		variable := os.Getenv("LLMBENCH_COMMAND")
		switch {
		case o.command != "" && variable != "":
			return errors.New("-command and LLMBENCH_COMMAND: want one of them")
		case o.command == "" && variable == "":
			return errors.New("-command: not set: want the command that starts the server of -build, such as '{out}/server --port {port}'")
		case backend != "" && backend != "process":
			return fmt.Errorf("LLMBENCH_BACKEND=%s: want process, or nothing, with -build", backend)
		case !strings.Contains(o.buildText, "{out}"):
			return fmt.Errorf("-build=%s: want {out} in it, the folder to build into", o.buildText)
		}
		if o.command = cmp.Or(o.command, variable); !strings.Contains(o.command+os.Getenv("LLMBENCH_TEMPLATES"), "{out}") {
			return errors.New("the command that starts the server has no {out}, so both sides would be the same server: want '{out}/server …', or {out}/FILE in LLMBENCH_TEMPLATES")
		}
		return none("LLMBENCH_URL", "LLMBENCH_BUILD")
	}
	return nil
}

// prepare compiles the benchmarks and, with -build, builds the servers.
func (o *servers) prepare(ctx context.Context, s suite) (sides [2]side, clean func(), err error) {
	clean = func() {
		for _, name := range []string{"bench-bin", "_base-src", "_head-src", "base-out", "head-out"} {
			os.RemoveAll(o.folder.join(name))
		}
	}
	sides = [2]side{{name: "base"}, {name: "head"}}
	// The sides may differ in the server's version, because that is what is compared.
	o.Ignore = append(o.Ignore, "server-version")
	var commits [2]string
	switch o.kind() {
	case "-build":
		commits, err = o.commits(ctx)
	case "-base-url":
		o.Ignore = append(o.Ignore, "server", "router") // one side may be another engine, or be behind a router
		for i, u := range o.urls {
			o.Versions[i], sides[i].env = command.ShownURL(u), []string{"LLMBENCH_URL=" + u}
		}
	case "-base-image":
		o.Ignore = append(o.Ignore, "image", "image-digest", "image-checked")
		for i, image := range o.images {
			o.Versions[i], sides[i].env = image, []string{"LLMBENCH_IMAGE=" + image}
		}
	}
	if err == nil {
		sides[0].binaries, err = o.benchmarks(ctx, s, commits[0])
	}
	if err == nil {
		sides[1].source, err = source.SourceState(ctx, o.folder.path)
	}
	if err != nil {
		return sides, clean, err
	}
	sides[1].binaries, sides[0].source = sides[0].binaries, commits[0]
	if o.kind() == "-build" {
		err = o.buildServers(ctx, sides[:], commits)
	}
	for i := range sides {
		sides[i].version = o.Versions[i]
		sides[i].server = strings.Join(append(sides[i].env, o.buildText), "\n")
	}
	if o.kind() != "-build" && sides[0].server == sides[1].server {
		fmt.Fprintln(o.stderr, sameSides)
	}
	return sides, clean, err
}

// benchmarks returns the test binaries that measure both servers. base is the hash of the base commit, or "" if
// there is none.
func (o *servers) benchmarks(ctx context.Context, s suite, base string) ([]binary, error) {
	out := o.folder.join("bench-bin")
	switch o.from {
	case "head":
		if err := hasModule(ctx); err != nil {
			return nil, err
		}
		all, err := s.compileHead(ctx, out)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w\nbenchmarks of another module: -bench-from=FOLDER, or a test binary", err)
		}
		return all, err
	case "base":
		tree, err := source.CheckOut(ctx, base, o.folder.join("_base-src"))
		if err != nil {
			return nil, err
		}
		all, err := s.compileBase(ctx, tree, out)
		if err == nil && len(all) == 0 {
			err = errors.New("-bench-from=base: the base has no tests in these packages")
		}
		return all, err
	}
	path, err := filepath.Abs(o.from)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("-bench-from=%s: want head, base, a folder of a module or a test binary: %w", o.from, err)
	case info.IsDir():
		all, err := s.compile(ctx, path, out)
		if err == nil && len(all) == 0 {
			err = fmt.Errorf("no package of %s has tests", strings.Join(s.packages, " "))
		}
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("-bench-from=%s: %w", o.from, err)
		}
		return all, err
	case !slices.Equal(s.packages, []string{"."}) || len(slices.DeleteFunc(slices.Clone(s.build), func(f string) bool { return f == "-trimpath" })) > 0:
		return nil, fmt.Errorf("-bench-from=%s: the file is a test binary, so want neither packages nor flags of the compiler after --", o.from)
	}
	sum, err := fileSum(path)
	dir, wdErr := os.Getwd()
	return []binary{{pkg: filepath.Base(path), sha256: sum, path: path, dir: dir}}, errors.Join(err, wdErr)
}

// elsewhere says where benchmarks may come from, if the working folder has none.
const elsewhere = "want -bench-from=FILE, the program llmbench of a release or another test binary"

// hasModule returns an error, with advice, if there is no Go to compile benchmarks with, or the working folder is in no
// module.
func hasModule(ctx context.Context) error {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("the working tree cannot be built: there is no program go in PATH: %s", elsewhere)
	}
	mod, workspace, err := moduleOf(ctx, "")
	if err != nil {
		return err
	}
	if (mod == "" || mod == os.DevNull) && !workspace {
		return fmt.Errorf("the working tree cannot be built: it is in no Go module: %s, or -bench-from=FOLDER, a folder of a module", elsewhere)
	}
	return nil
}
