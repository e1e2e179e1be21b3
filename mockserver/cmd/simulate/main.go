// Simulate runs a load against a simulated server in virtual time and prints what a
// benchmark would measure, in Go benchmark format.
//
// Usage:
//
//	simulate [flags]
//
// The load is a closed loop (-concurrency), an open loop (-rate) or recorded (-trace).
// Each value of a list is a load of its own. The server is a profile of package
// mockserver/internal/profiles, possibly with changes (-engine), in one or more replicas behind
// a router.
//
// The flags are:
//
//	-profile name           or the path of a .json file (mindie-qwen2-72b-910b4)
//	-engine json            changes to its engine, as in {"max_batch":64}
//	-concurrency n,...      closed loop, each n at most -requests (1,8,64)
//	-rate r,...             open loop instead: Poisson arrivals, requests per second
//	-trace kind:path        recorded load instead: azure:PATH or mooncake:PATH
//	-repeat n               repeat the trace that many times (1)
//	-requests n             requests in each load (1000)
//	-input n, -output n     lengths in tokens (128; the distribution of the profile)
//	-replicas n,...         number of servers (1)
//	-router name            round-robin, least-outstanding, prefix or prefix-hash
//	                        (round-robin)
//	-seed n                 seed of the arrivals and, if it is given, of the profile,
//	                        which draws output lengths (1; the profile's)
//
// During a load that takes long, standard error shows the progress. Each result is
// written when its load has ended, so that Ctrl-C leaves the results before it.
//
// The exit status is 0 for success, 1 if a load cannot be run, and 2 for bad
// usage.
//
// # Limits
//
// The results are as accurate as the profile: see its held-out errors, and do not go
// far beyond the loads that it was fitted to. Client and network take no time, and no
// client gives up. Replicas are equal and independent. The router learns at once that
// a request has ended. The prefix router does not learn what a replica drops from its
// cache.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
	"github.com/seed-2b9cec6d/llmbench/mockserver/cmd/internal/command"
	"github.com/seed-2b9cec6d/llmbench/mockserver/engine"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

type options struct {
	profile, change, concurrency, rate, trace, replicas, router string
	repeat, requests, input, output                             int
	seed                                                        uint64

	seeded                                  bool // -seed was given
	eachReplicas, eachRate, eachConcurrency []float64
}

// run runs the command and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	var o options
	return command.Command{
		Name:  "simulate",
		Usage: "[flags]",
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&o.profile, "profile", "mindie-qwen2-72b-910b4", "`name` of the profile, or the path of a .json file")
			fs.StringVar(&o.change, "engine", "", "`json` with changes to the profile's engine")
			fs.StringVar(&o.concurrency, "concurrency", "1,8,64", "closed loop with `n,...` requests at once, each at most -requests")
			fs.StringVar(&o.rate, "rate", "", "open loop instead, with `r,...` requests per second")
			fs.StringVar(&o.trace, "trace", "", "recorded load instead, `kind:path` with the kind azure or mooncake")
			fs.IntVar(&o.repeat, "repeat", 1, "repeat the trace `n` times")
			fs.IntVar(&o.requests, "requests", 1000, "`n` requests in each load")
			fs.IntVar(&o.input, "input", 128, "prompts of `n` tokens")
			fs.IntVar(&o.output, "output", 0, "outputs of `n` tokens; 0 means the distribution of the profile")
			fs.StringVar(&o.replicas, "replicas", "1", "`n,...` servers")
			fs.StringVar(&o.router, "router", "round-robin", "`name`: round-robin, least-outstanding, prefix or prefix-hash")
			fs.Uint64Var(&o.seed, "seed", 1, "seed `n` of the arrivals and, if it is given, of the profile")
		},
		Check: o.usage,
		Do:    func([]string) error { return o.simulate(stdout, stderr) },
	}.Run(args, stderr)
}

// The largest accepted values of a load.
const (
	mostReplicas = 10_000
	mostRequests = 1_000_000_000
)

