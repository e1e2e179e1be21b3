package container

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/container/internal/engine"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// An instance is a server in a container.
type instance struct {
	journal
	engine  *engine.Engine
	network *engine.Network         // network of the containers if there are several, otherwise nil
	beside  []part                  // the containers that run beside the main one
	box     *engine.Container       // the main container; nil before it is created
	file    *os.File                // file with the whole log; nil without a LogDir
	abort   context.CancelCauseFunc // cancels the start, with the reason

	server     probe.Server
	target     llmbench.Target
	metricsURL string
	route      route
	digest     string // of the image
	gpus       visibleGPUs

	started           time.Time     // when the container was started
	ready, firstToken time.Duration // from started until the model was listed, and until the first token
}

// newInstance returns an instance that is not started yet. Its messages go to logf, without secrets.
func newInstance(spec launch.Spec, logf func(string, ...any)) *instance {
	spec.Deadlines = spec.Deadlines.WithDefaults()
	return &instance{journal: newJournal(spec, logf)}
}

// openLog prepares the server's log, which hides secrets.
func (i *instance) openLog() error {
	i.log.Line = func(line string) {
		if i.isFailure(line) {
			i.abort(fmt.Errorf("its log says: %s", strings.TrimSpace(line)))
		}
	}
	var secrets []string
	for _, spec := range append([]launch.Spec{i.spec}, i.spec.Beside...) {
		secrets = append(secrets, spec.Secrets...)
		for _, from := range spec.PassEnv {
			secrets = append(secrets, os.Getenv(from))
		}
	}
	redact.Add(secrets...)
	if i.spec.LogDir == "" {
		return nil
	}
	var err error
	i.file, err = i.log.Create(i.spec.LogDir, i.spec.Backend)
	return err
}

// describe returns the configuration lines: everything that results must have in common to be comparable.
func (i *instance) describe() map[string]string {
	c := maps.Clone(i.spec.Config)
	c["image"] = i.spec.Image
	c["image-digest"] = i.digest
	c["network"] = i.route.name
	if i.spec.Devices.Vendor != "" {
		c["gpu"] = i.spec.Devices.String()
	}
	if gpus := i.describeGPUs(); gpus != "" {
		c["gpu"] = gpus
	}
	if i.gpus.names != "" {
		c["gpu"], c["gpu-driver"] = i.gpus.names, i.gpus.driver
	}
	for key, v := range c {
		c[key] = redact.Known().Hide(v)
	}
	return c
}

// metrics returns the source of the server's metrics.
func (i *instance) metrics() metrics.Source {
	target := i.target
	target.URL = i.metricsURL
	s := metrics.Source{
		Names: i.spec.Metrics, Addresses: []metrics.Address{{Target: target}},
		Logf: func(format string, args ...any) { i.logf(i.spec.Backend+": "+format, args...) },
	}
	if len(i.spec.ResetCache) > 0 {
		s.Reset = func(ctx context.Context) error { return i.server.Take(ctx, i.spec.ResetCache) }
	}
	return s
}

// stop removes the server. It returns an error if a container had exited before.
func (i *instance) stop() error {
	var err error
	if end := i.end(); end != "" {
		err = i.failure("after it was ready", errors.New(end))
	}
	return errors.Join(err, i.remove())
}

// remove removes the containers that exist, and closes the log.
func (i *instance) remove() (err error) {
	if i.box != nil {
		err = i.box.Remove()
	}
	err = errors.Join(err, i.removeBeside())
	if i.file != nil {
		err = errors.Join(err, i.file.Close())
	}
	return err
}

// endedSoon reports whether a container of the server has exited or exits soon; see [probe.AwaitEnd]. On a busy
// machine, the last lines of an exited container may arrive later; endedSoon then waits longer, to receive them.
func (i *instance) endedSoon() bool {
	probe.AwaitEnd(i.endings())
	if i.end() != "" {
		return true
	}
	for _, box := range i.boxes() {
		if !box.Exited() {
			continue
		}
		select {
		case <-box.Ended():
			return true
		case <-time.After(lastWords):
		}
	}
	return false
}
