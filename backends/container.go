package backends

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	dockermount "github.com/moby/moby/api/types/mount"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/engine"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// contained is a backend that runs in a container.
type contained interface{ spec() (spec, error) }

// start runs b's server until tb ends, and returns it once it is ready, or ends
// tb with what is wrong. That the server ended before tb did is an error of tb.
func start(tb testing.TB, b contained) llmbench.Target {
	tb.Helper()
	llmbench.Watch(tb)
	s, err := b.spec()
	if err != nil {
		tb.Fatalf("backends: %v", err)
	}
	r, err := run(llmbench.Context(tb), s, tb.Logf)
	if err != nil {
		tb.Fatalf("backends: %v", err)
	}
	tb.Cleanup(func() {
		if err := r.stop(); err != nil {
			tb.Errorf("backends: %v", err)
		}
	})
	return r.target
}

// A running is a server in a container.
type running struct {
	spec   spec
	engine *engine.Engine
	box    *engine.Container // nil until there is one
	log    *serverlog.Log
	file   *os.File // the whole log, or nil
	logf   func(string, ...any)
	fail   context.CancelCauseFunc // ends the wait for it to be ready
	target llmbench.Target
	route  string // how the target is reached
	digest string // of the image
	gpus   seen

	started      time.Time     // when the container was
	ready, first time.Duration // from then until the model was listed, and until the first token came
}

// run starts the server of s and waits until it is ready, for which each stage
// has its deadline and ctx all of them. If it fails nothing of it is left.
func run(ctx context.Context, s spec, logf func(string, ...any)) (_ *running, err error) {
	s.ready = s.ready.withDefaults()
	r := &running{spec: s, log: &serverlog.Log{}}
	r.logf = func(format string, args ...any) { logf("%s", r.log.Clean(fmt.Sprintf(format, args...))) }
	defer func() {
		if err != nil {
			if stopErr := r.remove(); stopErr != nil {
				err = fmt.Errorf("%w; and it is not removed: %w", err, stopErr)
			}
		}
	}()
	if err := s.weights.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.backend, err)
	}
	if r.engine, err = engine.Connect(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.backend, err)
	}
	if err := r.openLog(); err != nil {
		return nil, fmt.Errorf("%s: its log: %w", s.backend, err)
	}
	r.logf("%s: %s", s.backend, s)
	ctx, r.fail = context.WithCancelCause(ctx)
	defer r.fail(nil)
	for _, st := range r.stages() {
		if err := r.stage(ctx, st); err != nil {
			return nil, err
		}
	}
	if err := context.Cause(ctx); err != nil { // its log said so after the last stage had looked
		return nil, r.failed("ready", err)
	}
	r.target.Config = r.describe()
	r.target.Observe = r.observe
	return r, nil
}

// check says whether the model is where it has to be, and else what is there.
func (w weights) check() error {
	if w.dir == "" {
		return nil
	}
	_, err := os.Stat(filepath.Join(w.dir, filepath.FromSlash(w.path)))
	if err == nil {
		return nil
	}
	entries, dirErr := os.ReadDir(w.dir)
	if dirErr != nil {
		return fmt.Errorf("the folder of models: %w", dirErr)
	}
	var has []string
	for _, e := range entries[:min(len(entries), 20)] {
		has = append(has, e.Name())
	}
	return fmt.Errorf("model %q is not in the folder of models %s, which has: %s", w.path, w.dir, strings.Join(has, ", "))
}

// openLog readies the server's log, which hides what is secret in it.
func (r *running) openLog() error {
	r.log.Line = r.judge
	secrets := slices.Clone(r.spec.secrets)
	for _, from := range r.spec.pass {
		secrets = append(secrets, os.Getenv(from))
	}
	r.log.Hide = hidden(secrets)
	if r.spec.logDir == "" {
		return nil
	}
	if err := os.MkdirAll(r.spec.logDir, 0o777); err != nil {
		return err
	}
	var err error
	r.file, err = os.CreateTemp(r.spec.logDir, r.spec.backend+"-"+time.Now().UTC().Format("20060102T150405")+"-*.log")
	if err != nil {
		return err
	}
	r.log.Next = r.file
	return r.file.Chmod(0o644)
}

