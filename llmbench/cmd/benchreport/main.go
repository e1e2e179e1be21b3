// Benchreport makes one HTML page from benchmark files and from records in LLMBENCH_OUT, or from the
// result files of other tools, such as vLLM's (see package resultfile): the
// answer in words, pictures with tables, every figure, and what other tools would have printed
// for the same run. See packages report and compat. It prints what was measured, the answer,
// the warnings and which files it wrote too, unless the page goes to stdout.
//
// Usage:
//
//	benchreport [flags] file or folder...
//	benchreport -as tool[@release] [-json] [-pass number] records.jsonl...
//	benchreport -as list
//	benchreport serve [-addr address] [folder]
//	benchreport version
//
// Serve shows the runs in a folder as they go on, in a browser: requests in flight, tokens a
// second, TTFT and failures so far, and links to reports of runs that have ended. The folder
// is LLMBENCH_OUT by default, and need not exist yet. Serve ends at Ctrl-C. It
// listens at a free port of 127.0.0.1. With -addr, it listens elsewhere: everybody who
// reaches the address can then read the records.
//
// What a file shows is in its contents. A path may also be a pattern in quotes. The files of one folder, or of one
// pattern, are samples of one system; but if a folder is the only path, each of its files in Go benchmark format is a
// system of its own. The report lists the files of folders that were not read. The flags are:
//
//	-o file            write the report here (report.html); - is stdout
//	-format format     html, json for programs, or the answer alone, in fewer than 60 lines, as text or md
//	                   (GitHub Flavored Markdown), by default on stdout (html)
//	-pictures folder   write each picture here too, as SVG, PNG and CSV
//	-title text        the title of the page (Benchmark report)
//	-parts keys        draw a picture for each value of these keys of benchmark names, a
//	                   comma-separated list (workload,model). Benchmarks that differ in
//	                   other keys are lines of one picture. Published and measured
//	                   results are in one picture if they have the same values.
//	-base file         compare the benchmark file among the arguments with this one, and
//	                   draw the verdict of benchgate; a folder or a pattern has samples
//	                   of another tool
//	-slo limits        rank systems by the highest load at which 95 % of the requests keep
//	                   these limits, such as ttft=500ms,tpot=50ms (default: the limits of the
//	                   benchmarks). Records tell which requests do.
//	-price price       the price of an hour of the server, such as 2.49/h, for the price of a
//	                   million output tokens at each load. With several systems,
//	                   -price vllm=2.49/h -price llamacpp=0.35/h: a system is named by its backend,
//	                   its model or its file
//	-as tool           print what vllm, sglang, evalscope, evalscope-2024, fw-ai or
//	                   llama-bench would have printed for a pass.
//	                   vllm@0.20 is release 0.20 of vLLM; without a release, the tool is
//	                   the newest known. list prints the tools and their releases that
//	                   differ.
//	-percentile-metrics metrics
//	                   with -as vllm: the metrics that have sections, as vLLM's own flag
//	                   (ttft,tpot,itl); e2el is the other one
//	-metric-percentiles percentiles
//	                   with -as vllm: the percentiles in the sections (99)
//	-json              with -as vllm: print what --save-result would have written, one
//	                   line for each file
//	-pass number       with -as: use this pass, from 0 (0)
//
// The page needs no network. With -as, a figure that the records do not
// determine is ?, and notes on stderr have the reasons; in JSON the figure is null. If a
// benchmark failed, or its run was cut because the process was killed, the last line says that there is no result, and there is
// no JSON; the page marks the records, and the table of figures has no row for them.
//
// The exit status is 0 if a report was written, and 2 otherwise: a file cannot be read, a
// benchmark file was cut, records have an unknown version, a value is not finite, nothing was recorded, or the
// usage is wrong. The reason is printed.
//
// # Examples
//
//	LLMBENCH_OUT=$PWD/out go test -run='^$' -bench=Concurrency -benchtime=1x ./scenarios >new.txt
//	benchreport new.txt out
//	benchreport -base old.txt new.txt
//	benchreport -base 'old/*.json' 'new/*.json'
//	benchreport -pictures pictures benchdata/published
//	benchreport -as vllm out/*.jsonl
//	benchreport serve out
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/compat"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/price"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
	"github.com/seed-2b9cec6d/llmbench/llmbench/version"
)

const usage = "usage: benchreport [flags] file or folder...\n" +
	"       benchreport -as tool[@release] [-json] [-pass number] records.jsonl...\n" +
	"       benchreport -as list\n" +
	"       benchreport serve [-addr address] [folder]\n" +
	"       benchreport version"

// exitNone is the exit status if no report was made.
const exitNone = 2

