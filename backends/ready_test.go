package backends

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
)

// TestStages checks stages with servers that are functions: those of real ones
// that would need a GPU, or a model that is not there.
func TestStages(t *testing.T) {
	for _, c := range []struct {
		name    string
		do      func(r *running) stage
		answers map[string]string // by path; others are 404
		want    string            // in the error; "" is success
	}{
		{"a model is listed", func(r *running) stage { return stage{"model", time.Second, r.getModel} },
			map[string]string{"/v1/models": `{"data":[{"id":"a"},{"id":"m:latest"}]}`, "/api/version": `{"version":"0.32.15"}`}, ""},
		{"another model is listed", func(r *running) stage { return stage{"model", time.Second, r.getModel} },
			map[string]string{"/v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`},
			`ollama: model: not within 1s: model "m:latest" is not listed; the server has: a, b`},
		{"no list of models", func(r *running) stage { return stage{"model", time.Second, r.getModel} },
			map[string]string{"/v1/models": "<html>"}, "/v1/models is no list of models: "},
		{"the model cannot be fetched", func(r *running) stage { return stage{"setup", time.Second, r.getSetup} },
			nil, "ollama: setup: fetch the model: POST /api/pull: status 404 Not Found: no such path"},
		{"all of the model is on the GPU", func(r *running) stage { return stage{"gpu", time.Second, r.onGPU} },
			map[string]string{"/api/ps": `{"models":[{"name":"m","size":6000000000,"size_vram":6000000000}]}`}, ""},
		{"not all of the model is on the GPU", func(r *running) stage { return stage{"gpu", time.Second, r.onGPU} },
			map[string]string{"/api/ps": `{"models":[{"name":"m","size":6000000000,"size_vram":2000000000}]}`},
			"only 2000000000 of 6000000000 bytes of the model are on the GPU"},
		{"no model is loaded", func(r *running) stage { return stage{"gpu", time.Second, r.onGPU} },
			map[string]string{"/api/ps": `{"models":[]}`}, "/api/ps has no field models.0.size"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Ollama{Container: Container{Model: "m", GPUs: "0"}}.spec()
			assert.NilError(t, err)
			r := served(t, s, func(w http.ResponseWriter, r *http.Request) {
				answer, found := c.answers[r.URL.Path]
				if !found {
					http.Error(w, "no such path", http.StatusNotFound)
					return
				}
				fmt.Fprint(w, answer)
			})
			err = r.stage(t.Context(), c.do(r))
			if c.want != "" {
				assert.ErrorContains(t, err, c.want)
				return
			}
			assert.NilError(t, err)
			if v := c.answers["/api/version"]; v != "" {
				assert.Equal(t, r.spec.config["server-version"], "0.32.15")
			}
		})
	}
}

// TestKnownFailures checks that a known line ends the wait and says what to do:
// the lines are what the servers write.
func TestKnownFailures(t *testing.T) {
	gpu := Container{Model: "m", GPUs: "0"}
	cpu := Container{Model: "m"}
	for _, c := range []struct {
		contained
		line   string
		advice string // "" is no failure
	}{
		{VLLM{Container: gpu}, "ValueError: To serve at least one request with the models's max seq len (32768), (4.00 GiB KV cache is needed, which is larger than the available KV cache memory (1.20 GiB).", "lower MaxModelLen"},
		{VLLM{Container: gpu}, "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.", "raise GPUMemoryUtilization"},
		{VLLM{Container: gpu}, "ValueError: Free memory on device cuda:0 (3.1/15.8 GiB) on startup is less than desired GPU memory utilization (0.9, 14.2 GiB).", "another process holds memory of the GPU"},
		{VLLM{Container: gpu}, "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute capability 7.5.", "set DType to float16"},
		{VLLM{Container: gpu}, "OSError: nosuch/model is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'", "no such model on the Hugging Face Hub"},
		{VLLM{Container: gpu}, "OSError: You are trying to access a gated repo. Cannot access gated repo for url https://huggingface.co/", "accept its licence"},
		{VLLM{Container: gpu}, "INFO 11-21 10:08:15 [loader.py:447] Loading weights took 12.3 seconds", ""},
		{TGI{Container: gpu}, "RuntimeError: Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`", "lower MaxBatchPrefillTokens"},
		{TGI{Container: gpu}, "triton.runtime.autotuner.OutOfResources: out of resource: shared memory", "take an AWQ or EETQ model"},
		{SGLang{Container: gpu}, "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.", "raise MemFractionStatic"},
		{LMDeploy{Container: gpu, Engine: "turbomind"}, "lmdeploy - WARNING - archs.py:41 - Fallback to pytorch engine because `m` not supported by turbomind engine.", "set Engine to pytorch"},
		{LMDeploy{Container: gpu}, "lmdeploy - WARNING - archs.py:41 - Fallback to pytorch engine because `m` not supported by turbomind engine.", ""},
		{LlamaCPP{Container: gpu}, "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected", "runs without the GPU"},
		{LlamaCPP{Container: cpu}, "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected", ""},
		{LlamaCPP{Container: gpu}, "load_tensors: offloaded 0/33 layers to GPU", "runs without the GPU"},
		{LlamaCPP{Container: gpu}, "warning: no usable GPU found, --gpu-layers option will be ignored", "runs without the GPU"},
		{LlamaCPPPython{Container: Container{Image: "a:1", Model: "m", GPUs: "0"}}, "load_tensors: layer   0 assigned to device CPU, is_swa = 0", "runs without the GPU"},
		{LlamaCPPPython{Container: Container{Image: "a:1", Model: "m", GPUs: "0"}, GPULayers: 8}, "load_tensors: layer   0 assigned to device CPU, is_swa = 0", ""},
		{TextGen{Container: Container{Image: "a:1", Model: "m", ModelsDir: "/data", GPUs: "0"}}, "Warning: torch.cuda.is_available() returned False.", "runs without the GPU"},
		{LlamaCPP{Container: gpu}, "load_tensors: offloaded 33/33 layers to GPU", ""},
		{Ollama{Container: gpu}, `level=INFO msg="no compatible GPUs were discovered"`, "runs without the GPU"},
		{Ollama{Container: cpu}, `level=INFO msg="no compatible GPUs were discovered"`, ""},
		{TensorRTLLM{Container: gpu}, "RuntimeError: Executor worker died during initialization", "its own error is in the lines above"},
	} {
		s, err := c.spec()
		assert.NilError(t, err)
		r := served(t, s, nil)
		var cause error
		r.fail = func(err error) { cause = err }
		r.judge(c.line)
		assert.Equal(t, cause != nil, c.advice != "", "%s: %s: %v", s.backend, c.line, cause)
		if c.advice != "" {
			assert.ErrorContains(t, r.failed("port", cause), "what to do: ")
			assert.ErrorContains(t, r.failed("port", cause), c.advice)
		}
	}
}

