// Mockserver simulates an LLM inference server with a known token rate. Package
// mockserver describes the paths and the timing of the server.
//
// Usage:
//
//	mockserver [flags]
//	mockserver version
//
// When the server listens, the command prints one line with the server's URL to standard
// error. With -replicas there is a line for each server. On SIGINT or SIGTERM the server
// refuses new connections, waits up to 5 s for the requests in flight, closes the remaining
// connections and ends.
//
// The flags are:
//
//	-addr host:port         listen there; port 0 chooses a free port (127.0.0.1:8000)
//	-cert file              speak TLS, with the certificate in this PEM file
//	-key file               the key of -cert, in PEM
//	-profile name           default, speculative, prefix-cache, one of package
//	                        profiles, or the path of a .json file
//	-speed factor           run faster than real time by this factor
//	-ttft duration          time to the first token of an empty prompt
//	-per-prompt-token dur.  time added to -ttft for each token of the prompt
//	-per-token duration     time from one token to the next
//	-slots n                serve n sequences at a time; 0 means no limit
//	-jitter share           vary each interval by up to this share, 0 to 1
//	-seed n                 seed of the jitter
//	-flavor name            server whose format POST /generate has: tgi, sglang,
//	                        lmdeploy, vllm or mindie; without it the body of each
//	                        request decides
//	-lora name,...          LoRA adapters; /metrics then has vllm:lora_requests_info
//	-max-lora n             the label max_lora of that metric; 0 means all
//	-retry-after duration   header Retry-After of answers with status 429 and 503
//	-shape name,...         what a stream looks like; may be repeated
//	-fault kind[,every=N][,share=P][,seed=N][,above=N][,at=K][,size=N]
//	                        make requests go wrong: every N-th, or a share P; only
//	                        while more than N are in flight; at token K. May be
//	                        repeated: the first fault that applies to a request
//	                        occurs
//	-replicas n             serve n servers on successive ports (1)
//	-replica i:flag=value   another value of a flag for replica i, counted from 1,
//	                        as in 2:speed=0.5 or 3:fault=die,every=100; may be
//	                        repeated. A fault comes in addition to the faults of -fault
//
// Each replica has its own queue, metrics and log, and its own engine and prefix cache if
// the profile has them.
//
// Clients may speak HTTP/1.1 and HTTP/2, the latter with TLS or with prior knowledge (h2c).
//
// A flag replaces the profile's value. The flag -help lists the shapes and the kinds of
// faults.
//
// The exit status is 0 after a signal, 1 if the server cannot listen on the address, and 2
// for bad usage or a bad profile.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/cmd/internal/command"
	"github.com/seed-2b9cec6d/llmbench/mockserver/fault"
	"github.com/seed-2b9cec6d/llmbench/mockserver/shape"
)

// grace is how long the command waits for requests in flight after a signal.
const grace = 5 * time.Second

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A signal more than a second later ends the process at once. Two may come together: timeout sends one to the
	// process and one to its process group.
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, cancel) })
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes the command. It serves until ctx ends and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 1 && slices.Contains([]string{"version", "-version", "--version"}, args[0]) {
		io.WriteString(stdout, command.Version("mockserver"))
		return 0
	}
	o, err := parse(args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "mockserver:", err)
		return 2
	}
	f, err := mockserver.NewFleet(o.replicas...)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	urls, stop, err := f.ListenTLS(o.addr, o.tls)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	for _, url := range urls {
		fmt.Fprintf(stderr, "mockserver: serving %s\n", url)
	}
	<-ctx.Done()
	stop(grace)
	return 0
}

type options struct {
	addr     string
	cert     string // files of the certificate and its key
	key      string
	tls      *tls.Config // nil without TLS
	config   mockserver.Config
	count    int                 // number of replicas
	changes  []change            // flags of single replicas
	replicas []mockserver.Config // the configuration of each replica
}

// A change is the value of a flag for one replica.
type change struct {
	replica     int // from 1
	name, value string
}

// parse reads the command line. It prints help to stdout, and usage after an error to stderr.
func parse(args []string, stdout, stderr io.Writer) (options, error) {
	var o options
	fs, profile := o.flags()
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			help(stdout, fs)
		} else {
			usage(stderr, fs)
		}
		return o, err
	}
	if fs.NArg() > 0 {
		usage(stderr, fs)
		return o, fmt.Errorf("argument %q: want flags only", fs.Arg(0))
	}
	c, err := mockserver.Load(*profile)
	if err != nil {
		return o, err
	}
	fs.Visit(func(f *flag.Flag) { // these replace the profile's value, and add to one another
		switch f.Name {
		case "shape":
			c.Shape = shape.Shape{}
		case "fault":
			c.Faults = nil
		}
	})
	o.config = c
	o.changes = nil
	fs, _ = o.flags() // which are now values for the profile
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.cert != "" || o.key != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return o, fmt.Errorf("-cert=%s -key=%s: %w: want a certificate and its key in PEM", o.cert, o.key, err)
		}
		o.tls = &tls.Config{Certificates: []tls.Certificate{pair}}
	}
	return o, o.divide()
}

// mostReplicas is the largest number of replicas.
const mostReplicas = 1000

