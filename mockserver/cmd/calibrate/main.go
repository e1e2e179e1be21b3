// Calibrate fits a simulated server to a measured one. See package
// mockserver/profiles for what a profile is, and mockserver/engine for the model.
//
// Usage:
//
//	calibrate [flags] profile.json...
//	calibrate -new name [flags] results.txt|records.jsonl...
//
// The first form fits each profile to the load points that it holds, beginning
// with the engine in it, and writes engine, folds and held-out errors back to the
// file. The second makes a profile out of the results of a benchmark that was run
// at several concurrencies, in Go benchmark format or as LLMBENCH_OUT has them,
// fits it, and prints it; to refine what it was told, edit the file and use the
// first form.
//
// Every fit begins at the profile's fit.start, so that no fold's engine has seen
// the points that it predicts.
//
// The table of held-out errors goes to standard error.
//
// The flags are:
//
//	-new name             make a profile of that name
//	-match key=value,...  of the benchmarks, those with these in their names
//	-requests n           requests in one pass at each point (8 x concurrency, at
//	                      least 16; records tell themselves)
//	-engine json          what is known of the server, and where the fit begins
//	                      ({"max_batch":256,"prefill_seqs":16})
//	-vary name,...        the engine's fields to fit (step_us,step_per_seq_us,
//	                      prefill_us,prefill_per_token_us)
//	-folds k              hold out each k-th point in turn (2)
//	-check                fit nothing, only predict what the folds hold out
//
// The exit status is 0 for success, 1 if a file cannot be read, fitted or
// written, and 2 for bad usage.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/calibrate"
	"github.com/seed-2b9cec6d/llmbench/mockserver/profiles"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

type options struct {
	name, match, vary, engine string
	requests, folds           int
	check                     bool
}

// run is the command; it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	var o options
	fs := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.name, "new", "", "make a profile of that `name` out of results")
	fs.StringVar(&o.match, "match", "", "of the benchmarks, those with these `key=value,...` in their names")
	fs.StringVar(&o.vary, "vary", "step_us,step_per_seq_us,prefill_us,prefill_per_token_us", "the engine's `fields` to fit")
	fs.IntVar(&o.requests, "requests", 0, "`n` requests in one pass at each point (8 x concurrency, at least 16)")
	fs.StringVar(&o.engine, "engine", `{"max_batch":256,"prefill_seqs":16}`, "what is known of the server, in `json`, and where the fit begins")
	fs.IntVar(&o.folds, "folds", 2, "hold out each `k`-th point in turn")
	fs.BoolVar(&o.check, "check", false, "fit nothing, only predict what the folds hold out")
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if fs.NArg() == 0 || o.folds < 2 {
		fmt.Fprintln(stderr, "calibrate: want files, and 2 folds or more; -help tells")
		return 2
	}
	if err := o.do(fs.Args(), stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "calibrate:", err)
		return 1
	}
	return 0
}

func (o options) do(files []string, stdout, stderr io.Writer) error {
	if o.name != "" {
		p, err := o.observed(files)
		if err != nil {
			return err
		}
		if p, err = calibrate.Fit(p, o.folds); err != nil {
			return err
		}
		if err := report(stderr, p); err != nil {
			return err
		}
		_, err = stdout.Write(encode(p))
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		p, err := profiles.Parse(data)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if !o.check {
			if p, err = calibrate.Fit(p, o.folds); err != nil {
				return err
			}
			if err := os.WriteFile(file, encode(p), 0o666); err != nil {
				return err
			}
		}
		if err := report(stderr, p); err != nil {
			return err
		}
	}
	return nil
}

// observed makes a profile out of results, not yet fitted.
func (o options) observed(files []string) (profiles.Profile, error) {
	p := profiles.Profile{
		Name: o.name, Source: profiles.Source{Study: "observed", Tool: "llmbench", Lines: strings.Join(files, " ")},
		Known: []string{"The engine that the fit began with: " + o.engine + "."},
		Fit: profiles.Fit{
			Vary:      strings.Split(o.vary, ","),
			Workloads: []profiles.Workload{{Name: "load", Client: "closed", Constant: true}},
		},
	}
	if err := json.Unmarshal([]byte(o.engine), &p.Engine); err != nil {
		return p, fmt.Errorf("engine: %w", err)
	}
	if err := p.Engine.Validate(); err != nil {
		return p, fmt.Errorf("engine.%w", err)
	}
	var match []string
	if o.match != "" {
		match = strings.Split(o.match, ",")
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return p, err
		}
		defer f.Close()
		if strings.HasSuffix(file, ".jsonl") {
			pt, err := calibrate.Records(f, file)
			if err != nil {
				return p, err
			}
			p.Points = append(p.Points, pt)
			continue
		}
		points, err := calibrate.Results(f, file, match, o.requests)
		if err != nil {
			return p, err
		}
		p.Points = append(p.Points, points...)
	}
	if len(p.Points) < 2 {
		return p, fmt.Errorf("%s: %d load points, want 2 or more", strings.Join(files, ", "), len(p.Points))
	}
	slices.SortStableFunc(p.Points, func(a, b profiles.Point) int { return a.Concurrency - b.Concurrency })
	return p, nil
}

// report prints a profile's held-out errors.
func report(w io.Writer, p profiles.Profile) error {
	all, err := calibrate.Predict(p)
	if err != nil {
		return err
	}
	calibrate.Summary(w, []string{p.Name}, map[string][]calibrate.Prediction{p.Name: all})
	fmt.Fprintln(w, "\nheld-out points, off by %:")
	calibrate.Table(w, all)
	if len(p.Fit.Unidentified) > 0 {
		fmt.Fprintf(w, "\nnot identifiable from these points: %s\n", strings.Join(p.Fit.Unidentified, ", "))
	}
	return nil
}

// encode is a profile as its file holds it.
func encode(p profiles.Profile) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p); err != nil {
		panic(err) // numbers and strings: cannot happen
	}
	return b.Bytes()
}
