package container

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/container/internal/engine"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
)

// A part is a container that runs beside the server's main one, in the same network.
type part struct {
	name string
	box  *engine.Container
	gpus visibleGPUs
}

// pullBeside pulls the images of the containers beside the main one.
func (i *instance) pullBeside(ctx context.Context) error {
	for _, spec := range i.spec.Beside {
		digest, err := i.engine.Pull(ctx, spec.Image, i.logf)
		if err != nil {
			return fmt.Errorf("%s: %w", spec.Name, err)
		}
		i.spec.Config["image-"+spec.Name], i.spec.Config["image-digest-"+spec.Name] = spec.Image, digest
	}
	return nil
}

// startBeside starts the containers beside the main one, in a network of their own. Their output goes to
// the server's log; each line is preceded by the container's name.
func (i *instance) startBeside(ctx context.Context) (err error) {
	if len(i.spec.Beside) == 0 {
		return nil
	}
	if i.network, err = i.engine.CreateNetwork(ctx, i.spec.Labels); err != nil {
		return fmt.Errorf("the network of its containers: %w", err)
	}
	for _, spec := range i.spec.Beside {
		log := &serverlog.Log{Line: func(line string) { fmt.Fprintf(i.log, "%s: %s\n", spec.Name, line) }}
		p, err := i.startPart(ctx, spec, log)
		if p.box != nil {
			i.beside = append(i.beside, p)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", spec.Name, err)
		}
	}
	return nil
}

// startPart starts one container beside the main one.
func (i *instance) startPart(ctx context.Context, spec launch.Spec, log *serverlog.Log) (part, error) {
	p := part{name: spec.Name}
	req, err := requestOf(spec, i.engine.HasRuntime("nvidia"), log)
	if err != nil {
		return p, err
	}
	req.Network, req.Alias = i.network.Name(), spec.Name
	if p.box, err = i.engine.Create(ctx, req); err != nil {
		return p, err
	}
	if i.started.IsZero() {
		i.started = time.Now()
	}
	if err := p.box.Start(ctx); err != nil {
		return p, err
	}
	p.gpus, err = grantedGPUs(ctx, p.box, spec)
	return p, err
}

// grantedGPUs returns the GPUs that a container has. It returns an error if they differ from the GPUs that
// were requested.
func grantedGPUs(ctx context.Context, box *engine.Container, spec launch.Spec) (visibleGPUs, error) {
	if spec.Devices.Vendor != launch.NVIDIA {
		return visibleGPUs{}, nil
	}
	output, err := box.Exec(ctx, listGPUs)
	if err != nil {
		return visibleGPUs{}, fmt.Errorf("GPUs %s were requested, and the container has none: nvidia-smi: %w", spec.Devices, err)
	}
	gpus := parseGPUs(output)
	return gpus, checkGPUs(spec.Devices, gpus, spec.DevicesUsed)
}

// boxes returns the server's containers that have been created.
func (i *instance) boxes() (all []*engine.Container) {
	for _, p := range i.beside {
		all = append(all, p.box)
	}
	if i.box != nil {
		all = append(all, i.box)
	}
	return all
}

// endings returns the channels that are closed when a container of the server has exited by itself.
func (i *instance) endings() (all []<-chan struct{}) {
	for _, box := range i.boxes() {
		all = append(all, box.Ended())
	}
	return all
}

// end says which container of the server has exited and how, or returns "" if all of them run.
func (i *instance) end() string {
	for k, box := range i.boxes() {
		select {
		case <-box.Ended():
			if k < len(i.beside) {
				return i.beside[k].name + ": " + box.End().String()
			}
			return box.End().String()
		default:
		}
	}
	return ""
}

// metricsBox returns the container that serves the server's metrics, and their port.
func (i *instance) metricsBox() (*engine.Container, int) {
	for k, spec := range i.spec.Beside {
		if spec.Name == i.spec.MetricsOf {
			return i.beside[k].box, spec.Port
		}
	}
	return i.box, i.spec.MetricsPort
}

// describeGPUs returns the GPUs of the containers beside the main one, or "".
func (i *instance) describeGPUs() string {
	var all []string
	for k, spec := range i.spec.Beside {
		switch {
		case i.beside[k].gpus.names != "":
			all = append(all, spec.Name+" "+i.beside[k].gpus.names)
		case spec.Devices.Vendor != "":
			all = append(all, spec.Name+" "+spec.Devices.String())
		}
	}
	return strings.Join(all, ", ")
}

// removeBeside removes the containers beside the main one, and their network.
func (i *instance) removeBeside() (err error) {
	for _, p := range i.beside {
		err = errors.Join(err, p.box.Remove())
	}
	if i.network != nil {
		err = errors.Join(err, i.network.Remove())
		i.network = nil
	}
	return err
}
