package container

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/about"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// getImage pulls the image, or builds it.
func (i *instance) getImage(ctx context.Context) (err error) {
	if i.spec.GoProgram != "" {
		if i.spec.Image, err = buildImage(ctx, i.engine, i.spec.GoProgram); err != nil {
			return err
		}
	}
	if i.digest, err = i.engine.Pull(ctx, i.spec.Image, i.logf); err != nil {
		return err
	}
	return i.pullBeside(ctx)
}

// getRunning starts the containers and checks their GPUs.
func (i *instance) getRunning(ctx context.Context) error {
	if err := i.startBeside(ctx); err != nil {
		return err
	}
	req, err := requestOf(i.spec, i.engine.HasRuntime("nvidia"), i.log)
	if err != nil {
		return err
	}
	if i.network != nil {
		req.Network = i.network.Name()
	}
	if i.box, err = i.engine.Create(ctx, req); err != nil {
		return err
	}
	if i.started.IsZero() {
		i.started = time.Now()
	}
	if err := i.box.Start(ctx); err != nil {
		return err
	}
	i.gpus, err = grantedGPUs(ctx, i.box, i.spec)
	return err
}

// targetOf returns a target for a server, without its address.
func targetOf(s launch.Spec) llmbench.Target {
	t := llmbench.Target{Model: s.Model, Dialect: s.Dialect, Body: s.Body, Ephemeral: true, KeepsPrompts: s.KeepsPrompts}
	if s.APIKey != "" {
		t.Header = http.Header{"Authorization": {"Bearer " + s.APIKey}}
	}
	return t
}

// getPort waits until the server listens, and chooses the route by which it is reached.
func (i *instance) getPort(ctx context.Context) error {
	containerAddr, publishedAddr, err := i.box.Addresses(ctx, i.spec.Port)
	if err != nil {
		return err
	}
	i.target = targetOf(i.spec)
	dialer := net.Dialer{Timeout: time.Second}
	began := time.Now()
	err = i.wait(ctx, "port", func(ctx context.Context) error {
		r, err := reach(ctx, dialer.DialContext, containerAddr, publishedAddr, time.Since(began) < networkGrace)
		i.target.URL, i.route = "http://"+r.addr, r
		return err
	})
	if err != nil {
		return err
	}
	if i.route.why != "" {
		i.logf("%s: requests go through the published port %s: %s", i.spec.Backend, i.route.addr, i.route.why)
	}
	i.server = probe.Server{Target: i.target, Exec: i.box.Exec}
	i.metricsURL = i.target.URL
	box, port := i.metricsBox()
	if port == 0 {
		return nil
	}
	containerAddr, publishedAddr, err = box.Addresses(ctx, port)
	if i.metricsURL = "http://" + publishedAddr; i.route.name == containerRoute {
		i.metricsURL = "http://" + containerAddr
	}
	return err
}

func (i *instance) getHealth(ctx context.Context) error {
	return i.wait(ctx, "health", func(ctx context.Context) error {
		_, err := i.server.Get(ctx, i.spec.HealthPath)
		return err
	})
}

func (i *instance) getSetup(ctx context.Context) error { return i.server.Take(ctx, i.spec.Setup) }

func (i *instance) getModel(ctx context.Context) error {
	if i.spec.Version.Path != "" {
		i.report(ctx, "server-version", "version", i.spec.Version)
	}
	i.readCommit(ctx)
	if i.spec.ListedModel != "" || i.spec.AdoptModel {
		if err := i.wait(ctx, "model", i.findModel); err != nil {
			return err
		}
	}
	i.ready = time.Since(i.started)
	return nil
}

// readCommit finds out which commit of the model the server has downloaded. If that fails, it only logs the
// error, because results are useful without the commit.
func (i *instance) readCommit(ctx context.Context) {
	var commit string
	var err error
	switch {
	case i.spec.Commit.Path != "":
		commit, err = i.server.Field(ctx, i.spec.Commit)
	case i.spec.CommitFile != "":
		ctx, cancel := context.WithTimeout(ctx, probe.Timeout)
		defer cancel()
		commit, err = i.server.Exec(ctx, []string{"cat", i.spec.CommitFile})
	default:
		return
	}
	if commit = strings.TrimSpace(commit); err == nil && !isCommit(commit) {
		err = fmt.Errorf("%q is not the id of a commit", commit)
	}
	if err != nil {
		i.logf("%s: the commit of its model cannot be read: %v", i.spec.Backend, err)
		return
	}
	i.spec.Config["model-commit"] = commit
}

// isCommit reports whether a text is the id of a commit on the Hugging Face Hub.
var isCommit = regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString

// findModel looks for the model in the server's list. If the server invents the model's name, findModel
// adopts the only name in the list.
func (i *instance) findModel(ctx context.Context) error {
	names, err := i.server.Models(ctx, i.spec.ModelsPath)
	switch {
	case err != nil:
		return err
	case i.spec.AdoptModel && len(names) != 1:
		return fmt.Errorf("the server lists %d models: want one: %s", len(names), strings.Join(names, ", "))
	case i.spec.AdoptModel:
		i.target.Model = names[0]
	case !slices.Contains(names, i.spec.ListedModel):
		return fmt.Errorf("model %q is not listed; the server has: %s", i.spec.ListedModel, strings.Join(names, ", "))
	}
	return nil
}

// getCompletion waits until the server answers a completion. The completion is streamed, so that the time
// of its first token is known.
func (i *instance) getCompletion(ctx context.Context) error {
	w := probe.NewWatch(func(waited time.Duration, last error) {
		i.logf("%s: completion: no answer yet, after %v: %s", i.spec.Backend, waited.Round(time.Second), probe.Reason(last))
	})
	defer w.Stop()
	sent, s, err := probe.Completion(ctx, i.target, true, w.Attempt)
	if err != nil {
		return err
	}
	if s.Deltas > 0 {
		i.firstToken = sent.Add(s.Seen()).Sub(i.started)
	}
	for _, name := range slices.Sorted(maps.Keys(i.spec.Reported)) {
		i.report(ctx, name, name, i.spec.Reported[name])
	}
	facts := about.Ask(ctx, i.target, i.metrics())
	facts.AddTo(i.spec.Config, "model-root") // the command has the model
	i.target.Context = facts.Refuses
	return i.checkResidency(ctx)
}

// report adds the value of a field of the server to the configuration lines. If that fails, report only logs
// the error, because the image's digest also identifies the version, and the server works.
func (i *instance) report(ctx context.Context, key, what string, f probe.Field) {
	v, err := i.server.Field(ctx, f)
	if err != nil {
		i.logf("%s: its %s cannot be read: %v", i.spec.Backend, what, err)
		return
	}
	i.spec.Config[key] = v
}

// checkResidency returns an error if a GPU was requested and the server reports that part of the model is
// not on the GPU.
func (i *instance) checkResidency(ctx context.Context) error {
	if i.spec.Devices.Vendor == "" || i.spec.GPUResidency[0].Path == "" {
		return nil
	}
	all, err := i.server.Field(ctx, i.spec.GPUResidency[0])
	if err != nil {
		return err
	}
	onGPU, err := i.server.Field(ctx, i.spec.GPUResidency[1])
	if err == nil && onGPU != all {
		err = fmt.Errorf("only %s of %s bytes of the model are on the GPU: use a smaller model or context, or more GPUs", onGPU, all)
	}
	return err
}
