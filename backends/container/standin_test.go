package container

import (
	"bufio"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/container/internal/engine"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/facts"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
)

// standIns are stand-ins for all servers, in containers of one image.
type standIns struct {
	image   string
	volumes string // the prefix of the names of their volumes
	facts   []facts.Facts
	servers map[string]backends.Server // the servers, by the name of the backend
}

// standInImage returns the name of the image of all stand-ins, which it builds first unless the engine has it.
var standInImage = sync.OnceValues(func() (string, error) {
	e, err := engine.Connect()
	if err != nil {
		return "", err
	}
	program, err := compile(context.Background(), e, "github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/standin")
	if err != nil {
		return "", err
	}
	files := []engine.File{{Name: "standin", Content: program}}
	hash := sha256.New()
	hash.Write(program)
	paths, err := filepath.Glob("../testdata/facts/*.json")
	if err != nil {
		return "", err
	}
	for _, p := range paths {
		content, err := os.ReadFile(p)
		if err != nil {
			return "", err
		}
		hash.Write(content)
		files = append(files, engine.File{Name: "facts/" + filepath.Base(p), Content: content})
	}
	all, err := facts.Load("../testdata/facts")
	if err != nil {
		return "", err
	}
	links := map[string]bool{"bin/sh": true, "bin/bash": true, "bin/ollama": true}
	for _, f := range all {
		words := [][]string{f.Command.Words}
		for _, i := range f.Images {
			words = append(words, i.Entry)
		}
		for _, w := range words {
			if len(w) > 0 && !strings.HasPrefix(w[0], ".") {
				links[strings.TrimPrefix(inBin(w[0]), "/")] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		files = append(files, engine.File{Name: name, Link: "/standin"})
	}
	image := fmt.Sprintf("llmbench/standin:%.16x", hash.Sum(nil))
	if e.Has(context.Background(), image) {
		return image, nil
	}
	return image, e.Import(context.Background(), image, "/standin", files)
})

// newStandIns builds the image, and a folder of models that are empty files. The volumes of the
// stand-ins have different names from a real server's volumes, which are not touched. They
// are removed after t.
func newStandIns(t *testing.T) standIns {
	t.Helper()
	needDocker(t)
	s := readStandIns(t, t.TempDir())
	s.volumes = fmt.Sprintf("llmbench-test-%d-%x-", os.Getpid(), rand.Uint64())
	t.Cleanup(func() { removeVolumes(t, s.volumes) })
	var err error
	s.image, err = standInImage()
	assert.NilError(t, err)
	return s
}

// inBin returns the path of a program. A name without a slash becomes a path in /bin.
func inBin(program string) string {
	if strings.Contains(program, "/") {
		return program
	}
	return "/bin/" + program
}

// readStandIns returns stand-ins that have no image. Their models are in the folder dir.
func readStandIns(t testing.TB, dir string) standIns {
	t.Helper()
	all, err := facts.Load("../testdata/facts")
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "m.gguf"), nil, 0o644))
	assert.NilError(t, os.MkdirAll(filepath.Join(dir, "m"), 0o755))
	hub := backends.Container{Model: "m", ModelsDir: dir}
	gguf := backends.Container{Model: "m.gguf", ModelsDir: dir}
	local, npu, two := hub, hub, hub
	two.GPUs = "0,1"
	local.Image = "local/textgen:4.7.3"
	npu.GPUs = "ascend:0"
	return standIns{facts: all, servers: map[string]backends.Server{
		"vllm":            backends.VLLM{Container: hub, MaxModelLen: 4096, PrefixCaching: backends.On},
		"tgi":             backends.TGI{Container: hub, MaxTotalTokens: 4096},
		"tei":             backends.TEI{Container: hub},
		"sglang":          backends.SGLang{Container: hub, ContextLength: 4096},
		"lmdeploy":        backends.LMDeploy{Container: hub, SessionLen: 4096},
		"llamacpp":        backends.LlamaCPP{Container: gguf, Context: 4096, Parallel: 4},
		"llamacpp-python": backends.LlamaCPPPython{Container: gguf, Context: 4096},
		"ollama":          backends.Ollama{Container: gguf, Context: 4096},
		"textgen":         backends.TextGen{Container: local, Loader: "Transformers", Context: 4096},
		"openllm":         backends.OpenLLM{Container: hub, Engine: "pt"},
		"xinference":      backends.Xinference{Container: hub, Engine: "vLLM", Kwargs: map[string]any{"max_model_len": 4096}},
		"dynamo":          backends.Dynamo{Container: hub, MaxModelLen: 4096, PrefixCaching: backends.On},
		"vllm-disagg":     backends.VLLMDisagg{VLLM: backends.VLLM{Container: two, MaxModelLen: 4096, PrefixCaching: backends.On}},
		"tensorrtllm":     backends.TensorRTLLM{Container: hub, MaxSeqLen: 4096},
		"mindie":          backends.MindIE{Container: npu, MaxSeqLen: 4096},
	}}
}

