package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/mockserver/testkit/memnet"
)

// served returns an instance whose server is the handler. Requests do not use the network, so tests
// can run in a bubble of [testing/synctest].
func served(t *testing.T, spec launch.Spec, handler http.HandlerFunc) *instance {
	t.Helper()
	ln := memnet.Listen()
	srv := &http.Server{Handler: handler}
	go srv.Serve(ln)
	t.Cleanup(func() { assert.NilError(t, srv.Close()) })
	i := newInstance(spec, t.Logf)
	i.target = llmbench.Target{URL: "http://server", Model: spec.Model, Dial: ln.Dial}
	i.server = probe.Server{Target: i.target}
	return i
}

// TestStages checks the stages with servers that are functions. They give answers that a real
// server would only give with a GPU, or if a model was missing.
func TestStages(t *testing.T) {
	model := func(i *instance) stage { return stage{"model", time.Second, i.getModel} }
	setup := func(i *instance) stage { return stage{"setup", time.Second, i.getSetup} }
	residency := func(i *instance) stage { return stage{"gpu", time.Second, i.checkResidency} }
	for _, c := range []struct {
		name    string
		stage   func(i *instance) stage
		answers map[string]string // the answer for each path; other paths return 404
		want    string            // a part of the error; "" means success
	}{
		{"the model is listed", model,
			map[string]string{"/v1/models": `{"data":[{"id":"a"},{"id":"m:latest"}]}`, "/api/version": `{"version":"0.35.1"}`}, ""},
		{"another model is listed", model,
			map[string]string{"/v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`},
			`ollama: model: not within 1s: model "m:latest" is not listed; the server has: a, b`},
		{"no list of models", model,
			map[string]string{"/v1/models": "<html>"}, "/v1/models is not a list of models: "},
		{"the model cannot be downloaded", setup,
			nil, "ollama: setup: fetch the model: POST /api/pull: status 404 Not Found: no such path"},
		{"all of the model is on the GPU", residency,
			map[string]string{"/api/ps": `{"models":[{"name":"m","size":6000000000,"size_vram":6000000000}]}`}, ""},
		{"a part of the model is not on the GPU", residency,
			map[string]string{"/api/ps": `{"models":[{"name":"m","size":6000000000,"size_vram":2000000000}]}`},
			"only 2000000000 of 6000000000 bytes of the model are on the GPU"},
		{"no model is loaded", residency,
			map[string]string{"/api/ps": `{"models":[]}`}, "/api/ps has no field models.0.size"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := served(t, specOf(t, backends.Ollama{Container: backends.Container{Model: "m", GPUs: "0"}}), func(w http.ResponseWriter, r *http.Request) {
					answer, found := c.answers[r.URL.Path]
					if !found {
						http.Error(w, "no such path", http.StatusNotFound)
						return
					}
					fmt.Fprint(w, answer)
				})
				err := run(t.Context(), i, c.stage(i))
				if c.want != "" {
					assert.ErrorContains(t, err, c.want)
					return
				}
				assert.NilError(t, err)
				if c.answers["/api/version"] != "" {
					assert.Equal(t, i.spec.Config["server-version"], "0.35.1")
				}
			})
		})
	}
}