func main() {
	// The records of millions of requests stay in memory, and parsing them produces as much garbage. So garbage
	// is collected earlier than by default.
	debug.SetGCPercent(60)
	debug.SetMemoryLimit(900 << 20)
	cli.Main("benchreport", exitNone, run)
}

// options holds the values of the flags.
type options struct {
	out, pictures, title, base string
	slo, format                string
	prices                     map[string]float64
	parts                      string
	as, metrics, percentiles   string
	json                       bool
	pass                       int
	paths                      []string
	command                    string
}

// run runs the command and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	if version.Asked(args) {
		io.WriteString(stdout, version.Line("benchreport"))
		return 0
	}
	if len(args) > 0 && args[0] == "serve" {
		return serve(args[1:], stdout, stderr)
	}
	o := options{command: shellquote.Join(append([]string{"benchreport"}, args...)...)}
	fs := flag.NewFlagSet("benchreport", flag.ContinueOnError)
	fs.StringVar(&o.out, "o", "report.html", "write the report to this `file`; - is stdout")
	fs.StringVar(&o.pictures, "pictures", "", "write each picture to this `folder` too, as SVG, PNG and CSV")
	fs.StringVar(&o.title, "title", "", "`text` of the page's title (default Benchmark report)")
	fs.StringVar(&o.parts, "parts", "workload,model", "draw a picture for each value of these `keys` of benchmark names, a comma-separated list")
	fs.StringVar(&o.base, "base", "", "compare the benchmark file among the arguments with this `file`, folder or pattern, as benchgate does")
	fs.StringVar(&o.slo, "slo", "", "rank systems by the load at which 95 % of the requests in records keep these `limits`, such as ttft=500ms,tpot=50ms")
	fs.Func("price", "the `price` of an hour of the server, such as 2.49/h, or of a system, such as vllm=2.49/h", func(text string) error {
		name, hour := "", text
		if i := strings.LastIndex(text, "="); i >= 0 {
			name, hour = text[:i], text[i+1:]
		}
		v, err := price.Parse(hour)
		if err == nil && o.prices == nil {
			o.prices = map[string]float64{}
		}
		if err == nil {
			o.prices[name] = v
		}
		return err
	})
	fs.StringVar(&o.format, "format", "html", "the `format` of the report: html, json for programs, or the answer alone as text or md")
	fs.StringVar(&o.as, "as", "", "print what this `tool` would have printed for records; list names the tools and their releases")
	fs.StringVar(&o.metrics, "percentile-metrics", "", "with -as vllm: the `metrics` that have sections, as vLLM's own flag (default ttft,tpot,itl)")
	fs.StringVar(&o.percentiles, "metric-percentiles", "", "with -as vllm: the `percentiles` in the sections, as vLLM's own flag (default 99)")
	fs.BoolVar(&o.json, "json", false, "with -as vllm: print what --save-result would have written")
	fs.IntVar(&o.pass, "pass", 0, "with -as: use the pass with this `number`, from 0")
	paths, err := cli.Parse(fs, usage, args, stdout, stderr)
	if err != nil {
		return fail(stderr, err)
	}
	o.paths = paths
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case o.as == "list":
		_, err = io.WriteString(stdout, compat.List())
	case len(o.paths) == 0:
		err = errors.New("no files: want benchmark files, result files of other tools, records or folders of them")
	case o.as == "" && (given["json"] || given["pass"] || given["percentile-metrics"] || given["metric-percentiles"]):
		err = errors.New("-json, -pass, -percentile-metrics and -metric-percentiles: want -as too")
	case !slices.Contains([]string{"html", "json", "text", "md"}, o.format):
		err = fmt.Errorf("-format %q: want html, json, text or md", o.format)
	case o.format != "html" && given["pictures"]:
		err = fmt.Errorf("-pictures with -format %s: want -format html", o.format)
	case o.as != "" && (given["o"] || given["format"] || given["pictures"] || given["base"] || given["parts"] || given["title"] || given["slo"] || given["price"]):
		err = errors.New("-as prints a block: want none of -o, -format, -pictures, -base, -parts, -price, -slo and -title with it")
	case o.as != "":
		err = o.print(stdout, stderr)
	default:
		if o.format != "html" && !given["o"] {
			o.out = "-"
		}
		err = o.report(stdout, stderr)
	}
	if err != nil {
		return fail(stderr, err)
	}
	return 0
}

// fail prints why no report was made, unless the help was asked for, and returns the exit status.
func fail(stderr io.Writer, err error) int {
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(stderr, "benchreport:", redact.Printable(err.Error()))
	return exitNone
}