// request is what the engine is asked for.
func (r *running) request() (engine.Request, error) {
	s := r.spec
	req := engine.Request{
		Image: s.image, Entrypoint: s.entry, Cmd: s.cmd,
		Env:    maps.Clone(s.env),
		Ports:  []int{s.port},
		Files:  map[string]string{},
		Labels: map[string]string{"llmbench.backend": s.backend},
		Log:    r.log,
	}
	if s.stats.port != 0 {
		req.Ports = append(req.Ports, s.stats.port)
	}
	for name, from := range s.pass {
		if v := os.Getenv(from); v != "" {
			req.Env[name] = v
		}
	}
	for _, f := range s.files {
		req.Files[f.path] = f.content
	}
	var mounts []dockermount.Mount
	for _, m := range s.mounts {
		d := dockermount.Mount{Type: dockermount.TypeVolume, Source: m.source, Target: m.target, ReadOnly: m.readOnly}
		if strings.ContainsAny(m.source, `/\`) || m.readOnly {
			path, err := filepath.Abs(m.source)
			if err != nil {
				return engine.Request{}, err
			}
			d.Type, d.Source = dockermount.TypeBind, path
		} else {
			d.VolumeOptions = &dockermount.VolumeOptions{Labels: map[string]string{"llmbench.cache": s.backend}}
		}
		mounts = append(mounts, d)
	}
	granted := &container.HostConfig{}
	s.gpus.grant(granted, req.Env, r.engine.HasRuntime("nvidia"))
	req.Host = func(h *container.HostConfig) {
		h.Runtime = granted.Runtime
		h.Resources = granted.Resources
		h.Memory, h.MemorySwap = s.memory, s.memory // no swapping: it would be measured
		h.Mounts = mounts
		h.ShmSize = s.shm
		h.CapAdd, h.SecurityOpt, h.GroupAdd = s.caps, s.security, s.groups
		for _, u := range s.ulimits {
			h.Ulimits = append(h.Ulimits, &container.Ulimit{Name: u.name, Soft: u.soft, Hard: u.hard})
		}
	}
	return req, nil
}

// describe returns what makes results of the server comparable to others'.
func (r *running) describe() map[string]string {
	c := maps.Clone(r.spec.config)
	c["image"] = r.spec.image
	c["image-digest"] = r.digest
	c["network"] = r.route
	if r.spec.gpus.vendor != "" {
		c["gpu"] = r.spec.gpus.String()
	}
	if r.gpus.name != "" {
		c["gpu"], c["gpu-driver"] = r.gpus.name, r.gpus.driver
	}
	for key, v := range c {
		c[key] = r.log.Clean(v)
	}
	return c
}

// stop removes the server. It is an error if that had ended before.
func (r *running) stop() error {
	var err error
	select {
	case <-r.box.Ended():
		err = r.failed("after it was ready", errors.New(r.box.End().String()))
	default:
	}
	return errors.Join(err, r.remove())
}

// remove removes what there is of the server.
func (r *running) remove() (err error) {
	if r.box != nil {
		err = r.box.Remove()
	}
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
	}
	return err
}

// failed makes the error of a stage, with what to do about it if that is known
// and the last lines of the log.
func (r *running) failed(stage string, err error) error {
	lines := r.log.Lines()
	text := fmt.Sprintf("%s: %s: %v", r.spec.backend, stage, err)
	if a := r.advice(append(slices.Clone(lines), text)); a != "" {
		text += "\n  what to do: " + a
	}
	if len(lines) > 0 {
		text += "\n  its last lines:\n    " + strings.Join(lines, "\n    ")
	}
	return errors.New(r.log.Clean(text))
}

// advice returns what to do about the first known failure in lines.
func (r *running) advice(lines []string) string {
	for _, k := range append(slices.Clone(refused), r.spec.known...) {
		for _, line := range lines {
			if k.matches(line, r.spec.gpus) {
				return k.advice
			}
		}
	}
	return ""
}