// TestOwnName checks that a server is asked for the only name that it lists,
// where that is of its own making.
func TestOwnName(t *testing.T) {
	s, err := OpenLLM{Container: Container{Model: "01-ai/Yi-6B-Chat"}}.spec()
	assert.NilError(t, err)
	list := `{"data":[{"id":"01-ai--yi-6b-chat"}]}`
	r := served(t, s, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, r.URL.Path, "/v1/models")
		fmt.Fprint(w, list)
	})
	assert.NilError(t, r.findModel(t.Context()))
	assert.Equal(t, r.target.Model, "01-ai--yi-6b-chat")
	list = `{"data":[{"id":"a"},{"id":"b"}]}`
	assert.ErrorContains(t, r.findModel(t.Context()), "the server lists 2 models: a, b")
}

// TestProbes checks how long a probe and a refusal are waited for, and that it is
// told, on a clock that does not make anybody wait.
func TestProbes(t *testing.T) {
	for _, c := range []struct {
		name string
		try  func(ctx context.Context, n int) error // n counts from 1
		want string                                 // "" is success
		min  time.Duration
		max  time.Duration
	}{
		{"the key is not known", func(context.Context, int) error { return statusError{http.StatusUnauthorized} }, "status 401 Unauthorized", 10 * time.Second, 11 * time.Second},
		{"the path is not there", func(context.Context, int) error { return fmt.Errorf("a: %w", statusError{http.StatusNotFound}) }, "status 404 Not Found", 10 * time.Second, 11 * time.Second},
		{"the path comes late", func(_ context.Context, n int) error {
			if n < 5 {
				return statusError{http.StatusNotFound}
			}
			return nil
		}, "", 0, time.Second},
		{"the model is loading", func(context.Context, int) error { return statusError{http.StatusServiceUnavailable} }, "status 503", 30 * time.Minute, 30 * time.Minute},
		{"a probe hangs", func(ctx context.Context, n int) error {
			if n > 1 {
				return nil
			}
			<-ctx.Done()
			return context.Cause(ctx)
		}, "", 10 * time.Second, 11 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
				defer cancel()
				told := 0
				r := &running{log: &serverlog.Log{}, logf: func(string, ...any) { told++ }}
				began, n := time.Now(), 0
				err := r.poll(ctx, "health", func(ctx context.Context) error { n++; return c.try(ctx, n) })
				took := time.Since(began)
				if c.want == "" {
					assert.NilError(t, err)
				} else {
					assert.ErrorContains(t, err, c.want)
				}
				assert.Assert(t, c.min <= took && took <= c.max, "it took %v; want %v to %v", took, c.min, c.max)
				assert.Equal(t, told > 0, took > 11*time.Second || c.want == "" && took >= tellEvery, "what was told in %v", took)
			})
		})
	}
}

// TestReach checks which of a server's two addresses is taken.
func TestReach(t *testing.T) {
	listen := func(serve func(net.Conn)) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		assert.NilError(t, err)
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				serve(conn)
			}
		}()
		return l.Addr().String()
	}
	up, proxy := listen(func(net.Conn) {}), listen(func(c net.Conn) { c.Close() })
	const refuses, nowhere = "127.0.0.1:1", "224.0.0.1:1" // TCP has no multicast
	for _, c := range []struct{ direct, published, addr, route, err string }{
		{up, proxy, up, "container-address", ""},
		{"", up, up, "published-port", ""},
		{nowhere, up, up, "published-port", ""},
		{refuses, up, "", "", "refused"},
		{"", proxy, "", "", "nobody listens behind the published port"},
		{nowhere, "", "", "", "224.0.0.1:1"},
	} {
		addr, route, err := reach(t.Context(), c.direct, c.published)
		if c.err != "" {
			assert.ErrorContains(t, err, c.err)
			continue
		}
		assert.NilError(t, err)
		assert.Equal(t, addr+" "+route, c.addr+" "+c.route)
	}
}
