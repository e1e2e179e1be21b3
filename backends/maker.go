package backends

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kballard/go-shellquote"
)

// A maker makes a spec. Its methods note what is wrong with a field, by the
// field's name, so that all that is wrong is told at once.
type maker struct {
	spec
	from Container
	path string // of the model, in the container or on the Hub
	errs []error
}

// make begins the spec of a server: what the fields of a Container say.
func (c Container) make(backend, image string, port int) *maker {
	m := &maker{from: c, path: c.Model, spec: spec{
		backend: backend,
		image:   c.Image,
		env:     map[string]string{},
		pass:    map[string]string{},
		port:    port,
		shm:     c.ShmSize,
		memory:  c.Memory,
		model:   c.Model,
		listed:  c.Model,
		dialect: c.Dialect,
		models:  "/v1/models",
		health:  "/health",
		config:  map[string]string{"backend": backend, "model": c.Model},
		ready:   c.Ready,
		logDir:  c.LogDir,
	}}
	if m.image == "" {
		m.image = image
	}
	switch {
	case m.image == "":
		m.wrong("Image", `"": there is no official one that is pinned; want the name of one with a tag or a digest`)
	case !pinned(m.image):
		m.wrong("Image", "%q: want a tag other than latest, or a digest, so that the same server can be measured again", m.image)
	}
	switch {
	case c.Model == "":
		m.wrong("Model", `"": want a name on the Hugging Face Hub, or a path in ModelsDir`)
	case strings.HasPrefix(c.Model, "-"):
		m.wrong("Model", "%q: want a name, not an option", c.Model)
	}
	if c.Quantization != "" {
		m.config["quantization"] = c.Quantization
	}
	if c.ModelsDir != "" {
		if !filepath.IsLocal(filepath.FromSlash(c.Model)) {
			m.wrong("Model", "%q: want a path in ModelsDir", c.Model)
		}
		m.path = path.Join(modelsAt, c.Model)
		m.weights = weights{c.ModelsDir, c.Model}
		m.mounts = append(m.mounts, mount{c.ModelsDir, modelsAt, true})
	}
	if c.ShmSize < 0 {
		m.wrong("ShmSize", "%d: want bytes, at least 0", c.ShmSize)
	}
	if c.Memory < 0 {
		m.wrong("Memory", "%d: want bytes, at least 0", c.Memory)
	}
	d := c.Ready
	for _, v := range []struct {
		name  string
		limit time.Duration
	}{{"Image", d.Image}, {"Running", d.Running}, {"Port", d.Port}, {"Health", d.Health}, {"Setup", d.Setup}, {"Model", d.Model}, {"Completion", d.Completion}} {
		if v.limit < 0 {
			m.wrong("Ready."+v.name, "%v: want a duration above 0, or 0 for the default", v.limit)
		}
	}
	return m
}

// pinned reports whether an image's name says which version it is.
func pinned(image string) bool {
	if strings.Contains(image, "@sha256:") {
		return true
	}
	_, tag, tagged := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":")
	return tagged && tag != "" && tag != "latest"
}

// end adds the Args and the Env, and returns the spec or all that is wrong.
func (m *maker) end() (spec, error) {
	m.cmd = append(m.cmd, m.from.Args...)
	_, secrets := shownArgs(m.cmd)
	m.secrets = append(m.secrets, secrets...)
	for _, name := range slices.Sorted(maps.Keys(m.from.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			m.wrong("Env", "%q: want the name of a variable", name)
			continue
		}
		m.env[name] = m.from.Env[name]
		delete(m.pass, name)
	}
	for name, value := range m.env {
		if isSecret(name, value) {
			m.secrets = append(m.secrets, value)
		}
	}
	m.key = m.from.APIKey.Reveal()
	if m.key == "" {
		m.key = apiKey(m.from.Args, m.from.Env)
	}
	m.secrets = append(m.secrets, m.key)
	m.settings()
	if err := errors.Join(m.errs...); err != nil {
		return spec{}, fmt.Errorf("%s: %w", m.backend, err)
	}
	return m.spec, nil
}

// settings says in config lines what the fields made: the command and the
// variables, without secrets.
func (m *maker) settings() {
	args, _ := shownArgs(append(slices.Clone(m.entry), m.cmd...))
	if len(args) > 0 {
		m.config["command"] = shellquote.Join(args...)
	}
	for name, value := range m.env {
		m.config["env-"+strings.ToLower(name)] = shown(name, value)
	}
}

// wrong notes what is wrong with a field.
func (m *maker) wrong(field, format string, args ...any) {
	m.errs = append(m.errs, fmt.Errorf(field+" "+format, args...))
}

