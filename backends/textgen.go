package backends

import (
	"regexp"

	"golang.org/x/mod/semver"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

// TextGen is text-generation-webui, now called TextGen, without its web page
// (https://github.com/oobabooga/textgen/wiki).
//
// Image is required, because there is no official image. Build one from the project's
// docker/nvidia/Dockerfile of version 3.6.1 or later
// (https://github.com/oobabooga/textgen/blob/main/docker/nvidia/Dockerfile). The Dockerfile clones the
// newest commit: for another version, add a line such as "git checkout v3.23" after "git clone". Such an
// image has the project in its working directory, with a Python environment that start_linux.sh enters.
// Images with another layout do not start. If the image's tag is the project's version, as in textgen:3.23,
// setting a field that this version does not support is an error:
//
//   - the loader ExLlamav2 is supported up to 3.23, and ExLlamav3 from 3.10 on
//   - Attention is supported from 3.8 on, and Parallel and ChatTemplate from 4.0 on
//
// Model is a file or folder at the top of ModelsDir. With the loader Transformers, which quantizes while it
// loads, Quantization is 8bit or 4bit; the other loaders use the quantization of the file. The server
// handles one request at a time, unless the loader is llama.cpp and Parallel is set. It keeps prompts
// between passes: its prompt cache cannot be emptied.
type TextGen struct {
	Container
	Loader    string // Transformers, ExLlamav2, ExLlamav3 or llama.cpp; "" lets the server choose
	Context   int    `flag:"--ctx-size"`                                                  // tokens of a request, prompt and output together
	GPULayers int    `flag:"--gpu-layers"`                                                // layers on the GPU, with the loader llama.cpp
	Parallel  int    `flag:"--parallel"`                                                  // requests served at once, with the loader llama.cpp
	Attention string `flag:"--attn-implementation" values:"sdpa eager flash_attention_2"` // with the loader Transformers
}

// textgenModel matches names that need no quoting in a shell.
var textgenModel = regexp.MustCompile(`^[A-Za-z0-9._+-]*$`)

// Spec describes how the server is launched; the error names each invalid field.
func (t TextGen) Spec() (launch.Spec, error) {
	b := newBuilder(t.Container, "textgen", "", 5000)
	b.grantGPUs(launch.NVIDIA)
	b.requireModelsDir()
	if !textgenModel.MatchString(t.Model) {
		b.invalid("Model", "%q: want a file or folder at the top of ModelsDir, of letters, digits, '.', '_', '+' and '-', because start_linux.sh passes the name to a shell", t.Model)
	}
	// The image's own command sets HOME to the project's folder, whose name changed in 4.5.
	b.Files = []launch.File{{Path: "/llmbench/run.sh", Content: "export HOME=\"$PWD\"\nexec \"$@\"\n"}}
	b.Entrypoint = []string{"sh", "/llmbench/run.sh"}
	b.args("./start_linux.sh")
	b.args("--api", "--listen", "--api-port", "5000", "--nowebui", "--model-dir", modelsAt, "--model", b.Model)
	b.choiceOption("Loader", "--loader", t.Loader, "Transformers", "ExLlamav2", "ExLlamav3", "llama.cpp")
	transformers, llama := t.Loader == "Transformers", t.Loader == "llama.cpp"
	if transformers {
		if b.isOneOf("Quantization", t.Quantization, "8bit", "4bit") {
			b.args("--load-in-" + t.Quantization)
		}
	} else {
		b.checkGGUF()
	}
	b.fields(t)
	if (t.GPULayers > 0 || t.Parallel > 0) && !llama {
		b.invalid("Loader", "%q: want llama.cpp with GPULayers or Parallel", t.Loader)
	}
	if t.Attention != "" && !transformers {
		b.invalid("Loader", "%q: want Transformers with Attention", t.Loader)
	}
	b.withChatTemplate("--chat-template-file")
	b.withOffline()
	if transformers {
		b.withTrustRemoteCode("--trust-remote-code")
	}
	if t.Loader != "" {
		b.Config["loader"] = t.Loader
	}
	t.checkVersion(b)
	b.HealthPath = "/v1/internal/health"
	b.Failures = append(append([]launch.Failure{
		{Log: `The path to the model does not exist\. Exiting|Error loading the model with llama\.cpp`, Advice: "the model cannot be loaded: check that Model and Loader agree, and that the files are whole"},
		{Log: `torch\.cuda\.is_available\(\).* returned False`, Advice: "the server runs without the GPU that was requested: check the driver and the image", WithGPU: true},
	}, torchFailures...), llamaFailures...)
	b.keepsPrompts()
	return b.finish()
}

// checkVersion records an error for each field that is set and that the version in the image's tag does not
// support. If the tag is not a version, which is possible because users build the image, nothing is
// checked.
func (t TextGen) checkVersion(b *builder) {
	version := tagVersion(t.Image)
	if version == "" {
		return
	}
	tag := launch.Tag(t.Image)
	for _, c := range []struct {
		set                bool
		field, since, last string // "" means no limit
	}{
		{true, "Image", "3.6.1", ""}, // earlier versions did not list their models
		{t.Loader == "ExLlamav2", "Loader ExLlamav2", "3.6.1", "3.23"},
		{t.Loader == "ExLlamav3", "Loader ExLlamav3", "3.10", ""},
		{t.Attention != "", "Attention", "3.8", ""},
		{t.Parallel > 0, "Parallel", "4.0", ""},
		{t.ChatTemplate != "", "ChatTemplate", "4.0", ""},
	} {
		switch {
		case !c.set:
		case semver.Compare(version, "v"+c.since) < 0:
			b.invalid(c.field, "needs text-generation-webui %s or later, and the image's tag says %s", c.since, tag)
		case c.last != "" && semver.Compare(version, "v"+c.last) > 0:
			b.invalid(c.field, "ended with text-generation-webui %s, and the image's tag says %s", c.last, tag)
		}
	}
}
