package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/profiles"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/testkit/flagdoc"
)

// results returns benchmark results at the given concurrencies. The decode step of the server takes 20 ms plus
// 0.5 ms per sequence.
func results(concurrencies ...int) string {
	var b strings.Builder
	for _, c := range concurrencies {
		step := 20 + .5*float64(c)
		e2e := 100 + 31*step
		fmt.Fprintf(&b, "BenchmarkServe/backend=x/stream=true/concurrency=%d-2 1 64 in-tok/req 32 out-tok/req %.4f req/s %.4f output-tok/s %.0f mean-tpot-ns %.0f p50-e2e-ns\n",
			c, float64(c)/e2e*1000, 32*float64(c)/e2e*1000, step*1e6, e2e*1e6)
	}
	return b.String()
}

// TestCalibrate checks that -new makes a profile from results, and that -check prints the same table for that
// profile.
func TestCalibrate(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "r.txt"), filepath.Join(dir, "p.json")
	if err := os.WriteFile(in, []byte(results(1, 2, 4, 8)), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if status := run([]string{"-new", "x", "-match", "backend=x", "-vary", "step_us,step_per_seq_us,prefill_us", in}, &stdout, &stderr); status != 0 {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	p, err := profiles.Parse(stdout.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "x" || len(p.Points) != 4 || len(p.Folds) != 4 || len(p.HeldOut) == 0 {
		t.Errorf("the profile is %+v, want x with 4 points and 4 folds", p)
	}
	if math.Abs(p.Engine.Step/20_000-1) > .1 {
		t.Errorf("step_us = %v, want about 20000", p.Engine.Step)
	}
	if !strings.Contains(stderr.String(), "held-out points, errors in %:") {
		t.Errorf("the table is %q, want the held-out points", stderr.String())
	}
	if err := os.WriteFile(out, stdout.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(stderr.String(), "fitting x to 4 points\n")
	stderr.Reset()
	if status := run([]string{"-check", out}, &stdout, &stderr); status != 0 || stderr.String() != table {
		t.Errorf("-check: status %d, %s, want the same table:\n%s", status, stderr.String(), table)
	}
}

func TestBadUsage(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, 2, "no file: want one or more"},
		{[]string{"-new", "x", "-requests", "-1", "x"}, 2, "-requests -1: want 0 or more"},
		{[]string{"-new", "x", "-match", "backend", "x"}, 2, `-match "backend": want key=value`},
		{[]string{"-vary", "step_us", "x"}, 2, "-vary without -new"},
		{[]string{"-new", "x", "-check", "x"}, 2, "-check with -new"},
		{[]string{"-new", "x", write("f.jsonl", "{\n")}, 1, "f.jsonl:1: want the line about the benchmark"},
		{[]string{"-speed", "1", "x"}, 2, "flag provided but not defined"},
		{[]string{"-help"}, 0, "usage: calibrate [flags] profile.json...\n       calibrate -new name [flags] results.txt|records.jsonl...\n\n  -check"},
		{[]string{filepath.Join(dir, "none.json")}, 1, "none.json: no such file"},
		{[]string{write("a.json", `{"engine":{"max_batch":0}}`)}, 1, "engine.max_batch: 0: want 1 to"},
		{[]string{write("b.json", `{"name":"b","engine":{"max_batch":1}}`)}, 1, "profile b: points: none: want one or more"},
		{[]string{"-new", "x", write("c.txt", results(1))}, 1, "1 load points: want 2 or more"},
		{[]string{"-new", "x", "-engine", `{"max_batch":0}`, write("e.txt", results(1, 2))}, 1, "engine.max_batch: 0: want 1 to"},
		{[]string{"-new", "x", "-vary", "speed", write("d.txt", results(1, 2))}, 1, `-vary: "speed": want one of step_us`},
	} {
		var stdout, stderr bytes.Buffer
		if status := run(tt.args, &stdout, &stderr); status != tt.status || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("calibrate %v: status %d, %q, want %d and %q", tt.args, status, stderr.String(), tt.status, tt.want)
		}
	}
}

// The command's documentation has the same flags as -help.
func TestDocumentedFlags(t *testing.T) { flagdoc.Test(t, run) }
