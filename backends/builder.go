package backends

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/secret"
)

// A builder makes a Spec from a server's fields. Its methods collect the errors
// of all fields, so that the user sees every mistake at once.
type builder struct {
	launch.Spec
	from  Container
	path  string   // the model's path in the container, or its name on the Hub
	taken []string // fields of Container that the server supports; see hub.go
	errs  []error
}

// newBuilder starts the Spec of a server with the settings of c.
func newBuilder(c Container, backend, defaultImage string, port int) *builder {
	b := &builder{from: c, path: c.Model, Spec: launch.Spec{
		Backend:     backend,
		Image:       cmp.Or(c.Image, defaultImage),
		Env:         map[string]string{},
		PassEnv:     map[string]string{},
		Port:        port,
		ShmSize:     c.ShmSize,
		Memory:      c.Memory,
		Model:       c.Model,
		ListedModel: c.Model,
		Dialect:     c.Dialect,
		Body:        c.Body,
		ModelsPath:  "/v1/models",
		HealthPath:  "/health",
		Config:      map[string]string{"backend": backend, "model": c.Model},
		Deadlines:   launch.Deadlines(c.Ready),
		LogDir:      c.LogDir,
	}}
	b.checkContainer()
	if c.Quantization != "" {
		b.Config["quantization"] = c.Quantization
	}
	if c.ModelsDir != "" {
		b.path = path.Join(modelsAt, c.Model)
		b.Weights = launch.Weights{Dir: c.ModelsDir, Path: c.Model}
		b.Mounts = append(b.Mounts, launch.Mount{Source: c.ModelsDir, Target: modelsAt, ReadOnly: true})
	}
	return b
}

// checkContainer records the errors in the settings that all servers share.
func (b *builder) checkContainer() {
	c := b.from
	switch {
	case b.Image == "":
		b.invalid("Image", `"": this server has no official image with a version tag: want the name of an image with a tag or a digest`)
	case !isPinned(b.Image):
		b.invalid("Image", "%q: want a tag other than latest, or a digest, so that the same server can be measured again", b.Image)
	}
	switch {
	case c.Model == "":
		b.invalid("Model", `"": want a name on the Hugging Face Hub, or a path in ModelsDir`)
	case strings.HasPrefix(c.Model, "-"):
		b.invalid("Model", "%q: want a name, not an option", c.Model)
	}
	if c.ModelsDir != "" && !filepath.IsLocal(filepath.FromSlash(c.Model)) {
		b.invalid("Model", "%q: want a path in ModelsDir", c.Model)
	}
	if c.ShmSize < 0 {
		b.invalid("ShmSize", "%d: want bytes, at least 0", c.ShmSize)
	}
	if c.Memory < 0 {
		b.invalid("Memory", "%d: want bytes, at least 0", c.Memory)
	}
	for f, limit := range reflect.ValueOf(c.Ready).Fields() {
		if limit.Int() < 0 {
			b.invalid("Ready."+f.Name, "%v: want a duration above 0, or 0 for the default", limit)
		}
	}
}

// isPinned reports whether an image's name fixes its version.
func isPinned(image string) bool {
	tag := launch.Tag(image)
	return strings.Contains(image, "@sha256:") || tag != "" && tag != "latest"
}

// invalid records an error in a field. The error's text is the field's name, a space, and format with args.
func (b *builder) invalid(field, format string, args ...any) {
	b.errs = append(b.errs, fmt.Errorf(field+" "+format, args...))
}

// finish adds Args and Env, and returns the Spec or the errors of all fields.
func (b *builder) finish() (launch.Spec, error) {
	b.Cmd = append(b.Cmd, b.from.Args...)
	_, secrets := secret.RedactArgs(b.Cmd)
	b.Secrets = append(b.Secrets, secrets...)
	for _, name := range slices.Sorted(maps.Keys(b.from.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			b.invalid("Env", "%q: want the name of a variable", name)
			continue
		}
		b.Env[name] = b.from.Env[name]
		delete(b.PassEnv, name)
	}
	for name, value := range b.Env {
		b.Secrets = append(b.Secrets, secret.InVariable(name, value)...)
	}
	b.APIKey = cmp.Or(b.from.APIKey.Reveal(), secret.APIKey(b.from.Args, b.from.Env))
	b.Secrets = append(b.Secrets, b.APIKey)
	b.checkTaken()
	b.noteUnchecked()
	b.describeSettings()
	if err := errors.Join(b.errs...); err != nil {
		return launch.Spec{}, fmt.Errorf("%s: %w", b.Backend, err)
	}
	return b.Spec, nil
}

// describeSettings adds the command and the environment variables, with secrets hidden, to the
// configuration lines of the results.
func (b *builder) describeSettings() {
	args, _ := secret.RedactArgs(append(slices.Clone(b.Entrypoint), b.Cmd...))
	if len(args) > 0 {
		b.Config["command"] = shellquote.Join(args...)
	}
	for name, value := range b.Env {
		b.Config["env-"+strings.ToLower(name)] = secret.Redact(name, value)
	}
}

// downloadTo mounts a volume at target, where a server that downloads models keeps them, and passes the
// Hub's token on. With ModelsDir the server downloads nothing, and downloadTo does nothing.
func (b *builder) downloadTo(volume, target string) {
	if b.from.ModelsDir != "" {
		return
	}
	b.keepAt(volume, target)
	b.PassEnv["HF_TOKEN"] = "HF_TOKEN"
}

// keepAt mounts a named volume at target. Later containers mount the same volume.
func (b *builder) keepAt(volume, target string) {
	b.Mounts = append(b.Mounts, launch.Mount{Source: "llmbench-" + volume, Target: target})
}

// keepsPrompts is for a server whose prompt cache cannot be emptied. This process sends different prompts
// in each pass, but the server may find parts of them, such as a system prompt, in the cache. The results
// therefore say that the cache is kept.
func (b *builder) keepsPrompts() {
	b.KeepsPrompts = true
	b.Config["prompt-cache"] = "kept between passes"
}

// requireModelsDir is for a server that cannot download a model.
func (b *builder) requireModelsDir() {
	if b.from.ModelsDir == "" {
		b.invalid("ModelsDir", `"": want the folder that holds the model, because this server cannot download it`)
	}
}

// hasArg reports whether Args contains one of the named options.
func (b *builder) hasArg(names ...string) bool {
	return slices.ContainsFunc(b.from.Args, func(arg string) bool {
		option, _, _ := strings.Cut(arg, "=")
		return slices.Contains(names, option)
	})
}

// forbidArgs is for a server that takes no arguments; reason says why.
func (b *builder) forbidArgs(reason string) {
	if args, _ := secret.RedactArgs(b.from.Args); len(args) > 0 {
		b.invalid("Args", "%q: want none: %s", args, reason)
	}
}

// allowNUMA lets a server on CPUs bind its memory and threads to NUMA nodes
// (https://docs.vllm.ai/en/latest/getting_started/installation/cpu/).
func (b *builder) allowNUMA() {
	b.Capabilities, b.SecurityOptions = append(b.Capabilities, "SYS_NICE"), append(b.SecurityOptions, "seccomp=unconfined")
}

// enlargeShm enlarges /dev/shm, for servers whose processes share memory, unless ShmSize is set. The
// servers' documentation recommends --ipc=host instead, but then the files of a killed server would stay in
// the host's /dev/shm.
func (b *builder) enlargeShm() {
	b.ShmSize = cmp.Or(b.ShmSize, 16<<30) // a limit: memory is taken only when it is used
}
