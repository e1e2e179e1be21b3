package convert

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/dashboard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/internal/cli"
	"github.com/seed-2b9cec6d/llmbench/llmbench/gate"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/resultfile"
)

const convertUsage = "usage: benchgate convert [flags] file...\n" +
	"       benchgate convert -to=github-action-benchmark|llm-d-report -out=folder file...\n" +
	"       benchgate convert -to=junit report.json\n" +
	"\n" +
	"Convert writes results in Go benchmark format, or in the format of a dashboard, to standard output, and notes on\n" +
	"the files to standard error. Each file is in Go benchmark format or a result file of another tool; a pattern such as\n" +
	"'old/*.json' and a folder are several. For junit the file is a report that benchgate -format=json printed.\n"

// conversions holds the formats of -to that consist of one file, which goes to standard output.
var conversions = map[string]func(*dashboard.Results) (data []byte, notes []string, err error){
	"bencher": dashboard.Bencher,
	"csv": func(r *dashboard.Results) ([]byte, []string, error) {
		data, err := dashboard.CSV(r)
		return data, nil, err
	},
}

// folders holds the formats of -to that consist of several files.
var folders = map[string]func(*dashboard.Results) (files []dashboard.File, notes []string, err error){
	"github-action-benchmark": dashboard.GitHubActionBenchmark,
	"llm-d-report":            dashboard.LLMDReports,
}

// A converter runs "benchgate convert".
type converter struct {
	to, out        string
	options        resultfile.Options
	stdout, stderr io.Writer
}

// Run runs "benchgate convert" and returns the exit status.
func Run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("benchgate convert", flag.ContinueOnError)
	c := &converter{stdout: stdout, stderr: stderr}
	fs.Func("max-fail", command.MaxFailUsage, command.Share(&c.options.MaxFail))
	fs.StringVar(&c.to, "to", "go", "the `format`: go, github-action-benchmark, bencher, llm-d-report, csv or junit")
	fs.StringVar(&c.out, "out", "", "write the files of github-action-benchmark or llm-d-report to this `folder`")
	paths, err := cli.Parse(fs, convertUsage, args, stdout, stderr)
	if err == nil && len(paths) == 0 {
		err = errors.New("no files: want result files; benchgate convert -help has more")
	}
	if err == nil {
		err = c.run(paths)
	}
	return command.Ended(stderr, err)
}

// run converts the files to the format of -to.
func (c *converter) run(paths []string) error {
	several := folders[c.to] != nil
	switch {
	case c.to != "go" && c.to != "junit" && conversions[c.to] == nil && !several:
		return fmt.Errorf("-to=%s: want go, github-action-benchmark, bencher, llm-d-report, csv or junit", c.to)
	case several && c.out == "":
		return fmt.Errorf("-to=%s: want -out=folder too, because the format is several files", c.to)
	case !several && c.out != "":
		return fmt.Errorf("-out=%s: want it with -to=github-action-benchmark or -to=llm-d-report only: the others write to standard output", c.out)
	case c.to == "junit":
		return c.verdict(paths)
	}
	text, err := c.read(paths)
	if err != nil {
		return err
	}
	if c.to == "go" {
		_, err := c.stdout.Write(text)
		return err
	}
	results, err := dashboard.Read(text, strings.Join(paths, " "))
	if err != nil {
		return err
	}
	if !several {
		data, notes, err := conversions[c.to](results)
		if err != nil {
			return err
		}
		c.note(notes)
		_, err = c.stdout.Write(data)
		return err
	}
	files, notes, err := folders[c.to](results)
	if err != nil {
		return err
	}
	c.note(notes)
	for _, f := range files {
		path := filepath.Join(c.out, f.Name)
		if err := command.WriteFile(path, f.Data); err != nil {
			return err
		}
		fmt.Fprintln(c.stdout, path)
	}
	return nil
}

// read returns the results of files in Go benchmark format.
func (c *converter) read(paths []string) ([]byte, error) {
	c.options.Ignore = gate.Ignored()
	text, notes, err := resultfile.ReadTogether(paths, c.options)
	c.note(notes)
	return text, err
}

// verdict converts a report to JUnit's XML.
func (c *converter) verdict(paths []string) error {
	if len(paths) != 1 {
		return fmt.Errorf("-to=junit: %d files: want one, a report of benchgate -format=json", len(paths))
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		return err
	}
	var r gate.Report
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%s: want a report of benchgate -format=json: %w", paths[0], err)
	}
	if r.Verdict != gate.Pass && r.Verdict != gate.Regression && r.Verdict != gate.CannotJudge {
		return fmt.Errorf("%s: the verdict is %q: want a report of benchgate -format=json", paths[0], r.Verdict)
	}
	data, err := dashboard.JUnit(&r)
	if err != nil {
		return err
	}
	_, err = c.stdout.Write(data)
	return err
}

// note prints notes to standard error.
func (c *converter) note(notes []string) {
	for _, n := range notes {
		fmt.Fprintln(c.stderr, "benchgate: note:", n)
	}
}
