package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
)

// bisectCommits is the number of versions in the repository of a bisection.
const bisectCommits = 30

// bisectUnits gate the TTFT alone: the other units get margins that no version exceeds.
const bisectUnits = `Unit p50-ttft-ns better=lower gate=2%
Unit output-tok/s better=higher gate=99%
Unit mean-tpot-ns better=lower gate=99%
Unit srv-cpu-s/ktok better=lower gate=99%
`

// bisect makes a repository in which one version is slower, and searches that version. It keeps the samples in the
// folder out. The slower version is another one each time.
func (r *repository) bisect(ctx context.Context, o options, out string) (c comparison, err error) {
	g := r.gateways
	slow := 2 + g.bisected*11%(bisectCommits-1)
	g.bisected++
	dir := filepath.Join(r.dir, fmt.Sprint("bisect", g.bisected))
	if err := g.history(ctx, dir, bisectCommits, map[int][2]string{slow: {"checks = 4", "checks = 7"}}); err != nil {
		return c, err
	}
	units := filepath.Join(r.dir, "bisect-units.txt")
	if err := os.WriteFile(units, []byte(bisectUnits), 0o666); err != nil {
		return c, err
	}
	began := time.Now()
	state, output, err := r.run(ctx, dir, g.env(), []string{"bisect", "-good=v1", fmt.Sprintf("-bad=v%d", bisectCommits), "-build=go build -o {out}/gateway .",
		"-command=" + g.command("40ms"), "-bench-from=" + g.scenarios, "-units=" + units, fmt.Sprintf("-n=%d", o.n), "-timeout=5m", "-out=" + out, "--", "-benchtime=1x", "-bench=Serve"})
	if err != nil {
		return c, err
	}
	text, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		return c, fmt.Errorf("benchgate made no report, %v: %w:\n%s", state, err, output)
	}
	var report struct {
		Verdict, Summary string
		Pairs            int
		Commits          []struct{ Commit, Subject string }
		First            string
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return c, err
	}
	c = comparison{kind: bisection, took: time.Since(began), last: report.Summary, finding: noisy}
	c.report = gate.Report{Verdict: gate.Verdict(report.Verdict), Samples: report.Pairs}
	for _, candidate := range report.Commits {
		if report.First == candidate.Commit {
			c.finding = wrong
			if candidate.Subject == fmt.Sprint(slow) {
				c.finding = right
			}
		}
	}
	return c, nil
}
