package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// rowsTest is the source of a benchmark that is written into the clone. The benchmark has a row for each of
// eight mock servers. The words NOISY and SLOW are replaced by the number of the noisy and of the slow row, or
// by -1 if there is no such row.
const rowsTest = `package scenarios

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

func BenchmarkGateRows(b *testing.B) {
	for row := range 8 {
		b.Run(fmt.Sprintf("row=%d", row), func(b *testing.B) {
			c := mockserver.Default()
			switch row {
			case SLOW:
				c.PerToken = c.PerToken * 105 / 100
			case NOISY:
				c.PerToken = time.Duration(float64(c.PerToken) * math.Exp(0.04*rand.NormFloat64()))
			}
			Options{Concurrencies: []int{2}, Requests: 6, Warmup: 2, Input: 16, Output: 80}.Serve(b, backends.Mock{Config: &c}.Start(b))
		})
	}
}
`

// slowRow is the row that is slower in the new version, and noisyRow is the row that is noisy.
const slowRow, noisyRow = 2, 5

// A repository is the clone in which the versions are compared.
type repository struct {
	dir, tree, benchgate string
	gateways             *gateways // nil if no gateways are compared
}

// prepare clones the repository, adds the benchmark with rows, and builds benchgate.
func prepare(ctx context.Context, o options) (r *repository, err error) {
	r = &repository{}
	if r.dir, err = os.MkdirTemp("", "gate-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.remove()
		}
	}()
	r.tree, r.benchgate = filepath.Join(r.dir, "tree"), filepath.Join(r.dir, "benchgate")
	if err := commands(ctx, "", []string{"git", "clone", "-q", ".", r.tree}); err != nil {
		return nil, err
	}
	if err := r.write(equal); err != nil {
		return nil, err
	}
	if err := commands(ctx, r.tree,
		[]string{"git", "add", "--all"},
		[]string{"git", "-c", "user.name=gate", "-c", "user.email=gate@example.com", "commit", "-qm", "rows"},
		[]string{"go", "build", "-trimpath", "-o", r.benchgate, "./llmbench/cmd/benchgate"},
	); err != nil {
		return nil, err
	}
	if *o.counts[buildEqual]+*o.counts[buildDelay]+*o.counts[buildCPU]+*o.counts[bisection] > 0 {
		r.gateways, err = prepareGateways(ctx, r.tree, r.dir)
	}
	return r, err
}

func (r *repository) remove() { os.RemoveAll(r.dir) }

// write changes the working tree into the new version for a kind of comparison.
func (r *repository) write(k kind) error {
	const mock, slowMock = "1500 * time.Microsecond", "1575 * time.Microsecond"
	if err := r.replace("mockserver/config.go", mock, slowMock, k == slower); err != nil {
		return err
	}
	const forward = "\t\tproxy.ServeHTTP(w, r)\n"
	if err := r.replace("scenarios/example/gateway.go", forward, "\t\t<-time.After(3 * time.Millisecond)\n"+forward, k == gateway); err != nil {
		return err
	}
	const imports, more = "\t\"strings\"\n)\n", "\t\"strings\"\n\t\"time\"\n)\n"
	if err := r.replace("scenarios/example/gateway.go", imports, more, k == gateway); err != nil {
		return err
	}
	number := -1
	if k == row {
		number = slowRow
	}
	text := strings.NewReplacer("SLOW", fmt.Sprint(number), "NOISY", fmt.Sprint(noisyRow)).Replace(rowsTest)
	return os.WriteFile(filepath.Join(r.tree, "scenarios", "gaterows_test.go"), []byte(text), 0o666)
}

// replace sets a text, which the file contains exactly once, to its slow or its normal form.
func (r *repository) replace(file, normal, slow string, isSlow bool) error {
	path := filepath.Join(r.tree, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte(slow), []byte(normal))
	if bytes.Count(text, []byte(normal)) != 1 {
		return fmt.Errorf("%s: want %q once", path, normal)
	}
	if isSlow {
		text = bytes.Replace(text, []byte(normal), []byte(slow), 1)
	}
	return os.WriteFile(path, text, 0o666)
}

// compare makes one comparison, and keeps the samples in the folder out.
func (r *repository) compare(ctx context.Context, o options, k kind, out string) (c comparison, err error) {
	if k == bisection {
		return r.bisect(ctx, o, out)
	}
	if err := r.write(k); err != nil {
		return c, err
	}
	dir, suite := r.tree, []string{"-bench=Serve", "-trimpath", "./scenarios"}
	flags := []string{"-base=HEAD"}
	env := []string{"LLMBENCH_CONCURRENCY=2", "LLMBENCH_REQUESTS=6", "LLMBENCH_WARMUP=2", "LLMBENCH_INPUT=16", "LLMBENCH_OUTPUT=100", "LLMBENCH_CLIENT_BOUND=report"}
	switch k {
	case row:
		suite[0] = "-bench=GateRows"
	case gateway: // as in a user's own module, without any environment variable
		dir, suite, env = filepath.Join(r.tree, "scenarios", "example"), []string{"-bench=Gateway", "-trimpath", "."}, nil
	case buildEqual, buildDelay, buildCPU:
		if err := r.gateways.checkOut(ctx, k); err != nil {
			return c, err
		}
		dir, suite, flags, env = r.gateways.dir, []string{"-bench=Serve"}, r.gateways.flags(), r.gateways.env()
		if o.units == "" {
			o.units = filepath.Join(r.dir, "build-units.txt")
			if err := os.WriteFile(o.units, []byte("Unit srv-cpu-s/ktok better=lower gate=5%\n"), 0o666); err != nil {
				return c, err
			}
		}
	}
	args := append([]string{"ab", fmt.Sprintf("-n=%d", o.n), fmt.Sprintf("-max=%d", o.max), "-timeout=5m", "-out=" + out, "-units=" + o.units}, flags...)
	began := time.Now()
	state, output, err := r.run(ctx, dir, env, append(append(args, "--", "-benchtime=1x"), suite...))
	if err != nil {
		return c, err
	}
	c = comparison{kind: k, took: time.Since(began)}
	text, err := os.ReadFile(filepath.Join(out, "report.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("benchgate made no report, %v:\n%s", state, output)
	}
	if err == nil {
		err = json.Unmarshal(text, &c.report)
	}
	if err != nil {
		return c, err
	}
	last, err := os.ReadFile(filepath.Join(out, "report.txt"))
	lines := strings.Split(strings.TrimSpace(string(last)), "\n")
	c.finding, c.last = find(k, c.report), lines[len(lines)-1]
	return c, err
}

// run runs benchgate in dir and returns how it ended and what it printed.
func (r *repository) run(ctx context.Context, dir string, env, args []string) (*os.ProcessState, string, error) {
	cmd := exec.CommandContext(ctx, r.benchgate, args...)
	cmd.Dir = dir
	// After Ctrl-C at a terminal, benchgate gets two signals and ignores the second one.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	cmd.Env = append(cmd.Environ(), env...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		err = nil
	}
	return cmd.ProcessState, output.String(), err
}

// commands runs commands in dir, one after the other, until one fails.
func commands(ctx context.Context, dir string, all ...[]string) error {
	for _, args := range all {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = dir
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(output))
		}
	}
	return nil
}
