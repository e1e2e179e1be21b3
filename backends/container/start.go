package container

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/container/internal/engine"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

// start launches the server of spec and waits until it is ready. Each stage has its own deadline; ctx
// limits all stages together. If start fails, it removes everything that it has created.
func start(ctx context.Context, spec launch.Spec, logf func(string, ...any)) (_ *instance, err error) {
	i := newInstance(spec, logf)
	defer func() {
		if err != nil {
			if removeErr := i.remove(); removeErr != nil {
				err = fmt.Errorf("%w; and its container cannot be removed: %w", err, removeErr)
			}
		}
	}()
	if err := checkWeights(spec.Weights); err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Backend, err)
	}
	if err := i.describeTemplate(); err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Backend, err)
	}
	if i.engine, err = engine.Connect(); err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Backend, err)
	}
	if err := i.openLog(); err != nil {
		return nil, fmt.Errorf("%s: the file of its log: %w", spec.Backend, err)
	}
	i.logf("%s: %s", spec.Backend, spec)
	if spec.Unchecked != "" {
		i.logf("%s: %s", spec.Backend, spec.Unchecked)
	}
	ctx, i.abort = context.WithCancelCause(ctx)
	defer i.abort(nil)
	for _, st := range stages(i) {
		if err := run(ctx, i, st); err != nil {
			return nil, err
		}
	}
	if err := context.Cause(ctx); err != nil { // a line of the log reported a failure after the last stage
		return nil, i.failure("ready", err)
	}
	i.target.Config = i.describe()
	i.target.Observe = i.metrics().Observe
	return i, nil
}

// describeTemplate adds a hash of the chat template to the configuration lines, because a different
// template in a file of the same name would change the prompts.
func (i *instance) describeTemplate() error {
	if i.spec.ChatTemplate == "" {
		return nil
	}
	text, err := os.ReadFile(i.spec.ChatTemplate)
	if err != nil {
		return fmt.Errorf("the chat template: %w", err)
	}
	sum := sha256.Sum256(text)
	i.spec.Config["chat-template"] += fmt.Sprintf(" sha256:%x", sum[:6])
	return nil
}

// checkWeights returns an error unless the model is in its folder. The error lists what the folder
// contains.
func checkWeights(w launch.Weights) error {
	if w.Dir == "" {
		return nil
	}
	_, err := os.Stat(filepath.Join(w.Dir, filepath.FromSlash(w.Path)))
	if err == nil {
		return nil
	}
	entries, dirErr := os.ReadDir(w.Dir)
	if dirErr != nil {
		return fmt.Errorf("the folder of models: %w", dirErr)
	}
	var names []string
	for _, e := range entries[:min(len(entries), 20)] {
		names = append(names, e.Name())
	}
	return fmt.Errorf("model %q is not in the folder of models %s, which has: %s", w.Path, w.Dir, strings.Join(names, ", "))
}
