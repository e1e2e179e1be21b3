package container

import (
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"

	"github.com/seed-2b9cec6d/llmbench/backends/container/internal/engine"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
)

// requestOf returns the request that creates the container of s. nvidiaRuntime says whether the engine has
// NVIDIA's container runtime. The container's output goes to log.
func requestOf(s launch.Spec, nvidiaRuntime bool, log *serverlog.Log) (engine.Request, error) {
	req := engine.Request{
		Image: s.Image, Entrypoint: s.Entrypoint, Cmd: s.Cmd,
		Env:    maps.Clone(s.Env),
		Ports:  []int{s.Port},
		Files:  map[string]string{},
		Labels: map[string]string{"llmbench.backend": s.Backend},
		Log:    log,
	}
	maps.Copy(req.Labels, s.Labels)
	if s.MetricsPort != 0 {
		req.Ports = append(req.Ports, s.MetricsPort)
	}
	for name, from := range s.PassEnv {
		if v := os.Getenv(from); v != "" {
			req.Env[name] = v
		}
	}
	for _, f := range s.Files {
		req.Files[f.Path] = f.Content
	}
	mounts, err := mountsOf(s)
	if err != nil {
		return engine.Request{}, err
	}
	devices := &container.HostConfig{}
	grantDevices(s.Devices, devices, req.Env, nvidiaRuntime)
	req.Host = func(h *container.HostConfig) {
		h.Runtime = devices.Runtime
		h.Resources = devices.Resources
		h.Memory, h.MemorySwap = s.Memory, s.Memory // equal limits forbid swapping, which would distort the results
		h.Mounts = mounts
		h.ShmSize = s.ShmSize
		h.CapAdd, h.SecurityOpt, h.GroupAdd = s.Capabilities, s.SecurityOptions, s.Groups
		for _, u := range s.Ulimits {
			h.Ulimits = append(h.Ulimits, &container.Ulimit{Name: u.Name, Soft: u.Soft, Hard: u.Hard})
		}
	}
	return req, nil
}

// mountsOf returns the mounts of a server: folders of this machine, and named volumes for the server's
// downloads.
func mountsOf(s launch.Spec) ([]mount.Mount, error) {
	var mounts []mount.Mount
	for _, m := range s.Mounts {
		d := mount.Mount{Type: mount.TypeVolume, Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly}
		if strings.ContainsAny(m.Source, `/\`) || m.ReadOnly {
			path, err := filepath.Abs(m.Source)
			if err != nil {
				return nil, err
			}
			d.Type, d.Source = mount.TypeBind, path
		} else {
			d.VolumeOptions = &mount.VolumeOptions{Labels: map[string]string{"llmbench.cache": s.Backend}}
		}
		mounts = append(mounts, d)
	}
	return mounts, nil
}
