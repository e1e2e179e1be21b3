package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/poll"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/container/internal/engine"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/llamatest/tinygguf"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// needDocker returns the Docker engine. Without one it skips t, or fails t if
// LLMBENCH_REQUIRE contains docker.
func needDocker(t *testing.T) *engine.Engine {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: containers take seconds")
	}
	e, err := engine.Connect()
	if err == nil {
		return e
	}
	if !errors.Is(err, engine.ErrUnavailable) {
		t.Fatal(err)
	}
	need.Missing(t, need.Docker, err)
	return nil
}

// mock returns the simulated server in a container. The server gets the given flags.
func mock(t *testing.T, args ...string) backends.MockContainer {
	t.Helper()
	e := needDocker(t)
	spec, err := backends.MockContainer{}.Spec()
	assert.NilError(t, err)
	image, err := buildImage(t.Context(), e, spec.GoProgram)
	assert.NilError(t, err)
	return backends.MockContainer{Container: backends.Container{Image: image, Args: append([]string{"-ttft=0", "-per-token=0", "-per-prompt-token=0"}, args...)}}
}

// llama returns the real llama.cpp in a container, with a tiny model.
func llama(t *testing.T) backends.LlamaCPP {
	t.Helper()
	needDocker(t)
	image := llamatest.Image(t)
	model := llamatest.Model(t, tinygguf.Options{})
	return backends.LlamaCPP{
		Container: backends.Container{Image: image, Model: filepath.Base(model), ModelsDir: filepath.Dir(model)},
		Context:   16384, Parallel: 4, Threads: 1,
	}
}

// dockerClient returns a client of the engine. The caller must close it.
func dockerClient(t *testing.T) *client.Client {
	t.Helper()
	cli, err := client.New(client.FromEnv)
	assert.NilError(t, err)
	return cli
}

// withLabels selects what has all the labels.
func withLabels(labels []string) client.Filters {
	return make(client.Filters).Add("label", labels...)
}

// containers returns the ids of the containers that have all the labels.
func containers(t *testing.T, labels ...string) (ids []string) {
	t.Helper()
	cli := dockerClient(t)
	defer cli.Close()
	all, err := cli.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: withLabels(labels)})
	assert.NilError(t, err)
	for _, c := range all.Items {
		ids = append(ids, c.ID)
	}
	return ids
}

// ownLabels returns the labels of the containers and networks of one test in this process. They distinguish tests that run
// at the same time.
func ownLabels(t testing.TB) []string {
	return []string{engine.LabelProcess + "=" + strconv.Itoa(os.Getpid()), testLabel + "=" + testName(t)}
}

// testLabel is the label with the name of the test that has started a container.
const testLabel = "llmbench.test"

// testName returns the name of the test without the names of subtests.
func testName(t testing.TB) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return name
}

// nothingLeft checks that no container and no network of the test exists.
func nothingLeft(t *testing.T) {
	t.Helper()
	assert.Equal(t, len(containers(t, ownLabels(t)...)), 0, "containers of the test are left")
	assert.Equal(t, networks(t, ownLabels(t)...), 0, "networks of the test are left")
}

// networks returns the number of networks that have all the labels.
func networks(t *testing.T, labels ...string) int {
	t.Helper()
	cli := dockerClient(t)
	defer cli.Close()
	all, err := cli.NetworkList(t.Context(), client.NetworkListOptions{Filters: withLabels(labels)})
	assert.NilError(t, err)
	return len(all.Items)
}