// download is for a server that fetches its model itself when there is no
// ModelsDir: it gives it a volume to keep it in and the Hub's token.
func (m *maker) download(volume, at, tokenVariable string) {
	if m.from.ModelsDir != "" {
		return
	}
	m.mounts = append(m.mounts, mount{"llmbench-" + volume, at, false})
	m.pass[tokenVariable] = "HF_TOKEN"
}

// needsDir is for a server that fetches nothing.
func (m *maker) needsDir() {
	if m.from.ModelsDir == "" {
		m.wrong("ModelsDir", `"": want the folder that holds the model, which this server does not fetch by itself`)
	}
}

// accelerators sets the devices that the server gets; vendor is whose it is
// for when GPUs does not say.
func (m *maker) accelerators(vendor string) {
	if strings.Contains(strings.ToLower(m.image), "rocm") {
		vendor = amd
	}
	d, err := m.from.GPUs.devices(vendor)
	if err != nil {
		m.wrong("GPUs", "%v", err)
	}
	m.gpus = d
	if d.vendor == amd {
		m.groups = append(m.groups, "video")
		m.security = append(m.security, "seccomp=unconfined")
	}
	for name, value := range d.env() {
		m.env[name] = value
	}
}

// shared makes room for processes that share memory, unless ShmSize says how much
// there is to be. Projects name --ipc=host for that; but what a killed server
// has in the host's /dev/shm stays there.
func (m *maker) shared() {
	if m.shm == 0 {
		m.shm = 16 << 30 // a limit: memory is taken when it is used
	}
}

// noArgs is for a server that takes no arguments, with the reason.
func (m *maker) noArgs(reason string) {
	if args, _ := shownArgs(m.from.Args); len(args) > 0 {
		m.wrong("Args", "%q: want none: %s", args, reason)
	}
}

// words appends to the command line.
func (m *maker) words(words ...string) { m.cmd = append(m.cmd, words...) }

// text appends an option, unless its value is "".
func (m *maker) text(flag, value string) {
	if value != "" {
		m.words(flag, value)
	}
}

// count appends an option, unless n is 0: the server's default.
func (m *maker) count(field, flag string, n int) {
	if m.positive(field, n) {
		m.words(flag, strconv.Itoa(n))
	}
}

// positive reports whether a number is given, and notes one that cannot be.
func (m *maker) positive(field string, n int) bool {
	if n < 0 {
		m.wrong(field, "%d: want a whole number above 0, or 0 for the server's default", n)
	}
	return n > 0
}

// share appends an option, unless v is 0: the server's default.
func (m *maker) share(field, flag string, v float64) {
	if !(v >= 0 && v <= 1) {
		m.wrong(field, "%g: want a share above 0 and up to 1, or 0 for the server's default", v)
	}
	if v > 0 {
		m.words(flag, strconv.FormatFloat(v, 'g', -1, 64))
	}
}

// choice appends an option, unless its value is "": the server's default.
func (m *maker) choice(field, flag, value string, allowed ...string) {
	if m.oneOf(field, value, allowed...) {
		m.words(flag, value)
	}
}

// oneOf reports whether a value is given, and notes one that cannot be.
func (m *maker) oneOf(field, value string, allowed ...string) bool {
	if value != "" && !slices.Contains(allowed, value) {
		m.wrong(field, `%q: want %s, or "" for the server's default`, value, strings.Join(allowed, ", "))
	}
	return value != ""
}

// variable sets a variable of the container, unless n is 0.
func (m *maker) variable(field, name string, n int) {
	if m.positive(field, n) {
		m.env[name] = strconv.Itoa(n)
	}
}

// on appends flag if v.
func (m *maker) on(flag string, v bool) {
	if v {
		m.words(flag)
	}
}

// A Toggle switches something on or off; "" leaves it as the server has it.
type Toggle string

// The toggles.
const (
	On  Toggle = "on"
	Off Toggle = "off"
)

// toggle appends on or off, or nothing.
func (m *maker) toggle(field string, t Toggle, on, off []string) {
	if !m.oneOf(field, string(t), string(On), string(Off)) {
		return
	}
	if t == On {
		m.words(on...)
	} else {
		m.words(off...)
	}
}

// variableToggle sets a variable of the container to 1 or 0, or not at all.
func (m *maker) variableToggle(field string, t Toggle, name string) {
	if m.oneOf(field, string(t), string(On), string(Off)) {
		m.env[name] = map[Toggle]string{On: "1", Off: "0"}[t]
	}
}
