package backends

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestAPIKey checks that requests carry the key that the server requires.
func TestAPIKey(t *testing.T) {
	for _, c := range []struct {
		container Container
		want      string
	}{
		{Container{}, ""},
		{Container{Args: []string{"--seed", "0", "--api-key", "k", "k2"}}, "k"},
		{Container{Args: []string{"--api-key=k"}}, "k"},
		{Container{Env: map[string]string{"VLLM_API_KEY": "k"}}, "k"},
	} {
		c.container.Model = "m"
		spec, err := VLLM{Container: c.container}.Spec()
		assert.NilError(t, err)
		assert.Equal(t, spec.APIKey, c.want)
		for key, v := range spec.Config {
			assert.Assert(t, key == "backend" || !strings.Contains(" "+v+" ", " k "), "%s: %s", key, v)
		}
	}
}

// TestAPIKeyFromConfig checks that LLMBENCH_API_KEY is also the key of a server in a container. If
// Args contain several keys, requests must carry this one.
func TestAPIKeyFromConfig(t *testing.T) {
	cfg, err := ParseConfig([]string{"LLMBENCH_BACKEND=vllm", "LLMBENCH_MODEL=m", "LLMBENCH_API_KEY=k2", "LLMBENCH_ARGS=--api-key k k2"})
	assert.NilError(t, err)
	var server Server
	_, err = FromConfig(cfg, func(s Server) Backend { server = s; return nil })
	assert.NilError(t, err)
	spec, err := server.Spec()
	assert.NilError(t, err)
	assert.Equal(t, spec.APIKey, "k2")
}

// TestKwargsHideSecrets checks that the request which launches a model of
// Xinference is shown without secrets.
func TestKwargsHideSecrets(t *testing.T) {
	spec, err := Xinference{Container: Container{Model: "m"}, Engine: "vLLM", Kwargs: map[string]any{"api_key": "planted", "n": 1}}.Spec()
	assert.NilError(t, err)
	launch := spec.Setup[0]
	assert.Assert(t, strings.Contains(launch.Body, `"api_key":"planted"`), launch.Body)
	assert.Assert(t, !strings.Contains(launch.String()+spec.Config["launch"], "planted"))
}

// TestSettingsAreComparable checks that each setting that was changed is visible in the
// configuration lines. It does so for servers that take options, environment variables and files.
func TestSettingsAreComparable(t *testing.T) {
	m := Container{Model: "m", ModelsDir: "/data", GPUs: "ascend:0"}
	for _, c := range [][2]Server{
		{VLLM{Container: Container{Model: "m"}}, VLLM{Container: Container{Model: "m"}, MaxNumSeqs: 256}},
		{VLLM{Container: Container{Model: "m"}}, VLLM{Container: Container{Model: "m", Args: []string{"--seed", "1"}}}},
		{Ollama{Container: Container{Model: "m"}}, Ollama{Container: Container{Model: "m"}, Parallel: 2}},
		{LlamaCPPPython{Container: Container{Image: "a:1", Model: "m"}}, LlamaCPPPython{Container: Container{Image: "a:1", Model: "m"}, FlashAttn: true}},
		{TensorRTLLM{Container: Container{Model: "m"}}, TensorRTLLM{Container: Container{Model: "m"}, BlockReuse: Off}},
		{MindIE{Container: m}, MindIE{Container: m, MaxIterTimes: 400}},
	} {
		a, err := c[0].Spec()
		assert.NilError(t, err)
		b, err := c[1].Spec()
		assert.NilError(t, err)
		keys := 0
		for key, v := range b.Config {
			assert.Assert(t, !strings.Contains(v, "\n"), "%s: %q", key, v)
			if a.Config[key] != v {
				keys++
			}
		}
		assert.Equal(t, keys, 1, "%+v and %+v differ in %d configuration lines", c[0], c[1], keys)
	}
}

// TestXinferenceStarts checks the requests that a new Xinference needs before it answers and uses
// the GPUs that it was given.
func TestXinferenceStarts(t *testing.T) {
	for _, c := range []struct {
		x    Xinference
		want string // a part of the request that launches the model
		used string // the value of gpus-used in the configuration lines
	}{
		{Xinference{Container: Container{Model: "m", GPUs: "0,1"}, Engine: "vLLM"}, `"n_gpu":2`, "2"},
		{Xinference{Container: Container{Model: "m", GPUs: "all"}, Engine: "vLLM"}, "", "1"},
		{Xinference{Container: Container{Model: "m", ModelsDir: "/data"}, Engine: "LMDEPLOY"}, `"model_engine":"LMDEPLOY"`, ""},
		{Xinference{Container: Container{Model: "m"}, Engine: "vLLM", Packages: []string{"vllm==0.29.0"}}, `"virtual_env_packages":["vllm==0.29.0"]`, ""},
	} {
		spec, err := c.x.Spec()
		assert.NilError(t, err)
		assert.Equal(t, spec.Env["XINFERENCE_AUTH_ADVANCED"], "false")
		assert.Equal(t, spec.Env["XINFERENCE_HOME"], "/data")
		volumes := 0
		for _, m := range spec.Mounts {
			if m.Source == "llmbench-xinference" && m.Target == "/data" {
				volumes++
			}
		}
		assert.Equal(t, volumes, 1, "the engine would be installed at each start: %v", spec.Mounts)
		body := spec.Setup[0].Body
		assert.Assert(t, strings.Contains(body, c.want), body)
		assert.Equal(t, strings.Contains(body, "n_gpu"), strings.Contains(c.want, "n_gpu"), body)
		assert.Equal(t, spec.Config["gpus-used"], c.used)
	}
}