// TestKnownFailures checks that known lines in a server's log are recognized as failures, and that
// the error gives advice. The lines were copied from the servers' logs.
func TestKnownFailures(t *testing.T) {
	gpu := backends.Container{Model: "m", GPUs: "0"}
	cpu := backends.Container{Model: "m"}
	for _, c := range []struct {
		server backends.Server
		line   string
		advice string // "" means that the line is no failure
	}{
		{backends.VLLM{Container: gpu}, "ValueError: To serve at least one request with the models's max seq len (32768), (4.00 GiB KV cache is needed, which is larger than the available KV cache memory (1.20 GiB).", "lower MaxModelLen"},
		{backends.VLLM{Container: gpu}, "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", "raise GPUMemoryUtilization"},
		{backends.VLLM{Container: gpu}, "ValueError: Free memory on device cuda:0 (3.1/15.8 GiB) on startup is less than desired GPU memory utilization (0.9, 14.2 GiB).", "another process holds memory of the GPU"},
		{backends.VLLM{Container: gpu}, "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute capability 7.5.", "set DType to float16"},
		{backends.VLLM{Container: gpu}, "OSError: nosuch/model is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'", "no such model on the Hugging Face Hub"},
		{backends.VLLM{Container: gpu}, "OSError: You are trying to access a gated repo. Cannot access gated repo for url https://huggingface.co/", "accept its licence"},
		{backends.VLLM{Container: gpu}, "RuntimeError: Failed to infer device type, please set the environment variable `VLLM_LOGGING_LEVEL=DEBUG`", "the image for CPUs"},
		{backends.VLLM{Container: gpu}, "ValueError: Unknown quantization method: gguf. Must be one of", "gguf and bitsandbytes are plugins"},
		{backends.VLLM{Container: gpu}, "RuntimeError: CUDA driver version is insufficient for CUDA runtime version", "driver 580 or newer"},
		{backends.VLLM{Container: gpu}, "(EngineCore pid=546) ERROR 08-12 03:12:29 [core.py:1202] RuntimeError: The NVIDIA driver on your system is too old (found version 12080).", "driver 580 or newer"},
		{backends.VLLM{Container: gpu}, "OSError: v9 is not a valid git identifier (branch name, tag name or commit id)", "check Revision"},
		{backends.VLLM{Container: gpu}, "Please pass the argument `trust_remote_code=True` to allow custom code to be run.", "set TrustRemoteCode"},
		{backends.VLLM{Container: gpu}, "Initializing a V1 LLM engine with config: model='m', trust_remote_code=True, dtype=torch.bfloat16", ""},
		{backends.VLLM{Container: gpu}, "INFO 11-21 10:08:15 [loader.py:447] Loading weights took 12.3 seconds", ""},
		{backends.TGI{Container: gpu}, "RuntimeError: Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`", "lower MaxBatchPrefillTokens"},
		{backends.TGI{Container: gpu}, "triton.runtime.autotuner.OutOfResources: out of resource: shared memory", "take an AWQ or EETQ model"},
		{backends.SGLang{Container: gpu}, "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.", "raise MemFractionStatic"},
		{backends.LMDeploy{Container: gpu, Engine: "turbomind"}, "lmdeploy - WARNING - archs.py:41 - Fallback to pytorch engine because `m` not supported by turbomind engine.", "set Engine to pytorch"},
		{backends.LMDeploy{Container: gpu}, "lmdeploy - WARNING - archs.py:41 - Fallback to pytorch engine because `m` not supported by turbomind engine.", ""},
		{backends.LlamaCPP{Container: gpu}, "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected", "runs without the GPU"},
		{backends.LlamaCPP{Container: cpu}, "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected", ""},
		{backends.LlamaCPP{Container: gpu}, "load_tensors: offloaded 0/33 layers to GPU", "runs without the GPU"},
		{backends.LlamaCPP{Container: gpu}, "warning: no usable GPU found, --gpu-layers option will be ignored", "runs without the GPU"},
		{backends.LlamaCPPPython{Container: backends.Container{Image: "a:1", Model: "m", GPUs: "0"}}, "load_tensors: layer   0 assigned to device CPU, is_swa = 0", "runs without the GPU"},
		{backends.LlamaCPPPython{Container: backends.Container{Image: "a:1", Model: "m", GPUs: "0"}, GPULayers: 8}, "load_tensors: layer   0 assigned to device CPU, is_swa = 0", ""},
		{backends.TextGen{Container: backends.Container{Image: "a:1", Model: "m", ModelsDir: "/data", GPUs: "0"}}, "torch.cuda.is_available() and is_xpu_available() returned False. This means that no GPU has been detected. Falling back to CPU mode.", "runs without the GPU"},
		{backends.TextGen{Container: backends.Container{Image: "a:1", Model: "m", ModelsDir: "/data", GPUs: "0"}}, "10:08:15-123456 ERROR    Error loading the model with llama.cpp: Server process terminated unexpectedly", "check that Model and Loader agree"},
		{backends.LlamaCPP{Container: gpu}, "load_tensors: offloaded 33/33 layers to GPU", ""},
		{backends.Ollama{Container: gpu}, `level=INFO source=types.go:50 msg="inference compute" id=cpu filter_id="" library=cpu compute="" name=cpu`, "runs without the GPU"},
		{backends.Ollama{Container: cpu}, `level=INFO source=types.go:50 msg="inference compute" id=cpu filter_id="" library=cpu compute="" name=cpu`, ""},
		{backends.Ollama{Container: gpu}, `level=INFO source=types.go:32 msg="inference compute" id=GPU-452cac9f filter_id=0 library=CUDA compute=6.1`, ""},
		{backends.Ollama{Container: cpu}, `level=INFO source=sched.go:632 msg="model is too large for system memory" requireFull=false`, "take a smaller quantization"},
		{backends.TensorRTLLM{Container: gpu}, "RuntimeError: Executor worker died during initialization", "the cause is in the lines above"},
	} {
		j := newJournal(specOf(t, c.server), t.Logf)
		assert.Equal(t, j.isFailure(c.line), c.advice != "", "%s: %s", j.spec.Backend, c.line)
		if c.advice != "" {
			err := j.failure("port", errors.New(c.line))
			assert.ErrorContains(t, err, "what to do: ")
			assert.ErrorContains(t, err, c.advice)
		}
	}
	vllm := newJournal(specOf(t, backends.VLLM{Container: gpu}), t.Logf)
	old := vllm.failure("running", errors.New("nvidia-container-cli: requirement error: unsatisfied condition: cuda>=13.0, please update your driver to a newer version, or use an earlier cuda container: unknown"))
	assert.ErrorContains(t, old, "needs driver 580 or newer")
	other := newJournal(specOf(t, backends.VLLM{Container: backends.Container{Image: "vllm/vllm-openai:v0.9.0", Model: "m"}}), t.Logf)
	assert.ErrorContains(t, other.failure("port", errors.New("it ended")), "\n  note: the image vllm/vllm-openai:v0.9.0 names none of the versions")
}