// divide sets the configuration of each replica.
func (o *options) divide() error {
	if o.count < 1 || o.count > mostReplicas {
		return fmt.Errorf("-replicas=%d: want 1 to %d", o.count, mostReplicas)
	}
	for i := range o.count {
		r := options{config: o.config}
		r.config.Faults = slices.Clip(r.config.Faults) // so that replicas share no further faults
		fs, _ := r.flags()
		for _, c := range o.changes {
			if c.replica != i+1 {
				continue
			}
			if err := fs.Set(c.name, c.value); err != nil {
				return fmt.Errorf("-replica=%d:%s=%s: %w", c.replica, c.name, c.value, err)
			}
		}
		o.replicas = append(o.replicas, r.config)
	}
	for _, c := range o.changes {
		if c.replica < 1 || c.replica > o.count {
			return fmt.Errorf("-replica=%d:%s=%s: want a replica from 1 to -replicas, which is %d", c.replica, c.name, c.value, o.count)
		}
	}
	return nil
}

// ofFleet are the flags that have one value for all replicas.
var ofFleet = []string{"addr", "cert", "key", "profile", "replicas", "replica"}

// parseChange reads the value of -replica, such as 2:speed=0.5.
func parseChange(text string) (c change, err error) {
	number, setting, _ := strings.Cut(text, ":")
	c.name, c.value, _ = strings.Cut(setting, "=")
	if c.replica, err = strconv.Atoi(number); err != nil || c.name == "" || slices.Contains(ofFleet, c.name) {
		return c, errors.New("want a number and a flag other than " + strings.Join(ofFleet, ", ") + ", as in 2:speed=0.5")
	}
	return c, nil
}

// flags returns the flags. Their default values are the values in o, and parsing changes o.
func (o *options) flags() (fs *flag.FlagSet, profile *string) {
	fs = flag.NewFlagSet("mockserver", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.addr, "addr", "127.0.0.1:8000", "listen on `host:port`; port 0 chooses a free port")
	fs.StringVar(&o.cert, "cert", "", "speak TLS with the certificate in this PEM `file`, together with -key")
	fs.StringVar(&o.key, "key", "", "PEM `file` with the key of -cert")
	fs.IntVar(&o.count, "replicas", max(o.count, 1), "serve `n` servers on successive ports, each with its own engine, prefix cache, queue, metrics and log")
	fs.Func("replica", "another value of a flag for one replica, `i:flag=value` with i from 1, as in 2:speed=0.5 or 3:fault=die,every=100; may be repeated", func(v string) error {
		c, err := parseChange(v)
		o.changes = append(o.changes, c)
		return err
	})
	profile = fs.String("profile", "default", "`name` of the profile: default, speculative, prefix-cache, a measured server, or the path of a .json file")
	c := &o.config
	fs.Float64Var(&c.Speed, "speed", c.Speed, "run faster than real time by this `factor`")
	fs.DurationVar(&c.TTFT, "ttft", c.TTFT, "time to the first token of an empty prompt")
	fs.DurationVar(&c.PerPromptToken, "per-prompt-token", c.PerPromptToken, "time added to -ttft for each token of the prompt")
	fs.DurationVar(&c.PerToken, "per-token", c.PerToken, "time from one token to the next")
	fs.IntVar(&c.Slots, "slots", c.Slots, "serve `n` sequences at a time; 0 means no limit")
	fs.Float64Var(&c.Jitter, "jitter", c.Jitter, "vary each interval by up to this `share`, 0 to 1")
	fs.Uint64Var(&c.Seed, "seed", c.Seed, "seed `n` of the jitter")
	fs.Func("flavor", "`name` of the server whose POST /generate this is: tgi, sglang, lmdeploy, vllm or mindie; without it the body of each request decides", func(v string) error {
		c.Flavor = mockserver.Flavor(v)
		return nil
	})
	fs.Func("lora", "LoRA adapters, as a `list` of names", func(v string) error {
		c.LoRA = strings.Split(v, ",")
		return nil
	})
	fs.IntVar(&c.MaxLoRA, "max-lora", c.MaxLoRA, "`n` adapters in a batch, for the metric vllm:lora_requests_info only; 0 means all of -lora")
	fs.DurationVar(&c.RetryAfter, "retry-after", c.RetryAfter, "header Retry-After of answers with status 429 and 503; 0 means 1s for 429 and none for 503")
	fs.Func("shape", "what a stream looks like, as a `list` of the names below; may be repeated", c.Shape.Set)
	fs.Func("fault", "make requests go wrong: `kind[,every=N][,share=P][,seed=N][,above=N][,at=K][,size=N]`; may be repeated: the first fault that applies to a request occurs", func(v string) error {
		f, err := fault.Parse(v)
		c.Faults = append(c.Faults, f)
		return err
	})
	return fs, profile
}

// usage prints the flags.
func usage(w io.Writer, fs *flag.FlagSet) {
	fmt.Fprintln(w, "usage: mockserver [flags]\n       mockserver version\nA flag replaces the profile's value.")
	fs.SetOutput(w)
	fs.PrintDefaults()
}

// help prints the flags, the shapes and the faults.
func help(w io.Writer, fs *flag.FlagSet) {
	usage(w, fs)
	list(w, "shapes", shape.Names())
	list(w, "faults", fault.Names())
	fmt.Fprintln(w, "\nWith every=N a fault applies to every N-th request; with share=P it applies to a random share P of the\n"+
		"requests, drawn with seed=N; without either it applies to all. With above=N it applies only while more than N\n"+
		"requests are in flight. The fault occurs at token at=K, counted from 0. A long-line has size=N bytes.")
}

// list prints names and what they do.
func list(w io.Writer, title string, names iter.Seq2[string, string]) {
	fmt.Fprintf(w, "\n%s:\n", title)
	for name, doc := range names {
		fmt.Fprintf(w, "\t%-22s%s\n", name, doc)
	}
}