// spec returns how the stand-in for a server is started. It is started like the server itself, but
// in the image of the stand-ins. It gets no devices, no folders of their drivers, and no limits
// that some engines are not allowed to raise.
func (s standIns) spec(t testing.TB, name string) (launch.Spec, facts.Facts) {
	t.Helper()
	return s.standIn(t, specOf(t, s.servers[name]))
}

// standIn changes how a server is started into how its stand-in is started.
func (s standIns) standIn(t testing.TB, spec launch.Spec) (launch.Spec, facts.Facts) {
	t.Helper()
	for i := range spec.Beside {
		spec.Beside[i], _ = s.standIn(t, spec.Beside[i])
	}
	f, doubt, found := facts.For(s.facts, spec.Backend, spec.Image)
	assert.Assert(t, found, "testdata/facts has no file of %s", spec.Backend)
	assert.Equal(t, doubt, "")
	if spec.Entrypoint == nil {
		i := max(0, slices.IndexFunc(f.Images, func(i facts.Image) bool { return i.Name == spec.Image }))
		if len(f.Images) > 0 && len(f.Images[i].Entry) > 0 {
			spec.Entrypoint = f.Images[i].Entry
		}
	}
	spec.Image = s.image
	spec.Env["STANDIN"] = f.Server + "-" + f.Version
	spec.Devices, spec.DevicesUsed, spec.Ulimits, spec.Groups = launch.Devices{}, 0, nil, nil
	spec.Mounts = slices.DeleteFunc(spec.Mounts, func(m launch.Mount) bool { return filepath.IsAbs(m.Source) && !exists(m.Source) })
	for i, m := range spec.Mounts {
		if !filepath.IsAbs(m.Source) {
			spec.Mounts[i].Source = s.volumes + m.Source
		}
	}
	return spec, f
}

// each runs a test for each server. Several of the tests run at the same time.
func (s standIns) each(t *testing.T, test func(t *testing.T, spec launch.Spec, f facts.Facts)) {
	t.Helper()
	for name := range s.servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, f := s.spec(t, name)
			test(t, spec, f)
		})
	}
}

// TestStandIns starts a stand-in for every server in the way in which the server itself is started.
// It measures the stand-in and removes it.
func TestStandIns(t *testing.T) {
	t.Parallel()
	s := newStandIns(t)
	for _, name := range backends.Names() {
		assert.Assert(t, s.servers[name] != nil || strings.HasPrefix(name, "mock") || name == "process", "no stand-in for %s", name)
	}
	readme, err := os.ReadFile("../README.md")
	assert.NilError(t, err)
	t.Run("servers", func(t *testing.T) {
		s.each(t, func(t *testing.T, spec launch.Spec, _ facts.Facts) {
			mounts := spec.Mounts
			for _, part := range spec.Beside {
				mounts = append(mounts, part.Mounts...)
			}
			for _, m := range mounts {
				volume, isVolume := strings.CutPrefix(m.Source, s.volumes)
				assert.Assert(t, isVolume || filepath.IsAbs(m.Source), "a volume of real servers: %s", m.Source)
				assert.Assert(t, !isVolume || strings.Contains(string(readme), "`"+volume+"`"), "README.md does not name the volume %s", volume)
			}
			i, err := start(t.Context(), spec, t.Logf)
			assert.NilError(t, err)
			assert.Assert(t, len(spec.Beside) == 0 || networks(t, ownLabels(t)...) > 0)
			measureStandIn(t, i)
			assert.NilError(t, i.stop())
		})
	})
	nothingLeft(t)
}