// TestReported checks that the results name the context that Ollama chose. It may be smaller than
// Ollama's default.
func TestReported(t *testing.T) {
	answer := `{"models":[{"name":"m:latest","context_length":8192}]}`
	i := served(t, specOf(t, backends.Ollama{Container: backends.Container{Model: "m"}}), func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, r.URL.Path, "/api/ps")
		fmt.Fprint(w, answer)
	})
	i.report(t.Context(), "context", "context", i.spec.Reported["context"])
	assert.Equal(t, i.describe()["context"], "8192")
	answer = "{}"
	i.report(t.Context(), "context", "context", i.spec.Reported["context"]) // an old version cannot report it, which is only logged
}

// TestCommit checks that the results name the commit of the model that was downloaded.
func TestCommit(t *testing.T) {
	commit := strings.Repeat("0123456789", 4)
	for _, c := range []struct {
		spec   launch.Spec
		output string
		want   string
	}{
		{launch.Spec{CommitFile: "/hub/refs/main"}, commit + "\n", commit},
		{launch.Spec{CommitFile: "/hub/refs/main"}, "cat: /hub/refs/main: No such file or directory", ""},
		{launch.Spec{Commit: probe.Field{Path: "/info", Name: "model_sha"}}, "", commit},
		{launch.Spec{}, commit, ""},
	} {
		c.spec.Config = map[string]string{}
		i := served(t, c.spec, func(w http.ResponseWriter, r *http.Request) {
			assert.Equal(t, r.URL.Path, "/info")
			fmt.Fprintf(w, `{"model_sha":%q}`, commit)
		})
		i.server.Exec = func(_ context.Context, command []string) (string, error) {
			assert.DeepEqual(t, command, []string{"cat", "/hub/refs/main"})
			return c.output, nil
		}
		i.readCommit(t.Context())
		assert.Equal(t, i.spec.Config["model-commit"], c.want)
	}
}

// TestChatTemplate checks that results distinguish chat templates with the same name.
func TestChatTemplate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jinja")
	describe := func() (string, error) {
		i := newInstance(launch.Spec{ChatTemplate: file, Config: map[string]string{"chat-template": "a.jinja"}}, t.Logf)
		err := i.describeTemplate()
		return i.spec.Config["chat-template"], err
	}
	_, err := describe()
	assert.ErrorContains(t, err, "the chat template: open "+file)
	assert.NilError(t, os.WriteFile(file, []byte("one"), 0o600))
	one, err := describe()
	assert.NilError(t, err)
	assert.Equal(t, one, "a.jinja sha256:7692c3ad3540")
	assert.NilError(t, os.WriteFile(file, []byte("two"), 0o600))
	two, err := describe()
	assert.NilError(t, err)
	assert.Assert(t, one != two)
}