// TestImageOfVendor checks that the image fits the vendor of the GPU.
func TestImageOfVendor(t *testing.T) {
	for _, c := range []struct {
		server Server
		want   string
	}{
		{Ollama{Container: Container{Model: "m"}}, "ollama/ollama:0.35.1"},
		{Ollama{Container: Container{Model: "m", GPUs: "all"}}, "ollama/ollama:0.35.1"},
		{Ollama{Container: Container{Model: "m", GPUs: "amd:0"}}, "ollama/ollama:0.35.1-rocm"},
		{Ollama{Container: Container{Model: "m", GPUs: "amd:0", Image: "mine:1"}}, "mine:1"},
		{LlamaCPP{Container: Container{Model: "m", GPUs: "0"}}, "ghcr.io/ggml-org/llama.cpp:server-cuda-b11312"},
		{LlamaCPP{Container: Container{Model: "m", GPUs: "amd:0"}}, "ghcr.io/ggml-org/llama.cpp:server-rocm-b11312"},
	} {
		spec, err := c.server.Spec()
		assert.NilError(t, err)
		assert.Equal(t, spec.Image, c.want)
	}
}

// TestTextGenHome checks that HOME is the folder of the project, whatever the name of that folder
// is in the image.
func TestTextGenHome(t *testing.T) {
	spec, err := TextGen{Container: Container{Image: "a:4.7.3", Model: "m", ModelsDir: "/data"}}.Spec()
	assert.NilError(t, err)
	assert.DeepEqual(t, spec.Entrypoint, []string{"sh", spec.Files[0].Path})
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$HOME\" \"$@\"\n"
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "start_linux.sh"), []byte(script), 0o755))
	run := filepath.Join(t.TempDir(), "run.sh")
	assert.NilError(t, os.WriteFile(run, []byte(spec.Files[0].Content), 0o644))
	cmd := exec.Command("sh", append([]string{run}, spec.Cmd...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME=/nosuch")
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s", out)
	real, err := filepath.EvalSymlinks(dir)
	assert.NilError(t, err)
	assert.Equal(t, string(out), real+" "+strings.Join(spec.Cmd[1:], " ")+"\n")
}

// TestDynamoScript checks the script of Dynamo's container. It must run the front-end without the
// worker's port of metrics. It must end with the status of the process that ends first. When it is
// told to stop, it must give both processes time to end.
func TestDynamoScript(t *testing.T) {
	dir := t.TempDir()
	wait := "for i in {1..1200}; do sleep .05; done\n" // this takes a minute, and a signal is noticed between two sleeps
	frontend := "#!/bin/bash\ntrap 'echo front-end stopped; exit' TERM\necho \"front-end ${DYN_SYSTEM_PORT-none} $*\"\ntouch \"${0%/*}/up\"\n" + wait
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "python3"), []byte(frontend), 0o755))
	script := filepath.Join(dir, "run.sh")
	assert.NilError(t, os.WriteFile(script, []byte(dynamoScript), 0o644))
	run := func(worker string) (status int, output string) {
		_ = os.Remove(filepath.Join(dir, "up"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "bash", script, "bash", "-c", worker)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "DYN_SYSTEM_PORT=8081", "UP="+filepath.Join(dir, "up"))
		out, err := cmd.CombinedOutput()
		var ended *exec.ExitError
		assert.Assert(t, errors.As(err, &ended), "%v: %s", err, out)
		return ended.ExitCode(), string(out)
	}
	untilUp := "until [ -e \"$UP\" ]; do sleep .05; done\n"
	status, output := run(untilUp + "exit 3")
	assert.Equal(t, status, 3)
	assert.Assert(t, strings.Contains(output, "front-end none -m dynamo.frontend\nfront-end stopped\n"), output)
	status, output = run("trap 'echo worker stopped; exit' TERM\n" + untilUp + "kill -TERM $PPID\n" + wait)
	assert.Equal(t, status, 143)
	for _, want := range []string{"front-end stopped\n", "worker stopped\n"} {
		assert.Assert(t, strings.Contains(output, want), "no %q in %s", want, output)
	}
}
