// Package reportmain makes a page of the results of a program, after each load and when all benchmarks have ended. It is
// apart from package report, so that programs which only read results do not link the client.
package reportmain

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/live"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/price"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/report"
)

// variable names the file of the page, the address at which it is shown, or both.
const variable = "LLMBENCH_REPORT"

// Main is [llmbench.Main] for programs that also make a page of their results:
//
//	func TestMain(m *testing.M) { os.Exit(reportmain.Main(m)) }
//
// If LLMBENCH_REPORT is the name of a file, the page is written to it after a load, and when all benchmarks have ended, also
// after an interrupt. If the name ends in .json, the file has a summary for programs instead (see README.md of package report).
// A page that takes long to write is written after fewer loads, so that writing between loads takes at most about a tenth of
// the time. The page has the results of this run, and not older records in LLMBENCH_OUT. Of several shards, shard 0 writes and
// shows the page of all.
//
// If LLMBENCH_REPORT is host:port, such as 127.0.0.1:0, a page there shows the runs in LLMBENCH_OUT until the program
// ends; port 0 is any free one. The page costs this process the reading of its own records, once a second. The variable may
// have one of each, with commas between them, so that a path has no comma.
//
// The records of the page are written to LLMBENCH_OUT, or to a temporary folder, which stays if a benchmark failed. Main says
// which file it wrote. If it cannot write the page, it says why and returns at least 1. If no benchmark wrote records, there is
// no page, and Main returns what llmbench.Main returns.
func Main(m *testing.M) int {
	flag.Parse()
	value := os.Getenv(variable)
	if bench := flag.Lookup("test.bench"); value == "" || bench == nil || bench.Value.String() == "" {
		return llmbench.Main(m)
	}
	os.Unsetenv(variable) // llmbench.Main makes no page, and refuses the variable
	if list := flag.Lookup("test.list"); list != nil && list.Value.String() != "" {
		return llmbench.Main(m) // runs nothing
	}
	p, err := newPage(value)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s=%s: %v\n", variable, value, err)
		return 1
	}
	defer p.close()
	process.AfterRun(p.afterRun)
	code := llmbench.Main(m)
	if code != 0 {
		p.temp = false // the log of a failure names the file of its records
	}
	if !p.first || len(p.files) == 0 {
		return code
	}
	switch err := p.write(); {
	case errors.Is(err, errNothing): // such as a pattern for the benchmarks of another package
		fmt.Fprintf(os.Stderr, "# %s=%s: no page: %v\n", variable, value, err)
		return code
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s=%s: no page: %v\n", variable, value, err)
		return max(code, 1)
	}
	for _, path := range p.files {
		what := "page with"
		if filepath.Ext(path) == ".json" {
			what = "summary of"
		}
		fmt.Fprintf(os.Stderr, "# the %s these results: %s\n", what, path)
	}
	return code
}

// errNothing says that there is nothing to show.
var errNothing = errors.New("no benchmark wrote records")

// A runPage is the page of the results of this process.
type runPage struct {
	files   []string // at most one page, whose name ends in .html, and one summary
	first   bool     // this process measures alone or is shard 0, which has the records of all shards
	out     string   // the folder of records
	temp    bool     // out is temporary
	old     map[string]time.Time
	written time.Time     // when the page was written last
	took    time.Duration // how long that took
	stop    func()        // ends the page at an address; nil if there is none
}

// newPage checks that a page can be written and shown as value says, before anything is measured. It sets LLMBENCH_OUT if
// that is not set, and shows the page if value has an address.
func newPage(value string) (p *runPage, err error) {
	p = &runPage{first: isFirst(), out: os.Getenv("LLMBENCH_OUT"), old: map[string]time.Time{}}
	addr := ""
	for part := range strings.SplitSeq(value, ",") {
		_, _, notAddr := net.SplitHostPort(part)
		ext := filepath.Ext(part)
		another := slices.ContainsFunc(p.files, func(path string) bool { return filepath.Ext(path) == ext })
		switch {
		case (ext == ".html" || ext == ".json") && !another:
			path, err := writable(part)
			if err != nil {
				return nil, err
			}
			p.files = append(p.files, path)
		case notAddr == nil && addr == "":
			addr = part
		default:
			return nil, fmt.Errorf("%q: want the path of a file whose name ends in .html or in .json, host:port, or one of each with commas between them; a path has no comma", part)
		}
	}
	if p.out == "" {
		if p.out, err = os.MkdirTemp("", "llmbench-report-"); err != nil {
			return nil, err
		}
		p.temp = true
		if err := os.Setenv("LLMBENCH_OUT", p.out); err != nil {
			return nil, err
		}
	}
	for _, file := range p.records() {
		if info, err := os.Stat(file); err == nil {
			p.old[file] = info.ModTime()
		}
	}
	if addr != "" && p.first {
		if err := p.show(addr); err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// writable returns the absolute path of a file if the file can be written.
func writable(path string) (string, error) {
	path, err := filepath.Abs(path) // go test runs a test binary in the folder of its package
	if err != nil {
		return "", err
	}
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return "", err
	}
	if missing != nil {
		os.Remove(path)
	}
	return path, f.Close()
}

// isFirst reports whether this process measures alone or is shard 0, before llmbench.Main, which says what is wrong with the
// variables of shards.
func isFirst() bool {
	if os.Getenv("LLMBENCH_RENDEZVOUS") == "" {
		return true
	}
	part, err := shard.Place(os.Getenv)
	return err == nil && part.Index == 0
}

// show serves a page at addr until p is closed.
func (p *runPage) show(addr string) error {
	host, _, _ := net.SplitHostPort(addr) // newPage has checked it
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := live.NewServer(live.NewWatcher(p.out), host).Serve(ctx, l); err != nil {
			fmt.Fprintf(os.Stderr, "%s=%s: the page at this address ended: %v\n", variable, addr, err)
		}
	}()
	p.stop = func() { cancel(); <-ended }
	fmt.Fprintf(os.Stderr, "# http://%s shows this run until it ends\n", l.Addr())
	if !live.IsLocal(l.Addr()) {
		fmt.Fprintf(os.Stderr, "# everybody who reaches %s can read the records, without a password and without encryption\n", l.Addr())
	}
	return nil
}

// seldom bounds the time that pages after single loads take: a page is written after a load if, since the last one was
// written, at least seldom times as long has passed as that took.
const seldom = 10

// afterRun writes the page after a load. Main writes it again at the end, and reports errors then.
func (p *runPage) afterRun() {
	if p.first && len(p.files) > 0 && time.Since(p.written) >= seldom*p.took {
		_ = p.write()
	}
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
	start := time.Now()
	defer func() { p.written, p.took = time.Now(), time.Since(start) }()
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
	for _, f := range process.Reported() { // what no record has, such as what a gateway adds
		d.Add(f.Benchmark, f.Unit, f.Values)
	}
	o := report.Options{}
	if hour, err := price.Parse(os.Getenv("LLMBENCH_PRICE")); err == nil { // llmbench.Main has checked the variable
		o.Prices = map[string]float64{"": hour}
	}
	r, err := report.New(d, o)
	if err != nil {
		return err
	}
	for _, path := range p.files {
		write := r.HTML
		if filepath.Ext(path) == ".json" {
			write = r.JSON
		}
		var b bytes.Buffer // complete in memory first, so that an error leaves no partial page
		if err := write(&b); err != nil {
			return err
		}
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// close ends the page at an address, and removes the temporary folder.
func (p *runPage) close() {
	if p.stop != nil {
		p.stop()
	}
	if p.temp {
		os.RemoveAll(p.out)
	}
}