// TestAdoptModel checks a server that makes up the names of its models. If it lists only one name,
// requests must carry that name.
func TestAdoptModel(t *testing.T) {
	list := `{"data":[{"id":"01-ai--yi-6b-chat"}]}`
	i := served(t, specOf(t, backends.OpenLLM{Container: backends.Container{Model: "01-ai/Yi-6B-Chat"}}), func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, r.URL.Path, "/v1/models")
		fmt.Fprint(w, list)
	})
	assert.NilError(t, i.findModel(t.Context()))
	assert.Equal(t, i.target.Model, "01-ai--yi-6b-chat")
	list = `{"data":[{"id":"a"},{"id":"b"}]}`
	assert.ErrorContains(t, i.findModel(t.Context()), "the server lists 2 models: want one: a, b")
}

// TestWait checks, on a fake clock, how long a start waits if probes are refused or not answered.
// It also checks that long waits are logged.
func TestWait(t *testing.T) {
	refuse := func(status int) error { return fmt.Errorf("a: %w", probe.StatusError{Code: status}) }
	for _, c := range []struct {
		name   string
		try    func(ctx context.Context, n int) error // n is the number of the call, from 1
		want   string                                 // a part of the error; "" means success
		min    time.Duration
		max    time.Duration
		logged bool
	}{
		{"the key is refused", func(context.Context, int) error { return refuse(http.StatusUnauthorized) }, "status 401 Unauthorized", 10 * time.Second, 11 * time.Second, false},
		{"the path is missing", func(context.Context, int) error { return refuse(http.StatusNotFound) }, "status 404 Not Found", 10 * time.Second, 11 * time.Second, false},
		{"the path appears late", func(_ context.Context, n int) error {
			if n < 5 {
				return refuse(http.StatusNotFound)
			}
			return nil
		}, "", 0, time.Second, false},
		{"the model is being loaded", func(context.Context, int) error { return refuse(http.StatusServiceUnavailable) }, "status 503", 30 * time.Minute, 30 * time.Minute, true},
		{"a probe hangs", func(ctx context.Context, n int) error {
			if n > 1 {
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}, "", 10 * time.Second, 11 * time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
				defer cancel()
				messages := 0
				j := newJournal(launch.Spec{}, func(string, ...any) { messages++ })
				began, n := time.Now(), 0
				err := j.wait(ctx, "health", func(ctx context.Context) error { n++; return c.try(ctx, n) })
				took := time.Since(began)
				if c.want == "" {
					assert.NilError(t, err)
				} else {
					assert.ErrorContains(t, err, c.want)
				}
				assert.Assert(t, c.min <= took && took <= c.max, "it took %v; want %v to %v", took, c.min, c.max)
				assert.Equal(t, messages > 0, c.logged, "%d messages in %v", messages, took)
			})
		})
	}
}

// TestReach checks which of the two addresses of a server is used.
func TestReach(t *testing.T) {
	dial := func(_ context.Context, _, addr string) (net.Conn, error) {
		switch addr {
		case "refuses":
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		case "unreachable":
			return nil, errors.New("no route")
		case "drops":
			return nil, os.ErrDeadlineExceeded
		}
		client, server := net.Pipe()
		if addr == "proxy" { // a proxy accepts the connection, but no server listens behind it
			server.Close()
		}
		return client, nil
	}
	for _, c := range []struct {
		containerAddr, publishedAddr string
		early                        bool
		want                         route
		err                          string
	}{
		{"up", "proxy", false, route{"up", "container-address", ""}, ""},
		{"", "up", false, route{"up", "published-port", "the container has no address that this machine can reach"}, ""},
		{"unreachable", "up", false, route{"up", "published-port", "the container's address unreachable cannot be reached: no route"}, ""},
		{"unreachable", "up", true, route{}, "no route"},
		{"drops", "up", true, route{"up", "published-port", "the container's address drops cannot be reached: i/o timeout"}, ""},
		{"refuses", "up", false, route{}, "refused"},
		{"", "refuses", false, route{}, "refused"},
		{"", "proxy", false, route{}, "the server does not listen behind the published port"},
		{"unreachable", "", false, route{}, "no route"},
	} {
		synctest.Test(t, func(t *testing.T) {
			got, err := reach(t.Context(), dial, c.containerAddr, c.publishedAddr, c.early)
			if c.err != "" {
				assert.ErrorContains(t, err, c.err)
				return
			}
			assert.NilError(t, err)
			assert.Equal(t, got, c.want)
		})
	}
}
