package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compat"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// report writes the report's page and, if asked for, its pictures.
func (o *options) report(stdout, stderr io.Writer) error {
	opts := report.Options{Title: o.title, Command: o.command, Parts: []string{}, Prices: o.prices}
	if o.slo != "" {
		limits, err := sample.ParseSLO(o.slo)
		if err != nil {
			return fmt.Errorf("-slo %w", err)
		}
		opts.SLO = limits
	}
	for part := range strings.SplitSeq(o.parts, ",") {
		if part = strings.TrimSpace(part); part != "" {
			opts.Parts = append(opts.Parts, part)
		}
	}
	paths := o.paths
	if o.base != "" {
		verdict, err := o.judge()
		if err != nil {
			return err
		}
		opts.Verdict = verdict
		paths = append([]string{o.base}, paths...)
	}
	data, err := report.Read(paths...)
	if err != nil {
		return err
	}
	r, err := report.New(data, opts)
	if err != nil {
		return err
	}
	var page bytes.Buffer // complete in memory first, so that an error leaves no partial page
	switch o.format {
	case "text":
		page.WriteString(redact.Printable(r.Text()))
	case "md":
		page.WriteString(redact.Printable(r.Markdown()))
	case "json":
		if err := r.JSON(&page); err != nil {
			return err
		}
	default:
		if err := r.HTML(&page); err != nil {
			return err
		}
	}
	pictures := 0 // the number of files
	if o.pictures != "" {
		if pictures, err = write(r, o.pictures); err != nil {
			return err
		}
	}
	drawn := fmt.Sprintf("%d files of pictures to %s", pictures, o.pictures)
	if o.out == "-" {
		if o.pictures != "" {
			fmt.Fprintln(stderr, "benchreport: wrote", drawn)
		}
		_, err := stdout.Write(page.Bytes())
		return err
	}
	if err := os.WriteFile(o.out, page.Bytes(), 0o666); err != nil {
		return err
	}
	said := "wrote " + o.out
	if o.pictures != "" {
		said += ", and " + drawn
	}
	if o.format == "html" {
		said = redact.Printable(r.Text()) + "\n" + said
	}
	_, err = fmt.Fprintln(stdout, said)
	return err
}

// judge compares the benchmark file among the paths with the file of -base. There must be exactly one such
// file.
func (o *options) judge() (*gate.Report, error) {
	found, err := o.benchmarks()
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("-base %s: %d benchmark files: want one to compare, or a folder or a pattern in quotes with samples of another tool", o.base, len(found))
	}
	sides, texts, err := resultfile.ReadSides([]string{o.base, found[0]}, resultfile.Options{Ignore: gate.Ignored()})
	if err != nil {
		return nil, err
	}
	file := func(i int) gate.File {
		return gate.File{Name: sides[i].Path, Data: bytes.NewBuffer(texts[i].Bytes)}
	}
	return gate.Compare(gate.File{}, file(0), file(1), gate.Options{RequireQuiet: true})
}

// benchmarks returns the paths of benchmark results, which are all paths but the files of records. If there are
// only folders besides records, it returns the folders.
func (o *options) benchmarks() (paths []string, err error) {
	var folders []string
	for _, p := range o.paths {
		info, err := os.Stat(p)
		switch {
		case err == nil && info.IsDir():
			folders = append(folders, p)
			continue
		case err == nil && filepath.Ext(p) == ".jsonl":
			if _, err := resultfile.Read(p, resultfile.Options{}); err != nil {
				if wrong, known := errors.AsType[*resultfile.Error](err); known && wrong.Key != "" {
					return nil, err // another tool's result file that is not a valid sample
				}
				continue
			}
		}
		paths = append(paths, p)
	}
	if len(paths) == 0 {
		return folders, nil
	}
	return paths, nil
}

// write writes every picture to a folder, which it creates if necessary. It returns the number of files.
func write(r *report.Report, folder string) (files int, err error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return 0, err
	}
	for _, p := range r.Pictures {
		if p.Empty() {
			continue
		}
		svg, png := p.Names()
		for name, draw := range map[string]func(io.Writer) error{svg: p.SVG, png: p.PNG, strings.TrimSuffix(svg, ".svg") + ".csv": p.CSV} {
			var b bytes.Buffer
			if err := draw(&b); err != nil {
				return files, err
			}
			if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o666); err != nil {
				return files, err
			}
			files++
		}
	}
	return files, nil
}

// print prints, for every file of records, the block that the tool of -as would have printed. Notes go to stderr.
func (o *options) print(stdout, stderr io.Writer) error {
	tool, err := compat.Find(o.as)
	if err == nil {
		err = tool.Printed()
	}
	if err == nil {
		err = tool.Select(o.metrics, o.percentiles)
	}
	if err != nil {
		return fmt.Errorf("-as %w", err)
	}
	if o.json && tool.Name != "vllm" {
		return fmt.Errorf("-json with -as %s: want -as vllm", o.as)
	}
	w := bufio.NewWriter(stdout)
	for i, path := range o.paths {
		run, err := records.Open(path)
		switch {
		case err != nil:
			return err
		case run.Len() == 0:
			return fmt.Errorf("%s: an empty run: no request was recorded", path)
		case o.pass < 0 || o.pass >= run.Passes():
			return fmt.Errorf("%s: pass %d: want 0 to %d", path, o.pass, run.Passes()-1)
		}
		pass := compat.Of(run, o.pass)
		if o.json {
			if why := run.Failed(); why != "" {
				return fmt.Errorf("%s: the benchmark has no result: %s: want -as without -json, because the file of vLLM cannot state that", path, why)
			}
			text, err := tool.Result(pass)
			if err != nil {
				return err
			}
			w.Write(text)
			continue
		}
		if len(o.paths) > 1 {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "%s\n", path)
		}
		block, notes := tool.Block(pass)
		fmt.Fprint(w, block)
		if why := run.Failed(); why != "" {
			fmt.Fprintf(w, "no result: %s\n", why)
		}
		for _, why := range run.WhyWithheld() {
			notes = append(notes, why+": the same figures of the block are as wrong")
		}
		if err := w.Flush(); err != nil {
			return err
		}
		of := ""
		if len(o.paths) > 1 {
			of = path + ": "
		}
		for _, n := range notes {
			fmt.Fprintln(stderr, "benchreport: note:", of+n)
		}
	}
	return w.Flush()
}