func TestMockContainer(t *testing.T) {
	t.Parallel()
	m := mock(t)
	t.Run("runs", func(t *testing.T) {
		target := Start(t, launched(specOf(t, m)))
		ids := containers(t, ownLabels(t)...)
		assert.Equal(t, len(ids), 1)
		for _, tokens := range []int{1, 24, 200} {
			s := llmbench.Do(t.Context(), target, llmbench.Request{Prompt: "one two three", MaxTokens: tokens}, true)
			assert.NilError(t, s.Err)
			assert.Equal(t, s.OutputTokens, tokens)
			assert.Equal(t, s.PromptTokens, 3)
		}
		assert.Equal(t, target.Config["backend"], "mock-container")
		assert.Equal(t, target.Config["image"], m.Image)
		assert.Assert(t, strings.HasPrefix(target.Config["image-digest"], "sha256:"), "%v", target.Config)

		cli, err := client.New(client.FromEnv)
		assert.NilError(t, err)
		defer cli.Close()
		info, err := cli.ContainerInspect(t.Context(), ids[0], client.ContainerInspectOptions{})
		assert.NilError(t, err)
		published := 0
		for port, bindings := range info.Container.NetworkSettings.Ports {
			for _, b := range bindings {
				published++
				assert.Assert(t, b.HostIP.IsLoopback(), "port %v is published on %v", port, b.HostIP)
			}
		}
		assert.Equal(t, published, 1)
	})
	nothingLeft(t)
}

// TestImageIsBuilt checks that the simulated server works if no image of it exists yet.
func TestImageIsBuilt(t *testing.T) {
	t.Parallel()
	needDocker(t)
	t.Run("runs", func(t *testing.T) {
		target := New(launched(specOf(t, backends.MockContainer{}))).Start(t)
		assert.Assert(t, strings.HasPrefix(target.Config["image"], "llmbench/mockserver:"), "%v", target.Config)
		assert.Assert(t, target.Config["image"] != "llmbench/mockserver:built")
	})
	nothingLeft(t)
}

// TestStopLetsStreamsEnd checks that a server that is stopped has time to finish its answers. Here
// that is a stream of two seconds.
func TestStopLetsStreamsEnd(t *testing.T) {
	t.Parallel()
	i, err := start(t.Context(), specOf(t, mock(t, "-per-token=100ms")), t.Logf)
	assert.NilError(t, err)
	res, err := http.Post(i.target.URL+"/v1/completions", "application/json", strings.NewReader(`{"model":"mock","prompt":"a","max_tokens":20,"stream":true}`))
	assert.NilError(t, err)
	defer res.Body.Close()
	assert.NilError(t, i.stop())
	body, err := io.ReadAll(res.Body)
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(body), "[DONE]"), "%s", body)
}

// TestFailureAfterLastStage cancels the start between its last stage and its
// success.
func TestFailureAfterLastStage(t *testing.T) {
	t.Parallel()
	spec := specOf(t, mock(t))
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := start(ctx, spec, func(format string, args ...any) {
		if strings.Contains(fmt.Sprintf(format, args...), "completion: done") {
			cancel(errors.New("its log says: no"))
		}
	})
	assert.ErrorContains(t, err, "mock-container: ready: its log says: no")
	nothingLeft(t)
}

// TestBrokenServer checks that each kind of failure gives one clear error, that it does so before
// the deadlines of later stages, and that nothing is left behind.
func TestBrokenServer(t *testing.T) {
	t.Parallel()
	needDocker(t)
	with := func(m backends.MockContainer, change func(*backends.MockContainer)) backends.MockContainer {
		change(&m)
		return m
	}
	testFailures(t, []failureCase{
		{"the image is missing", backends.MockContainer{Container: backends.Container{Image: "127.0.0.1:1/nosuch:1"}},
			[]string{"mock-container: image: the image 127.0.0.1:1/nosuch:1 is not on this machine and cannot be pulled: "}},
		{"a wrong flag", mock(t, "-bogus"),
			[]string{"the container ended with exit status 2", "flag provided but not defined: -bogus"}},
		{"the port never opens", with(mock(t, "-addr=0.0.0.0:9999"), func(m *backends.MockContainer) { m.Ready.Port = 5 * time.Second }),
			[]string{"mock-container: port: not within 5s: ", "last lines of its log:\n    mockserver: serving http://"}},
		{"health is good and a completion is refused", mock(t, "-fault=http-500,every=1"),
			[]string{"mock-container: completion: ", "status 500"}},
		{"health is good and a completion hangs", with(mock(t, "-fault=stall,every=1"), func(m *backends.MockContainer) { m.Ready.Completion = time.Second }),
			[]string{"mock-container: completion: not within 1s: "}},
		{"NVIDIA GPUs are not granted", with(mock(t), func(m *backends.MockContainer) { m.GPUs = "all" }),
			[]string{"mock-container: running: ", "what to do: the engine cannot grant NVIDIA GPUs: install"}},
		{"AMD GPUs are not granted", with(mock(t), func(m *backends.MockContainer) { m.GPUs = "amd:0" }),
			[]string{"mock-container: running: ", "what to do: this machine has no AMD GPU with a driver"}},
	})
}

