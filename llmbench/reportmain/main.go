// Package reportmain makes a page of the results of a program when its benchmarks have ended. It is apart from package
// report, so that programs which only read results do not link the client.
package reportmain

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/price"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report"
)

// variable names the file of the page.
const variable = "LLMBENCH_REPORT"

// Main is [llmbench.Main] for programs that also make a page of their results:
//
//	func TestMain(m *testing.M) { os.Exit(reportmain.Main(m)) }
//
// If LLMBENCH_REPORT is set, the page is written to the file of that name when all benchmarks have ended, also after an
// interrupt. The page has the results of this run, and not older records in LLMBENCH_OUT. Of several shards, shard 0 writes
// the page of all. The records of the page are written to LLMBENCH_OUT, or to a temporary folder. Main says which file it wrote. If it cannot write the page, it says why and returns at least 1. If no
// benchmark wrote records, there is no page, and Main returns what llmbench.Main returns.
func Main(m *testing.M) int {
	flag.Parse()
	path := os.Getenv(variable)
	if bench := flag.Lookup("test.bench"); path == "" || bench == nil || bench.Value.String() == "" {
		return llmbench.Main(m)
	}
	os.Unsetenv(variable) // llmbench.Main makes no page, and refuses the variable
	if list := flag.Lookup("test.list"); list != nil && list.Value.String() != "" {
		return llmbench.Main(m) // runs nothing
	}
	p, err := newPage(path)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s=%s: %v\n", variable, path, err)
		return 1
	}
	defer p.close()
	code := llmbench.Main(m)
	if shard, _ := harness.Shard(); shard > 0 {
		return code // shard 0 has the results of all
	}
	switch err := p.write(); {
	case errors.Is(err, errNothing): // such as a pattern for the benchmarks of another package
		fmt.Fprintf(os.Stderr, "# %s=%s: no page: %v\n", variable, path, err)
		return code
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s=%s: no page: %v\n", variable, path, err)
		return max(code, 1)
	}
	fmt.Fprintf(os.Stderr, "# the page with these results: %s\n", p.path)
	return code
}

// errNothing says that there is nothing to show.
var errNothing = errors.New("no benchmark wrote records")

// A runPage is the page of the results of this process.
type runPage struct {
	path string
	out  string // the folder of records
	temp bool   // out is temporary
	old  map[string]time.Time
}

// newPage checks that a page can be written to path, before anything is measured, and sets LLMBENCH_OUT if it is not set.
func newPage(path string) (*runPage, error) {
	if !strings.HasSuffix(path, ".html") {
		return nil, errors.New("want the path of a file whose name ends in .html")
	}
	path, err := filepath.Abs(path) // go test runs a test binary in the folder of its package
	if err != nil {
		return nil, err
	}
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	if missing != nil {
		os.Remove(path)
	}
	p := &runPage{path: path, out: os.Getenv("LLMBENCH_OUT"), old: map[string]time.Time{}}
	if p.out == "" {
		if p.out, err = os.MkdirTemp("", "llmbench-report-"); err != nil {
			return nil, err
		}
		p.temp = true
		return p, os.Setenv("LLMBENCH_OUT", p.out)
	}
	for _, file := range p.records() {
		if info, err := os.Stat(file); err == nil {
			p.old[file] = info.ModTime()
		}
	}
	return p, nil
}

// records returns the paths of the files of records in the folder.
func (p *runPage) records() (paths []string) {
	files, _ := os.ReadDir(p.out) // without the folder there are none
	for _, f := range files {
		if filepath.Ext(f.Name()) == ".jsonl" {
			paths = append(paths, filepath.Join(p.out, f.Name()))
		}
	}
	return paths
}

// write writes the page of the records that were written since newPage.
func (p *runPage) write() error {
	var paths []string
	for _, file := range p.records() {
		if info, err := os.Stat(file); err == nil && !info.ModTime().Equal(p.old[file]) {
			paths = append(paths, file)
		}
	}
	if len(paths) == 0 {
		return errNothing
	}
	d, err := report.Read(paths...)
	if err != nil {
		return err
	}
	o := report.Options{}
	if hour, err := price.Parse(os.Getenv("LLMBENCH_PRICE")); err == nil { // llmbench.Main has checked the variable
		o.Prices = map[string]float64{"": hour}
	}
	r, err := report.New(d, o)
	if err != nil {
		return err
	}
	var b bytes.Buffer // complete in memory first, so that an error leaves no partial page
	if err := r.HTML(&b); err != nil {
		return err
	}
	return os.WriteFile(p.path, b.Bytes(), 0o666)
}

// close removes the temporary folder.
func (p *runPage) close() {
	if p.temp {
		os.RemoveAll(p.out)
	}
}
