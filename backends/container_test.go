package backends

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/engine"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/llamatest"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/llamatest/tinygguf"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// needDocker skips t without a Docker engine, or fails it if LLMBENCH_REQUIRE
// has docker in it.
func needDocker(t *testing.T) {
	t.Helper()
	_, err := engine.Connect()
	if err == nil {
		return
	}
	cfg, cfgErr := ReadConfig()
	assert.NilError(t, cfgErr)
	if slices.Contains(cfg.Require, "docker") || !errors.Is(err, engine.ErrUnavailable) {
		t.Fatal(err)
	}
	t.Skip(err)
}

// mock returns the simulated server in a container, with these flags.
func mock(t *testing.T, args ...string) MockContainer {
	t.Helper()
	needDocker(t)
	e, err := engine.Connect()
	assert.NilError(t, err)
	image, err := buildMock(t.Context(), e)
	assert.NilError(t, err)
	return MockContainer{Container{Image: image, Args: append([]string{"-ttft=0", "-per-token=0", "-per-prompt-token=0"}, args...)}}
}

// llama returns the real llama.cpp in a container, with a tiny model.
func llama(t *testing.T) LlamaCPP {
	t.Helper()
	needDocker(t)
	image := llamatest.Image(t)
	model := llamatest.Model(t, tinygguf.Options{})
	return LlamaCPP{
		Container: Container{Image: image, Model: filepath.Base(model), ModelsDir: filepath.Dir(model)},
		Context:   16384, Parallel: 4, Threads: 1,
	}
}

// containers returns those that this project's labels are on and that select
// says so of.
func containers(t *testing.T, labels ...string) (ids []string) {
	t.Helper()
	cli, err := client.New(client.FromEnv)
	assert.NilError(t, err)
	defer cli.Close()
	filters := make(client.Filters)
	for _, l := range labels {
		filters.Add("label", l)
	}
	all, err := cli.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: filters})
	assert.NilError(t, err)
	for _, c := range all.Items {
		ids = append(ids, c.ID)
	}
	return ids
}

// mine is the label of this process's containers.
func mine() string { return engine.LabelProcess + "=" + strconv.Itoa(os.Getpid()) }

// TestMockContainer measures the simulated server in a container.
func TestMockContainer(t *testing.T) {
	m := mock(t)
	t.Run("runs", func(t *testing.T) {
		target := m.Start(t)
		ids := containers(t, mine())
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
		i, err := cli.ContainerInspect(t.Context(), ids[0], client.ContainerInspectOptions{})
		assert.NilError(t, err)
		published := 0
		for port, bindings := range i.Container.NetworkSettings.Ports {
			for _, b := range bindings {
				published++
				assert.Assert(t, b.HostIP.IsLoopback(), "port %v is published on %v", port, b.HostIP)
			}
		}
		assert.Equal(t, published, 1)
	})
	assert.Equal(t, len(containers(t, mine())), 0, "the container is left after the test")
}

// TestEndsInPeace checks that a server has time to end what it does: here a
// stream of two seconds.
func TestEndsInPeace(t *testing.T) {
	s, err := mock(t, "-per-token=100ms").spec()
	assert.NilError(t, err)
	r, err := run(t.Context(), s, t.Logf)
	assert.NilError(t, err)
	res, err := direct.Post(r.target.URL+"/v1/completions", "application/json", strings.NewReader(`{"model":"mock","prompt":"a","max_tokens":20,"stream":true}`))
	assert.NilError(t, err)
	defer res.Body.Close()
	assert.NilError(t, r.stop())
	body, err := io.ReadAll(res.Body)
	assert.NilError(t, err)
	assert.Assert(t, strings.Contains(string(body), "[DONE]"), "%s", body)
}

// TestFailsAfterTheLastStage ends the start between its last stage and its success.
func TestFailsAfterTheLastStage(t *testing.T) {
	s, err := mock(t).spec()
	assert.NilError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = run(ctx, s, func(format string, args ...any) {
		if strings.Contains(fmt.Sprintf(format, args...), "completion: done") {
			cancel(errors.New("its log says: no"))
		}
	})
	assert.ErrorContains(t, err, "mock-container: ready: its log says: no")
	assert.Equal(t, len(containers(t, mine())), 0)
}

// TestBrokenServer checks that each way of failing gives one clear error, well
// before the deadlines of the stages after it, and leaves nothing behind.
func TestBrokenServer(t *testing.T) {
	needDocker(t)
	with := func(m MockContainer, change func(*MockContainer)) MockContainer {
		change(&m)
		return m
	}
	fail(t, []failing{
		{"the image is missing", MockContainer{Container{Image: "127.0.0.1:1/nosuch:1"}},
			[]string{"mock-container: image: the image 127.0.0.1:1/nosuch:1 is not on this machine and cannot be pulled: "}},
		{"a wrong flag", mock(t, "-bogus"),
			[]string{"the container ended with exit status 2", "flag provided but not defined: -bogus"}},
		{"the port never opens", with(mock(t, "-addr=0.0.0.0:9999"), func(m *MockContainer) { m.Ready.Port = time.Second }),
			[]string{"mock-container: port: not within 1s: ", "its last lines:\n    mockserver: serving http://"}},
		{"health is green and a completion is refused", mock(t, "-fault=http-500,every=1"),
			[]string{"mock-container: completion: ", "status 500"}},
		{"health is green and a completion hangs", with(mock(t, "-fault=stall,every=1"), func(m *MockContainer) { m.Ready.Completion = time.Second }),
			[]string{"mock-container: completion: not within 1s: "}},
		{"NVIDIA's GPUs are not granted", with(mock(t), func(m *MockContainer) { m.GPUs = "all" }),
			[]string{"mock-container: running: ", "what to do: the engine cannot grant NVIDIA's GPUs: install"}},
		{"AMD's GPUs are not granted", with(mock(t), func(m *MockContainer) { m.GPUs = "amd:0" }),
			[]string{"mock-container: running: ", "what to do: this machine has no AMD GPU with its driver"}},
	})
}

// A failing is a backend that cannot start.
type failing struct {
	name string
	contained
	want []string // in its error
}

// fail starts each and checks its error, and that nothing is left of it.
func fail(t *testing.T, all []failing) {
	t.Helper()
	e, err := engine.Connect()
	assert.NilError(t, err)
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			s, err := c.spec()
			assert.NilError(t, err)
			if s.gpus.vendor == nvidia && e.HasRuntime("nvidia") || s.gpus.vendor == amd && exists("/dev/kfd") {
				t.Skip("this machine has such a GPU")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			r, err := run(ctx, s, t.Logf)
			if err == nil {
				r.stop()
			}
			for _, want := range c.want {
				assert.ErrorContains(t, err, want)
			}
			assert.NilError(t, ctx.Err(), "%v", err)
		})
	}
	assert.Equal(t, len(containers(t, mine())), 0)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
