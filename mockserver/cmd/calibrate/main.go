// Calibrate fits a simulated server to a measured one. Package mockserver/internal/profiles
// describes profiles, package mockserver/engine the model, and package
// mockserver/internal/calibrate the fit.
//
// Usage:
//
//	calibrate [flags] profile.json...
//	calibrate -new name [flags] results.txt|records.jsonl...
//
// The first form fits each profile to its load points and writes the engine, the folds
// and the held-out errors back to the file. After Ctrl-C the files of the fits that
// have ended are complete, and the others are unchanged.
//
// The second form makes a profile from the results of a benchmark at several
// concurrencies, fits it and prints it. The results are in Go benchmark format or, in
// files that end in .jsonl, records as llmbench writes them to LLMBENCH_OUT. To change
// what was known before the fit, edit the profile and use the first form. Several
// samples of one load are one point, their median. Records have the length of each
// output; with results, all outputs of a load are assumed to have one length.
//
// Each point is held out alone: it is predicted by an engine that was fitted to the other
// points. Nothing of the point is used for that but what its client set.
//
// The table of held-out errors goes to standard error.
//
// The flags are:
//
//	-new name             make a profile of that name from results
//	-match key=value,...  use the benchmarks with these in their names
//	-requests n           requests in a pass at each point, if the files are not
//	                      records (8 x concurrency, at least 16)
//	-engine json          the known fields of the engine and the initial values of
//	                      the fit ({"max_batch":256,"prefill_seqs":16})
//	-vary name,...        the engine's fields to fit (step_us,step_per_seq_us,
//	                      prefill_us,prefill_per_token_us)
//	-check                do not fit, only predict the points that the folds hold
//	                      out
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
	"path/filepath"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/cmd/internal/command"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/calibrate"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

type options struct {
	name, match, vary, engine string
	requests                  int
	check                     bool
}

// run runs the command and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	var o options
	return command.Command{
		Name:  "calibrate",
		Usage: "[flags] profile.json...\n-new name [flags] results.txt|records.jsonl...",
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&o.name, "new", "", "make a profile of that `name` from results")
			fs.StringVar(&o.match, "match", "", "use the benchmarks with these `key=value,...` in their names")
			fs.StringVar(&o.vary, "vary", "step_us,step_per_seq_us,prefill_us,prefill_per_token_us", "the engine's `fields` to fit")
			fs.IntVar(&o.requests, "requests", 0, "`n` requests in a pass at each point; 0 means 8 x concurrency, at least 16")
			fs.StringVar(&o.engine, "engine", `{"max_batch":256,"prefill_seqs":16}`, "`json` with the known fields of the engine and the initial values of the fit")
			fs.BoolVar(&o.check, "check", false, "do not fit, only predict the points that the folds hold out")
		},
		Check: o.usage,
		Do:    func(files []string) error { return o.do(files, stdout, stderr) },
	}.Run(args, stderr)
}

// fitting prints that a fit begins, because a fit takes seconds.
func fitting(w io.Writer, p profiles.Profile) {
	fmt.Fprintf(w, "fitting %s to %d points\n", p.Name, len(p.Points))
}

// usage returns an error if the flags or arguments are invalid.
func (o *options) usage(fs *flag.FlagSet) error {
	if fs.NArg() == 0 {
		return errors.New("no file: want one or more; see -help")
	}
	if o.requests < 0 {
		return fmt.Errorf("-requests %d: want 0 or more", o.requests)
	}
	for pair := range strings.SplitSeq(o.match, ",") {
		if k, _, ok := strings.Cut(pair, "="); o.match != "" && (!ok || k == "") {
			return fmt.Errorf("-match %q: want key=value, or several with commas between them", o.match)
		}
	}
	var wrong error
	fs.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "match", "requests", "engine", "vary":
			if o.name == "" {
				wrong = fmt.Errorf("-%s without -new: the profile's file has this setting", f.Name)
			}
		case "check":
			if o.name != "" {
				wrong = errors.New("-check with -new: a new profile has no folds")
			}
		}
	})
	return wrong
}

// do fits the profiles in the files, or a new one to the results in the files.
func (o *options) do(files []string, stdout, stderr io.Writer) error {
	if o.name != "" {
		p, err := o.observed(files)
		if err != nil {
			return err
		}
		fitting(stderr, p)
		if p, err = calibrate.Fit(p); err != nil {
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
			fitting(stderr, p)
			if p, err = calibrate.Fit(p); err != nil {
				return err
			}
			if err := replace(file, encode(p)); err != nil {
				return err
			}
		}
		if err := report(stderr, p); err != nil {
			return err
		}
	}
	return nil
}

// observed returns a profile with the load points of the result files. The profile is not fitted yet.
func (o *options) observed(files []string) (profiles.Profile, error) {
	p := profiles.Profile{
		Name: o.name, Source: profiles.Source{Study: "observed", Tool: "llmbench", Lines: strings.Join(files, " ")},
		Known: []string{"Known before the fit: " + o.engine + "."},
		Fit:   profiles.Fit{Vary: strings.Split(o.vary, ","), Start: map[string]float64{}},
	}
	if err := json.Unmarshal([]byte(o.engine), &p.Engine); err != nil {
		return p, fmt.Errorf("engine: %w", err)
	}
	if err := p.Engine.Validate(); err != nil {
		return p, fmt.Errorf("engine.%w", err)
	}
	for _, name := range p.Fit.Vary {
		v, err := calibrate.Field(p.Engine, name)
		if err != nil {
			return p, fmt.Errorf("-vary: %w", err)
		}
		if v > 0 {
			p.Fit.Start[name] = v
		}
	}
	var match []string
	if o.match != "" {
		match = strings.Split(o.match, ",")
	}
	var samples []calibrate.Sample
	for _, file := range files {
		more, err := o.samples(file, match)
		if err != nil {
			return p, err
		}
		samples = append(samples, more...)
	}
	var err error
	if p.Fit.Workloads, p.Points, err = calibrate.Merge(samples); err != nil {
		return p, err
	}
	if len(p.Points) < 2 {
		return p, fmt.Errorf("%s: %d load points: want 2 or more", strings.Join(files, ", "), len(p.Points))
	}
	return p, nil
}

// samples reads a file of benchmark results or of records.
func (o *options) samples(file string, match []string) ([]calibrate.Sample, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !strings.HasSuffix(file, ".jsonl") {
		return calibrate.Results(f, file, match, o.requests)
	}
	s, ok, err := calibrate.Records(f, file, match)
	if err != nil || !ok {
		return nil, err
	}
	return []calibrate.Sample{s}, nil
}

// report prints the held-out errors of a profile.
func report(w io.Writer, p profiles.Profile) error {
	all, err := calibrate.Predict(p)
	if err != nil {
		return err
	}
	calibrate.Summary(w, []string{p.Name}, map[string][]calibrate.Prediction{p.Name: all})
	fmt.Fprintln(w, "\nheld-out points, errors in %:")
	calibrate.Table(w, all)
	if len(p.Fit.Unidentified) > 0 {
		fmt.Fprintf(w, "\nnot identifiable from these points: %s\n", strings.Join(p.Fit.Unidentified, ", "))
	}
	return nil
}

// replace replaces the contents of a file. If it fails, the file is unchanged.
func replace(file string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".calibrate-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// encode returns the JSON of a profile, as in its file.
func encode(p profiles.Profile) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(p); err != nil {
		panic(err) // a Profile has only numbers, strings and booleans
	}
	return b.Bytes()
}
