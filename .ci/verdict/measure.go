package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/benchfile"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// A load says how fast the server responds, how many streams send requests to it, and what runs beside the
// client.
type load struct {
	TTFT     time.Duration `json:"ttft_ns"`
	PerToken time.Duration `json:"per_token_ns"`
	Streams  int           `json:"streams"`
	Loops    int           `json:"loops"`    // number of busy loops
	Build    bool          `json:"build"`    // a build of the standard library at nice 19
	Starved  bool          `json:"starved"`  // the client has 2 % of a CPU
	Priority string        `json:"priority"` // LLMBENCH_PRIORITY
}

// idle reports whether nothing runs beside the client.
func (l load) idle() bool { return l.Loops == 0 && !l.Build && !l.Starved }

// beside describes what runs beside the client.
func (l load) beside() string {
	switch {
	case l.Starved:
		return "a limit of 2 % of a CPU"
	case l.Build:
		return "a build"
	case l.Loops == 1:
		return "1 loop"
	case l.Loops > 1:
		return fmt.Sprintf("%d loops", l.Loops)
	}
	return "-"
}

func (l load) String() string {
	if l.PerToken == 0 {
		return fmt.Sprintf("%d streams, beside %s", l.Streams, l.beside())
	}
	return fmt.Sprintf("TTFT %v, %v a token, %d streams, beside %s", l.TTFT, l.PerToken, l.Streams, l.beside())
}

// loads returns all combinations of the options.
func (o *options) loads() (all []load) {
	for _, ttft := range o.ttft {
		for _, token := range o.perToken {
			for _, streams := range o.streams {
				for _, loops := range o.loops {
					all = append(all, load{TTFT: ttft, PerToken: token, Streams: streams, Loops: loops, Priority: o.priority})
					if o.check == byPriority {
						all = append(all, all[len(all)-1])
						all[len(all)-1].Priority = "none"
					}
					if o.check == starved {
						all = append(all, all[len(all)-1], all[len(all)-1])
						all[len(all)-1].Starved = true
					}
				}
				if o.build {
					all = append(all, load{TTFT: ttft, PerToken: token, Streams: streams, Build: true, Priority: o.priority})
				}
			}
		}
	}
	return all
}

// maxRun is the maximum duration of a run.
const maxRun = 5 * time.Minute

// measure makes all runs, writes their results to results.jsonl, and returns them.
func measure(ctx context.Context, o options, progress io.Writer) ([]result, error) {
	loads := o.loads()
	if o.runs == 0 {
		o.runs = len(loads)
	}
	if err := os.MkdirAll(o.dir, 0o777); err != nil {
		return nil, err
	}
	programs, err := os.MkdirTemp("", "verdict")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(programs)
	b := bench{options: o}
	if err := b.build(ctx, programs); err != nil {
		return nil, err
	}
	if o.check == starved {
		if b.cgroup, err = newCgroup(); err != nil {
			fmt.Fprintln(progress, "SKIPPED: clients with 2 % of a CPU: no cgroup:", err)
			loads = slices.DeleteFunc(loads, func(l load) bool { return l.Starved })
		} else {
			defer os.Remove(b.cgroup)
		}
	}
	lines, err := os.Create(filepath.Join(o.dir, "results.jsonl"))
	if err != nil {
		return nil, err
	}
	defer lines.Close()
	var all []result
	for i := range o.runs {
		if o.check == byPriority && i%2 == 0 && rand.IntN(2) == 0 {
			k := i % len(loads)
			loads[k], loads[k+1] = loads[k+1], loads[k]
		}
		l := loads[i%len(loads)]
		r, err := b.run(ctx, i+1, l)
		if err != nil {
			return nil, fmt.Errorf("run %d, %v: %w", i+1, l, err)
		}
		all = append(all, r)
		if err := json.NewEncoder(lines).Encode(r); err != nil {
			return nil, err
		}
		fmt.Fprintln(progress, r)
	}
	return all, lines.Close()
}

// A bench makes runs with the built programs.
type bench struct {
	options
	client, mock string // paths of the programs
	cgroup       string // the folder of a cgroup with 2 % of a CPU; "" if there is none
}

