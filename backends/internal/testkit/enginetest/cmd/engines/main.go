// Engines installs, starts, checks and lists the engines of package enginetest. People run it as .ci/engines.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/enginetest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

const usage = `usage: go run ./.ci/engines [-gateways] [flags] [NAME... | all]

Without a flag, the engines are installed if they are missing, started, and stopped by Ctrl-C.
Without a name, -install, -check and -record mean the engines that .ci/run runs each time.
With -gateways, the names are of gateways and routers, which can be installed and checked.
Installations are kept in LLMBENCH_CACHE or in the user's cache folder. The exit status is 3
if this machine cannot install an engine.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, os.Args[1:]); {
	case err == nil:
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, need.ErrUnavailable):
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	default:
		fmt.Fprintln(os.Stderr, "engines:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("engines", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	list := flags.Bool("list", false, "print all engines")
	install := flags.Bool("install", false, "only install")
	check := flags.Bool("check", false, "install, and run the tests of the contract")
	gateways := flags.Bool("gateways", false, "gateways and routers, in place of engines")
	record := flags.Bool("record", false, "install, and record the answers that are test data")
	update := flags.Bool("update", false, "with -check, write what was run into the documents")
	var o enginetest.Options
	flags.StringVar(&o.Addr, "addr", "", "`host:port` to listen on, for one engine (a free port)")
	flags.StringVar(&o.Key, "key", "", "`key` that clients must send")
	verbose := flags.Bool("v", false, "print the engine's log on stderr")
	if err := flags.Parse(args); err != nil {
		return err
	}
	table, test := enginetest.Engines, "TestContract"
	if *gateways {
		table, test = nil, "TestGateways"
		for _, g := range enginetest.Gateways {
			table = append(table, g.Engine)
		}
	}
	engines, err := choose(table, flags.Args(), *install || *check || *record)
	switch {
	case *list:
		return printList(os.Stdout, table)
	case err != nil:
		return err
	case *gateways && !*install && !*check:
		return errors.New("-gateways: want -list, -install or -check")
	case o.Addr != "" && len(engines) > 1:
		return fmt.Errorf("-addr=%s: want one engine, not %d", o.Addr, len(engines))
	}
	if err := installAll(ctx, engines); err != nil || *install {
		return err
	}
	if *verbose {
		o.Log = os.Stderr
	}
	switch {
	case *record:
		return goTest(ctx, engines, "TestRecord", "-record")
	case *check && *update:
		return goTest(ctx, engines, test, "-demand", "-update")
	case *check:
		return goTest(ctx, engines, test, "-demand")
	}
	return serve(ctx, engines, o)
}

// choose returns the engines of a table with the names. Without names, it returns the engines that are run each
// time, if there is a default.
func choose(table []enginetest.Engine, names []string, each bool) (engines []enginetest.Engine, err error) {
	if len(names) == 0 && !each {
		return nil, errors.New("want the name of an engine, or a flag; -list has the names, and -help the flags")
	}
	for _, e := range table {
		if len(names) == 1 && names[0] == "all" || len(names) == 0 && e.Each {
			engines = append(engines, e)
		}
	}
	if len(engines) > 0 {
		return engines, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(table, func(e enginetest.Engine) bool { return e.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q: want a name of -list, or all", name)
		}
		engines = append(engines, table[i])
	}
	return engines, nil
}

// installAll installs the engines that are missing. It returns the errors of all that it cannot install.
func installAll(ctx context.Context, engines []enginetest.Engine) error {
	var all []error
	for _, e := range engines {
		began := time.Now()
		dir, err := e.Install(ctx)
		if err == nil {
			fmt.Fprintf(os.Stderr, "%s %s is installed after %.0f s: %s\n", e.Name, e.Version, time.Since(began).Seconds(), dir)
		}
		all = append(all, err)
	}
	return join(all)
}

// join joins errors. The result wraps [need.ErrUnavailable] only if all of them do: a wrong sum or a full disk must not
// pass as a machine that lacks something.
func join(all []error) error {
	failed := false
	for _, err := range all {
		failed = failed || err != nil && !errors.Is(err, need.ErrUnavailable)
	}
	err := errors.Join(all...)
	if failed {
		return errors.New(err.Error())
	}
	return err
}

// serve starts the engines, and stops them when ctx ends.
func serve(ctx context.Context, engines []enginetest.Engine, o enginetest.Options) error {
	var servers []*enginetest.Server
	var err error
	for _, e := range engines {
		s, one := e.Run(ctx, o)
		if one != nil {
			err = one
			break
		}
		servers = append(servers, s)
		fmt.Printf("%s\n    LLMBENCH_URL=%[1]s LLMBENCH_NAME=%s go test -run='^$' -bench=Serve -benchtime=1x ./scenarios\n", s.URL, e.Name)
	}
	ended := make(chan struct{}, len(servers))
	for _, s := range servers {
		go func() { <-s.Done(); ended <- struct{}{} }()
	}
	if err == nil {
		select {
		case <-ctx.Done():
		case <-ended:
		}
	}
	for _, s := range servers {
		err = errors.Join(err, s.Close())
	}
	return err
}

// goTest runs a test of package enginetest for each of the engines.
func goTest(ctx context.Context, engines []enginetest.Engine, test string, args ...string) error {
	var names []string
	for _, e := range engines {
		names = append(names, e.Name)
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-count=1", "-v", "-timeout=60m", "-run=^" + test + "$/^(" + strings.Join(names, "|") + ")$",
		"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/enginetest"}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// printList prints all engines of a table.
func printList(w io.Writer, table []enginetest.Engine) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tVERSION\tRUN\tINSTALLED\tWHAT")
	for _, e := range table {
		when, installed := "on demand", "no"
		if e.Each {
			when = "each time"
		}
		if dir, err := e.Installed(); err == nil {
			installed = fmt.Sprintf("%d MB", size(dir)/1e6)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", e.Name, e.Version, when, installed, e.Title)
	}
	return t.Flush()
}

// size returns the number of bytes of the files in a folder, as far as they can be read.
func size(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