// usage parses the flags that are lists. It returns an error if the flags or arguments are invalid.
func (o *options) usage(fs *flag.FlagSet) (err error) {
	if fs.NArg() > 0 {
		return fmt.Errorf("argument %q: want flags only", fs.Arg(0))
	}
	set := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { set[f.Name] = true })
	for _, f := range []struct {
		name        string
		value       int
		least, most int
	}{{"requests", o.requests, 1, mostRequests}, {"repeat", o.repeat, 1, mostRequests}, {"input", o.input, 0, 1 << 30}, {"output", o.output, 0, 1 << 30}} {
		if f.value < f.least || f.value > f.most {
			return fmt.Errorf("-%s %d: want %d to %d", f.name, f.value, f.least, f.most)
		}
	}
	for _, pair := range [][2]string{ // the second flag would have no effect if the first is set
		{"trace", "rate"}, {"trace", "concurrency"}, {"rate", "concurrency"}, {"trace", "requests"}, {"trace", "input"}, {"trace", "output"},
	} {
		if set[pair[0]] && set[pair[1]] {
			return fmt.Errorf("-%s and -%s are both set: want only one", pair[0], pair[1])
		}
	}
	if set["repeat"] && o.trace == "" {
		return errors.New("-repeat without -trace")
	}
	if kind, path, _ := strings.Cut(o.trace, ":"); o.trace != "" && (!slices.Contains(traces, kind) || path == "") {
		return fmt.Errorf("-trace %q: want azure:PATH or mooncake:PATH", o.trace)
	}
	if _, err := newRouter(o.router); err != nil {
		return fmt.Errorf("-%w", err)
	}
	o.seeded = set["seed"]
	if o.eachReplicas, err = numbers("replicas", o.replicas, true, mostReplicas); err != nil {
		return err
	}
	if o.rate != "" {
		if o.eachRate, err = numbers("rate", o.rate, false, 1e6); err != nil {
			return err
		}
	}
	if o.eachConcurrency, err = numbers("concurrency", o.concurrency, true, mostRequests); err != nil {
		return err
	}
	for _, c := range o.eachConcurrency {
		if closed := o.rate == "" && o.trace == ""; closed && int(c) > o.requests {
			return fmt.Errorf("-concurrency %d: want at most -requests, %d", int(c), o.requests)
		}
	}
	return nil
}

// simulate runs all loads.
func (o *options) simulate(stdout, stderr io.Writer) error {
	c, err := mockserver.Load(o.profile)
	if err != nil {
		return err
	}
	if c.Engine == nil {
		return fmt.Errorf("profile %s: has a fixed rate: want a profile with an engine", o.profile)
	}
	p := *c.Engine
	if o.change != "" {
		if err := json.Unmarshal([]byte(o.change), &p); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
	}
	if o.seeded {
		p.Seed = o.seed
	}
	out := benchfmt.NewWriter(stdout)
	for _, n := range o.eachReplicas {
		if err := o.loads(out, stderr, p, int(n)); err != nil {
			return err
		}
	}
	return nil
}

// loads runs all loads on the given number of replicas.
func (o *options) loads(out *benchfmt.Writer, stderr io.Writer, p engine.Profile, replicas int) error {
	l := lengths{p, o.input, o.output}
	one := func(key string, send func(f *fleet, report func(string)) error) error {
		f, err := newFleet(p, replicas, o.router)
		if err != nil {
			return err
		}
		last := time.Now()
		report := func(progress string) {
			if time.Since(last) > reportEvery {
				last = time.Now()
				fmt.Fprintf(stderr, "simulate: replicas=%d %s: %s\n", replicas, key, progress)
			}
		}
		if err := send(f, report); err != nil {
			return err
		}
		name := fmt.Sprintf("Simulate/profile=%s/replicas=%d/router=%s/%s", clean(o.profile), replicas, o.router, key)
		return out.Write(&benchfmt.Result{Name: benchfmt.Name(name), Iters: 1, Values: f.figures.values(f.counts())})
	}
	if o.trace != "" {
		load := trace(o.trace, o.repeat, p.Block())
		kind, _, _ := strings.Cut(o.trace, ":")
		return one(fmt.Sprintf("trace=%s/repeat=%d", kind, o.repeat), func(f *fleet, report func(string)) error { return f.openLoop(load, report) })
	}
	for _, r := range o.eachRate {
		if err := one(fmt.Sprintf("rate=%g", r), func(f *fleet, report func(string)) error {
			return f.openLoop(poisson(l, r, o.requests, o.seed), report)
		}); err != nil {
			return err
		}
	}
	if o.rate != "" {
		return nil
	}
	for _, c := range o.eachConcurrency {
		if err := one(fmt.Sprintf("concurrency=%g", c), func(f *fleet, report func(string)) error {
			return f.closedLoop(l, int(c), o.requests, report)
		}); err != nil {
			return err
		}
	}
	return nil
}

// reportEvery is the minimum time between two progress reports.
const reportEvery = 3 * time.Second

// numbers parses a flag's comma-separated list of numbers above 0.
func numbers(flag, list string, whole bool, most float64) ([]float64, error) {
	var all []float64
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(n > 0 && n <= most) || whole && n != math.Trunc(n) {
			kind := "numbers"
			if whole {
				kind = "whole numbers"
			}
			return nil, fmt.Errorf("-%s %q: %q: want %s above 0, to %v", flag, list, text, kind, most)
		}
		all = append(all, n)
	}
	return all, nil
}

// clean replaces the characters of a path that a benchmark name must not contain.
func clean(path string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' || r == '=' {
			return '_'
		}
		return r
	}, strings.TrimSuffix(path, ".json"))
}