// measureStandIn makes one pass. It checks the answers and the values that the server itself
// reports.
func measureStandIn(t *testing.T, i *instance) {
	t.Helper()
	const n, tokens = 8, 8
	load := llmbench.Load{Concurrency: 2}
	for k := range n {
		load.Requests = append(load.Requests, llmbench.Request{Prompt: fmt.Sprintf("prompt number %d of this pass", k), MaxTokens: tokens})
	}
	generated := tokens
	if _, items := i.target.Dialect.(dialect.ItemsDialect); items {
		generated, load.NoStream = 0, true
		for k, r := range load.Requests {
			load.Requests[k] = llmbench.Request{Inputs: []string{r.Prompt, r.Prompt}}
		}
	}
	observer := i.target.Observe()
	assert.NilError(t, observer.Before(t.Context()))
	result, err := llmbench.Pass(t.Context(), i.spec.Backend, i.target, load)
	assert.NilError(t, err)
	defer result.Close()
	sent := 0
	for s := range result.All() {
		assert.NilError(t, s.Err)
		assert.Equal(t, s.OutputTokens, generated)
		sent++
	}
	assert.Equal(t, sent, n)
	figures, err := observer.After(t.Context())
	assert.NilError(t, err)
	names := i.spec.Metrics
	for unit, has := range map[string]bool{
		"srv-prefix-hit-%": len(names.CacheHits)+len(names.CacheHitRate) > 0,
		"srv-preempt/op":   len(names.Preemptions) > 0,
		"srv-queue-ns":     len(names.QueueTime) > 0,
	} {
		_, found := figures[unit]
		assert.Equal(t, found, has, "%s: %v", unit, figures)
	}
}

// TestBesideEnds checks a server that has several containers, of which one ends. The start must
// fail, the error must name that container and have its last lines, and nothing may be left.
func TestBesideEnds(t *testing.T) {
	t.Parallel()
	s := newStandIns(t)
	spec, _ := s.spec(t, "vllm-disagg")
	spec.Beside[0].Cmd = append(spec.Beside[0].Cmd, "--no-such-option")
	_, err := start(t.Context(), spec, t.Logf)
	assert.ErrorContains(t, err, "prefill: the container ended with exit status 2")
	assert.ErrorContains(t, err, "prefill: error: unrecognized arguments: --no-such-option")
	nothingLeft(t)
}

// failing holds the servers that TestStandInFailures really starts: one whose model is mounted, one that a request sets
// up, and one that has several containers.
var failing = []string{"llamacpp", "ollama", "vllm-disagg"}

// TestStandInFailures checks a start that cannot succeed, for every server. It must end when the
// log says so, and give advice, although the server's process keeps running. How a line of the log ends a start does not
// depend on the server, so that for most of them the test writes the line into the log itself, without a container.
func TestStandInFailures(t *testing.T) {
	t.Parallel()
	s := newStandIns(t)
	t.Run("servers", func(t *testing.T) {
		s.each(t, func(t *testing.T, spec launch.Spec, f facts.Facts) {
			j := newJournal(spec, t.Logf)
			k := slices.IndexFunc(f.Failures, func(l facts.Line) bool { return j.isFailure(l.Text) })
			assert.Assert(t, k >= 0, "no known failure of %s", f.Server)
			line := f.Failures[k].Text
			if !slices.Contains(failing, spec.Backend) {
				i := newInstance(spec, t.Logf)
				ctx, cancel := context.WithCancelCause(t.Context())
				i.abort = cancel
				assert.NilError(t, i.openLog())
				err := run(ctx, i, stage{"port", time.Hour, func(ctx context.Context) error {
					fmt.Fprintln(i.log, "a line before it\n"+line)
					<-ctx.Done()
					return context.Cause(ctx)
				}})
				assert.ErrorContains(t, err, "its log says: "+line)
				assert.ErrorContains(t, err, "what to do: ")
				return
			}
			spec.Env["STANDIN_FAILURE"] = line
			spec.Unchecked = "the image is of another version"
			var said strings.Builder
			_, err := start(t.Context(), spec, func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) })
			assert.Assert(t, strings.Contains(said.String(), f.Server+": "+spec.Unchecked+"\n"), said.String())
			assert.ErrorContains(t, err, "its log says: "+line)
			assert.ErrorContains(t, err, "what to do: ")
		})
	})
	nothingLeft(t)
}

// TestStandInRefusesOption checks one server for each style of command line. An option that the
// server does not know must end the start, with the message of the server's own parser.
func TestStandInRefusesOption(t *testing.T) {
	t.Parallel()
	messages := map[string]string{
		"argparse": "error: unrecognized arguments: --no-such-option", "clap": "error: unexpected argument '--no-such-option' found",
		"click": "Error: No such option: --no-such-option", "llama": "error: invalid argument: --no-such-option", "none": "unexpected argument: --no-such-option",
	}
	tried := map[string]bool{}
	s := newStandIns(t)
	t.Run("styles", func(t *testing.T) {
		for _, name := range slices.Sorted(maps.Keys(s.servers)) {
			spec, f := s.spec(t, name)
			if tried[f.Command.Style] {
				continue
			}
			tried[f.Command.Style] = true
			message := messages[f.Command.Style]
			assert.Assert(t, message != "", "no message of the style %q of %s", f.Command.Style, name)
			t.Run(f.Command.Style, func(t *testing.T) {
				t.Parallel()
				spec.Cmd = append(spec.Cmd, "--no-such-option")
				_, err := start(t.Context(), spec, t.Logf)
				assert.ErrorContains(t, err, "the container ended with exit status ")
				assert.ErrorContains(t, err, message)
			})
		}
		assert.Equal(t, len(tried), len(messages), "%v", tried)
	})
	nothingLeft(t)
}

