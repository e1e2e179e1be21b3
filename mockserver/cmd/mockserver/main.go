// Mockserver simulates an LLM inference server with a known token rate. See package mockserver for what it serves and how it keeps time.
//
// Usage:
//
//	mockserver [flags]
//
// It prints one line with its URL to standard error once it listens, and serves
// until it gets SIGINT or SIGTERM: then it takes no more connections, lets the
// requests in flight end for up to 5 s, and cuts off the rest.
//
// The flags are:
//
//	-addr host:port         listen there; port 0 chooses a free one (127.0.0.1:8000)
//	-profile name           default, one of package profiles, or the path of a
//	                        .json file
//	-speed factor           run so many times faster than real time
//	-ttft duration          time to the first token of an empty prompt
//	-per-prompt-token dur.  added to it for every prompt token
//	-per-token duration     time from one token to the next
//	-slots n                sequences served at once; 0 is no limit
//	-jitter share           vary each interval by up to this share, 0 to 1
//	-seed n                 seed of the jitter
//	-flavor name            whose POST /generate it is: tgi, sglang, lmdeploy,
//	                        vllm or mindie; without it the body decides
//	-shape name,...         what a stream looks like; may be repeated
//	-fault kind[,every=N][,share=P][,seed=N][,at=K][,size=N]
//	                        spoil every N-th request, or a share of them, at token
//	                        K; may be repeated, the first that hits a request does
//
// A flag that is given replaces the profile's value. The names of shapes and the
// kinds of faults are listed by -help.
//
// The exit status is 0 after a signal, 1 if the address cannot be listened on,
// and 2 for bad usage or a bad profile.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// grace is how long requests in flight may take to end after a signal.
const grace = 5 * time.Second

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, cancel) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the command; it serves until ctx ends and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "mockserver:", err)
		return 2
	}
	s, err := mockserver.New(o.config)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	url, stop, err := mockserver.Listen(o.addr, s)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	fmt.Fprintf(stderr, "mockserver: serving %s\n", url)
	<-ctx.Done()
	stop(grace)
	return 0
}

type options struct {
	addr   string
	config mockserver.Config
}

// parse reads the command line. Help goes to stdout, usage after a mistake to
// stderr.
func parse(args []string, stdout, stderr io.Writer) (options, error) {
	var set mockserver.Config // what the flags say
	fs := flag.NewFlagSet("mockserver", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	addr := fs.String("addr", "127.0.0.1:8000", "listen on `host:port`; port 0 chooses a free one")
	profile := fs.String("profile", "default", "`name` of the profile: default, one of package profiles, or the path of a .json file")
	fs.Float64Var(&set.Speed, "speed", 0, "run so many times faster than real time, by this `factor`")
	fs.DurationVar(&set.TTFT, "ttft", 0, "time to the first token of an empty prompt")
	fs.DurationVar(&set.PerPromptToken, "per-prompt-token", 0, "added to it for every prompt token")
	fs.DurationVar(&set.PerToken, "per-token", 0, "time from one token to the next")
	fs.IntVar(&set.Slots, "slots", 0, "`n` sequences are served at once; 0 is no limit")
	fs.Float64Var(&set.Jitter, "jitter", 0, "vary each interval by up to this `share`, 0 to 1")
	fs.Uint64Var(&set.Seed, "seed", 0, "seed of the jitter, a whole number `n`")
	fs.Func("flavor", "whose POST /generate it is, by `name`: tgi, sglang, lmdeploy, vllm or mindie; without it the body decides", func(v string) error {
		set.Flavor = mockserver.Flavor(v)
		return nil
	})
	fs.Func("shape", "what a stream looks like, by a `list` of the names below; may be repeated", set.Shape.Set)
	fs.Func("fault", "spoil requests: `kind[,every=N][,share=P][,seed=N][,at=K][,size=N]`; may be repeated, the first that hits a request does", func(v string) error {
		f, err := fault.Parse(v)
		set.Faults = append(set.Faults, f)
		return err
	})

	usage := func(w io.Writer) {
		fmt.Fprintln(w, "usage: mockserver [flags]\nA flag that is given replaces the profile's value.")
		fs.SetOutput(w)
		fs.PrintDefaults()
	}
	help := func(w io.Writer) {
		usage(w)
		list(w, "shapes", shape.Names())
		list(w, "faults", fault.Names())
		fmt.Fprintln(w, "\nEvery N-th request is hit, all without every=N; share=P hits that share of them instead, drawn with seed=N.\nThe token that is struck is at=K, counted from 0; size=N is that of a long-line in bytes.")
	}
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			help(stdout)
		} else {
			usage(stderr)
		}
		return options{}, err
	}
	if fs.NArg() > 0 {
		usage(stderr)
		return options{}, fmt.Errorf("argument %q: want flags only", fs.Arg(0))
	}
	c, err := mockserver.Load(*profile)
	if err != nil {
		return options{}, err
	}
	fs.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "speed":
			c.Speed = set.Speed
		case "ttft":
			c.TTFT = set.TTFT
		case "per-prompt-token":
			c.PerPromptToken = set.PerPromptToken
		case "per-token":
			c.PerToken = set.PerToken
		case "slots":
			c.Slots = set.Slots
		case "jitter":
			c.Jitter = set.Jitter
		case "seed":
			c.Seed = set.Seed
		case "flavor":
			c.Flavor = set.Flavor
		case "shape":
			c.Shape = set.Shape
		case "fault":
			c.Faults = set.Faults
		}
	})
	return options{*addr, c}, nil
}

// list prints names and what they mean.
func list(w io.Writer, title string, names iter.Seq2[string, string]) {
	fmt.Fprintf(w, "\n%s:\n", title)
	for name, doc := range names {
		fmt.Fprintf(w, "\t%-22s%s\n", name, doc)
	}
}