// run makes one run.
func (b *bench) run(ctx context.Context, number int, l load) (r result, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxRun, fmt.Errorf("not over after %v", maxRun))
	var children, loops []*exec.Cmd
	begin := time.Now()
	defer func() {
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = errors.Join(cause, err)
		}
		cancel()
		for _, c := range children {
			c.Wait() // the error only says that cancel killed the child
		}
		for _, c := range loops {
			r.Left += (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds() / time.Since(begin).Seconds()
		}
	}()
	start := func(c *exec.Cmd) error {
		err := c.Start()
		if err == nil {
			children = append(children, c)
		}
		return err
	}
	dir, err := os.MkdirTemp(b.dir, "run")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	url := b.url
	if url == "" {
		mock := pinned(ctx, b.mockCore, b.mock, "-addr=127.0.0.1:0", "-slots=0", "-ttft="+l.TTFT.String(), "-per-token="+l.PerToken.String())
		stderr, err := mock.StderrPipe()
		if err != nil {
			return r, err
		}
		if err := start(mock); err != nil {
			return r, err
		}
		if url, err = servingURL(stderr); err != nil {
			return r, err
		}
	}
	begin = time.Now()
	for range l.Loops {
		c := pinned(ctx, b.clientCore, "sh", "-c", "while :; do :; done")
		if err := start(c); err != nil {
			return r, err
		}
		loops = append(loops, c)
	}
	if l.Build {
		c := pinned(ctx, b.clientCore, "nice", "-n", "19", "go", "build", "-a", "std")
		c.Env = append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"), "GOFLAGS=")
		if err := start(c); err != nil {
			return r, err
		}
	}
	output, err := b.runClient(ctx, l, url, dir)
	if err != nil {
		return r, err
	}
	var log []mockserver.Entry
	var epoch int64
	if b.url == "" {
		if log, epoch, err = readLog(ctx, url); err != nil {
			return r, err
		}
	}
	record, err := onlyFile(dir)
	if err != nil {
		return r, err
	}
	r, err = b.check.newResult(number, l, output, record, log, epoch)
	if b.keep {
		name := fmt.Sprintf("%03d-ttft=%v-token=%v-streams=%d-loops=%d-build=%t-starved=%t", number, l.TTFT, l.PerToken, l.Streams, l.Loops, l.Build, l.Starved)
		err = errors.Join(err, b.keepRun(name, output, record, log))
	}
	return r, err
}

// keepRun stores the output, the records and the log of a run in the folder of -dir.
func (b *bench) keepRun(name, output, record string, log []mockserver.Entry) error {
	path := filepath.Join(b.dir, name)
	text, err := json.Marshal(log)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path+".txt", []byte(output), 0o666), os.WriteFile(path+".mock.json", text, 0o666), os.Rename(record, path+".jsonl"))
}

// servingURL reads the first line of the mock server's output and returns the URL in it.
func servingURL(r io.Reader) (string, error) {
	var line []byte
	for buf := make([]byte, 1); !bytes.HasSuffix(line, []byte("\n")); {
		if _, err := io.ReadFull(r, buf); err != nil {
			return "", fmt.Errorf("the mock server did not print its URL: %w: %s", err, line)
		}
		line = append(line, buf...)
	}
	_, url, found := strings.Cut(strings.TrimSpace(string(line)), "serving ")
	if !found {
		return "", fmt.Errorf("the mock server printed %q: want its URL", line)
	}
	return url, nil
}

// readLog returns the log of the mock server. Its times count from epoch, in nanoseconds since 1970.
func readLog(ctx context.Context, url string) (log []mockserver.Entry, epoch int64, err error) {
	resp, err := get(ctx, url+"/mock/log")
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	if epoch, err = strconv.ParseInt(resp.Header.Get("Mock-Epoch-Unix-Ns"), 10, 64); err != nil {
		return nil, 0, fmt.Errorf("the mock server's log: status %s: %w", resp.Status, err)
	}
	return log, epoch, json.NewDecoder(resp.Body).Decode(&log)
}

// get sends a GET request on a connection of its own.
func get(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
}

// onlyFile returns the path of the only file of records in dir.
func onlyFile(dir string) (string, error) {
	all, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%d files of records: want 1", len(all))
	}
	if err != nil {
		return "", err
	}
	return all[0], nil
}

// figures returns the metrics in the output of a benchmark, keyed by unit.
func figures(output string) (map[string]float64, error) {
	all, err := benchfile.Read(strings.NewReader(output), "the output of the client")
	if err == nil && len(all) > 1 {
		err = fmt.Errorf("%d results: want 1:\n%s", len(all), output)
	}
	if err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for _, one := range all { // all is empty if the benchmark failed
		for _, v := range one.Values {
			values[v.Unit] = v.Value
		}
	}
	return values, nil
}