// A failureCase is a server that cannot start, and the error that it must give.
type failureCase struct {
	name   string
	server backends.Server
	want   []string // parts of the error
}

// testFailures starts each server. It checks the error, and that no container is left. Each start
// has a time limit far below the deadlines of the stages.
func testFailures(t *testing.T, cases []failureCase) {
	t.Helper()
	e := needDocker(t)
	t.Run("servers", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				spec := specOf(t, c.server)
				if spec.Devices.Vendor == launch.NVIDIA && e.HasRuntime("nvidia") || spec.Devices.Vendor == launch.AMD && exists("/dev/kfd") {
					t.Skip("this machine has such a GPU")
				}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				i, err := start(ctx, spec, t.Logf)
				if err == nil {
					assert.NilError(t, i.stop())
				}
				for _, want := range c.want {
					assert.ErrorContains(t, err, want)
				}
				assert.NilError(t, ctx.Err(), "%v", err)
			})
		}
	})
	nothingLeft(t)
}

// TestLastWords checks a start during which the engine reports that the container has ended. The
// start must wait for the container, so that the error has its exit status and its last lines.
func TestLastWords(t *testing.T) {
	t.Parallel()
	i, err := start(t.Context(), specOf(t, mock(t)), t.Logf)
	assert.NilError(t, err)
	defer func() { assert.Check(t, i.remove()) }()
	assert.Assert(t, !i.endedSoon())
	cli, err := client.New(client.FromEnv)
	assert.NilError(t, err)
	defer cli.Close()
	ids := containers(t, ownLabels(t)...)
	assert.Equal(t, len(ids), 1)
	_, err = cli.ContainerKill(t.Context(), ids[0], client.ContainerKillOptions{Signal: "SIGKILL"})
	assert.NilError(t, err)
	poll.WaitOn(t, func(poll.LogT) poll.Result {
		if !i.box.Exited() {
			return poll.Continue("the container runs")
		}
		return poll.Success()
	}, poll.WithDelay(time.Millisecond), poll.WithTimeout(2*time.Minute))
	assert.Assert(t, i.endedSoon())
	assert.Equal(t, i.box.End().String(), "the container ended with exit status 137")
}

// specOf returns the Spec of a server whose fields are valid. Its containers have the label of the test. The engine has
// more time than usual to start them, because tests on a busy machine start several containers at the same time.
func specOf(t testing.TB, server backends.Server) launch.Spec {
	t.Helper()
	spec, err := server.Spec()
	assert.NilError(t, err)
	spec.Labels = map[string]string{testLabel: testName(t)}
	spec.Deadlines.Running = 5 * time.Minute
	for i := range spec.Beside {
		spec.Beside[i].Labels = spec.Labels
	}
	return spec
}

// A launched is a server whose Spec is already made.
type launched launch.Spec

func (l launched) Spec() (launch.Spec, error) { return launch.Spec(l), nil }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestLastLines stops a container as soon as it has started. The log must have the line that it printed.
func TestLastLines(t *testing.T) {
	t.Parallel()
	for range 5 {
		dir := t.TempDir()
		m := backends.MockContainer{Container: backends.Container{Image: mock(t).Image, LogDir: dir}}
		i, err := start(t.Context(), specOf(t, m), t.Logf)
		assert.NilError(t, err)
		assert.NilError(t, i.stop())
		logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
		assert.NilError(t, err)
		assert.Equal(t, len(logs), 1)
		text, err := os.ReadFile(logs[0])
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(string(text), "serving http://"), "%q", text)
	}
}
