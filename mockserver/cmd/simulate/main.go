// Simulate runs a load against a simulated server in virtual time and prints what
// would be measured, in Go benchmark format: a plan on paper.
//
// Usage:
//
//	simulate [flags]
//
// The load is closed (-concurrency), open (-rate) or recorded (-trace). Each
// value of a list is a load of its own. The server is a profile of package
// mockserver/profiles, as it is or changed by -engine, once or several times
// behind a router.
//
// The flags are:
//
//	-profile name           or the path of a .json file (mindie-qwen2-72b-910b4)
//	-engine json            changes to its engine, as {"max_batch":64}
//	-concurrency n,...      closed loop (1,8,64)
//	-rate r,...             open loop instead, Poisson, requests a second
//	-trace kind:path        a recorded load instead: azure:PATH or mooncake:PATH
//	-repeat n               the trace so many times, one after the other (1)
//	-requests n             requests in one load (1000)
//	-input n, -output n     lengths in tokens (128; as the profile's curve says)
//	-replicas n,...         so many servers (1)
//	-router name            round-robin, least-outstanding or prefix (round-robin)
//	-seed n                 of arrivals (1)
//
// The exit status is 0 for success, 1 if a load cannot be run, and 2 for bad
// usage.
//
// # Limits
//
// It is as good as the profile: see its held-out error, and do not go far beyond
// the loads that it was fitted on. Client and network cost nothing, nobody gives
// up, replicas are all alike and know nothing of each other, and the router knows
// at once what has ended. The prefix router does not know what a replica has
// dropped from its cache.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
	"golang.org/x/perf/benchfmt"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

type options struct {
	profile, change, concurrency, rate, trace, replicas, router string
	repeat, requests, input, output                             int
	seed                                                        uint64
}

// run is the command; it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	var o options
	fs := flag.NewFlagSet("simulate", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.profile, "profile", "mindie-qwen2-72b-910b4", "`name` of the profile, or the path of a .json file")
	fs.StringVar(&o.change, "engine", "", "changes to its engine, in `json`")
	fs.StringVar(&o.concurrency, "concurrency", "1,8,64", "closed loop, `n,...` at once")
	fs.StringVar(&o.rate, "rate", "", "open loop instead, `r,...` requests a second")
	fs.StringVar(&o.trace, "trace", "", "a recorded load instead, `kind:path`: azure or mooncake")
	fs.IntVar(&o.repeat, "repeat", 1, "the trace `n` times, one after the other")
	fs.IntVar(&o.requests, "requests", 1000, "`n` requests in one load")
	fs.IntVar(&o.input, "input", 128, "prompts of `n` tokens")
	fs.IntVar(&o.output, "output", 0, "outputs of `n` tokens; 0 as the profile's curve says")
	fs.StringVar(&o.replicas, "replicas", "1", "`n,...` servers")
	fs.StringVar(&o.router, "router", "round-robin", "`name`: round-robin, least-outstanding or prefix")
	fs.Uint64Var(&o.seed, "seed", 1, "of arrivals, a whole number `n`")
	err := fs.Parse(args)
	if err == nil && fs.NArg() > 0 {
		err = fmt.Errorf("argument %q: want flags only", fs.Arg(0))
		fmt.Fprintln(stderr, "simulate:", err)
	}
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if err := o.simulate(stdout); err != nil {
		fmt.Fprintln(stderr, "simulate:", err)
		return 1
	}
	return 0
}

// simulate runs every load there is.
func (o options) simulate(w io.Writer) error {
	c, err := mockserver.Load(o.profile)
	if err != nil {
		return err
	}
	if c.Engine == nil {
		return fmt.Errorf("profile %s: has a fixed rate, want one with an engine", o.profile)
	}
	p := *c.Engine
	if o.change != "" {
		if err := json.Unmarshal([]byte(o.change), &p); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
	}
	replicas, err := numbers("replicas", o.replicas)
	if err != nil {
		return err
	}
	out := benchfmt.NewWriter(w)
	for _, n := range replicas {
		if err := o.loads(out, p, int(n)); err != nil {
			return err
		}
	}
	return nil
}

// loads runs the loads on so many replicas.
func (o options) loads(out *benchfmt.Writer, p engine.Profile, replicas int) error {
	l := lengths{p, o.input, o.output}
	one := func(key string, send func(*fleet) error) error {
		f, err := newFleet(p, replicas, o.router)
		if err != nil {
			return err
		}
		if err := send(f); err != nil {
			return err
		}
		name := fmt.Sprintf("Simulate/profile=%s/replicas=%d/router=%s/%s", clean(o.profile), replicas, o.router, key)
		return out.Write(&benchfmt.Result{Name: benchfmt.Name(name), Iters: 1, Values: f.figures.values(f.counts())})
	}
	if o.trace != "" {
		load, err := trace(o.trace, o.repeat, p.Block())
		if err != nil {
			return err
		}
		kind, _, _ := strings.Cut(o.trace, ":")
		return one(fmt.Sprintf("trace=%s/repeat=%d", kind, o.repeat), func(f *fleet) error { return f.openLoop(load) })
	}
	if o.rate != "" {
		rates, err := numbers("rate", o.rate)
		if err != nil {
			return err
		}
		for _, r := range rates {
			if err := one(fmt.Sprintf("rate=%g", r), func(f *fleet) error { return f.openLoop(poisson(l, r, o.requests, o.seed)) }); err != nil {
				return err
			}
		}
		return nil
	}
	all, err := numbers("concurrency", o.concurrency)
	if err != nil {
		return err
	}
	for _, c := range all {
		if err := one(fmt.Sprintf("concurrency=%g", c), func(f *fleet) error { return f.closedLoop(l, int(c), o.requests) }); err != nil {
			return err
		}
	}
	return nil
}

// numbers reads a comma list of numbers above 0.
func numbers(flag, list string) ([]float64, error) {
	var all []float64
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if whole := flag != "rate"; err != nil || !(n > 0 && n <= 1e9) || whole && n != float64(int(n)) {
			return nil, fmt.Errorf("%s: %q, want numbers above 0", flag, text)
		}
		all = append(all, n)
	}
	return all, nil
}

// clean makes a path fit for a benchmark's name.
func clean(path string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' || r == '=' {
			return '_'
		}
		return r
	}, strings.TrimSuffix(path, ".json"))
}