// These environment variables turn [BenchmarkStandInProcess] into a helper process. They hold the
// image, a folder for the models, and the prefix of the volumes.
const (
	processImage   = "TEST_STANDIN_IMAGE"
	processModels  = "TEST_STANDIN_MODELS"
	processVolumes = "TEST_STANDIN_VOLUMES"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "8")               // parallel tests mostly wait for the engine
	_ = os.Setenv("LLMBENCH_CLIENT_BOUND", "report") // the tests check answers, not values
	os.Exit(llmbench.Main(m))
}

// ending holds the servers of TestStandInsEnd. There is one that makes its model from a mounted file, one that a request
// sets up, and one that has several containers, whose model is in a folder of the Hugging Face Hub.
var ending = []string{"ollama", "xinference", "vllm-disagg"}

// endingContainers is the number of the containers of these servers: vllm-disagg has three.
var endingContainers = len(ending) + 2

// BenchmarkStandInProcess is not a benchmark but the helper process of TestStandInsEnd. It starts
// stand-ins for several servers, reports that they are ready, and waits until it is interrupted.
func BenchmarkStandInProcess(b *testing.B) {
	image := os.Getenv(processImage)
	if image == "" {
		b.Skip("a helper of TestStandInsEnd")
	}
	s := readStandIns(b, os.Getenv(processModels))
	s.image, s.volumes = image, os.Getenv(processVolumes)
	for _, name := range ending {
		spec, _ := s.spec(b, name)
		Start(b, launched(spec))
		fmt.Println("READY", name)
	}
	ctx, cancel := context.WithTimeout(harness.Context(b), 5*time.Minute) // if nobody ends it earlier
	defer cancel()
	<-ctx.Done()
	b.Fatal(context.Cause(ctx))
}

// TestStandInsEnd ends a process that has started several servers, once with Ctrl-C and once with
// SIGKILL. After Ctrl-C its containers must be gone when it has ended. After SIGKILL they must be
// gone when the next process has begun.
func TestStandInsEnd(t *testing.T) {
	t.Parallel()
	s, image := newStandIns(t), mock(t).Image
	for _, c := range []struct {
		name   string
		signal os.Signal
	}{{"Ctrl-C", os.Interrupt}, {"SIGKILL", syscall.SIGKILL}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkStandInProcess$", "-test.benchtime=1x")
			env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LLMBENCH_") })
			cmd.Env = append(env, processImage+"="+s.image, processModels+"="+t.TempDir(), processVolumes+"="+s.volumes)
			output, err := cmd.StdoutPipe()
			assert.NilError(t, err)
			assert.NilError(t, cmd.Start())
			var text strings.Builder
			ready := 0
			for lines := bufio.NewScanner(output); lines.Scan(); {
				fmt.Fprintln(&text, lines.Text())
				if strings.HasPrefix(lines.Text(), "READY ") {
					if ready++; ready == len(ending) {
						break
					}
				}
			}
			if ready < len(ending) {
				err := cmd.Wait()
				t.Fatalf("%d of %d servers are ready: %v\n%s", ready, len(ending), err, &text)
			}
			assert.Equal(t, containersOf(t, cmd.Process), endingContainers)
			assert.Equal(t, networksOf(t, cmd.Process), 1)
			assert.NilError(t, cmd.Process.Signal(c.signal))
			_, _ = io.Copy(io.Discard, output)
			assert.Assert(t, cmd.Wait() != nil)
			if c.signal == syscall.SIGKILL {
				next := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHelperProcess$") // its input ends at once
				next.Env = append(env, helperImage+"="+image)
				out, err := next.CombinedOutput()
				assert.NilError(t, err, "%s", out)
			}
			awaitNothingOf(t, cmd.Process)
		})
	}
}

// removeVolumes removes the volumes whose names have a prefix.
func removeVolumes(t *testing.T, prefix string) {
	t.Helper()
	cli, err := client.New(client.FromEnv)
	assert.NilError(t, err)
	defer cli.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	all, err := cli.VolumeList(ctx, client.VolumeListOptions{Filters: make(client.Filters).Add("label", "llmbench.cache")})
	assert.NilError(t, err)
	for _, v := range all.Items {
		if strings.HasPrefix(v.Name, prefix) {
			_, err := cli.VolumeRemove(ctx, v.Name, client.VolumeRemoveOptions{})
			assert.NilError(t, err)
		}
	}
}
