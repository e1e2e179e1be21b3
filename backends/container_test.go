package backends

import (
	"context"
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
	cfg, cfgErr := llmbench.ReadConfig()
	assert.NilError(t, cfgErr)
	if slices.Contains(cfg.Require, "docker") {
		t.Fatal(err)
	}
	t.Skip(err)
}

// mock returns the simulated server in a container, with these flags.
func mock(t *testing.T, args ...string) MockContainer {
	t.Helper()
	needDocker(t)
	image, err := mockImage(t.Context())
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

// TestStartFails checks that each way of failing gives one clear error, well
// before the deadlines of the stages after it, and leaves nothing behind.
func TestStartFails(t *testing.T) {
	needDocker(t)
	soon := Deadlines{Port: 2 * time.Second, Health: 2 * time.Second, Completion: 2 * time.Second}
	with := func(m MockContainer, change func(*MockContainer)) MockContainer {
		m.Ready = soon
		change(&m)
		return m
	}
	same := func(*MockContainer) {}
	broken := llama(t)
	assert.NilError(t, os.WriteFile(filepath.Join(broken.ModelsDir, "broken.gguf"), []byte("GGUF, but no more"), 0o644))
	for _, c := range []struct {
		name  string
		start contained
		want  []string
	}{
		{"the image is missing", MockContainer{Container{Image: "llmbench/nosuch:1"}},
			[]string{"mock-container: image: the image llmbench/nosuch:1 is not on this machine and cannot be pulled: "}},
		{"a wrong flag", with(mock(t, "-bogus"), same),
			[]string{"the container ended with exit status 2", "flag provided but not defined: -bogus"}},
		{"the port never opens", with(mock(t, "-addr=0.0.0.0:9999"), same),
			[]string{"mock-container: port: not within 2s: ", "its last lines:\n    mockserver: serving http://"}},
		{"health is green and a completion is refused", with(mock(t, "-fault=http-500,every=1"), same),
			[]string{"mock-container: completion: ", "status 500"}},
		{"health is green and a completion hangs", with(mock(t, "-fault=stall,every=1"), same),
			[]string{"mock-container: completion: not within 2s: "}},
		{"the model is missing", LlamaCPP{Container: Container{Image: broken.Image, Model: "nosuch.gguf", ModelsDir: broken.ModelsDir}},
			[]string{`llamacpp: model "nosuch.gguf" is not in the folder of models ` + broken.ModelsDir + ", which has: broken.gguf, tiny-"}},
		{"the model is broken", func() contained { l := broken; l.Model = "broken.gguf"; return l }(),
			[]string{"llamacpp: ", "what to do: the model cannot be loaded: check that Model is a whole GGUF file", "broken.gguf"}},
		{"an argument of another version", func() contained { l := broken; l.Args = []string{"--no-such-argument"}; return l }(),
			[]string{"what to do: this version of the server does not know an argument: check Args", "--no-such-argument"}},
		{"killed for lack of memory", func() contained { l := broken; l.Memory, l.Context = 24<<20, 1<<20; return l }(),
			[]string{"llamacpp: ", "the container was killed for lack of memory (OOM)"}},
		{"NVIDIA's GPUs are not granted", with(mock(t), func(m *MockContainer) { m.GPUs = "all" }),
			[]string{"mock-container: running: ", "what to do: the engine cannot grant NVIDIA's GPUs: install"}},
		{"AMD's GPUs are not granted", with(mock(t), func(m *MockContainer) { m.GPUs = "amd:0" }),
			[]string{"mock-container: running: ", "what to do: this machine has no AMD GPU with its driver"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := c.start.spec()
			assert.NilError(t, err)
			if e, _ := engine.Connect(); s.gpus.vendor != "" && e.HasRuntime("nvidia") || s.gpus.vendor == amd && exists("/dev/kfd") {
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
