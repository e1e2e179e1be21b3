package container

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

// engineFailures are what container engines say when they cannot grant devices.
var engineFailures = []launch.Failure{
	{Log: `could not select device driver|unknown runtime specified nvidia|nvidia-container-cli|libnvidia-ml`, Advice: "the engine cannot grant NVIDIA GPUs: install the NVIDIA driver and the NVIDIA Container Toolkit (https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html), or set LLMBENCH_GPUS=none"},
	{Log: `gathering device information.*(/dev/kfd|/dev/dri)`, Advice: "this machine has no AMD GPU with a driver: install amdgpu-dkms, or set LLMBENCH_GPUS=none"},
	{Log: `gathering device information.*/dev/(davinci|hisi|devmm)`, Advice: "this machine has no such Ascend NPU: check the ids in LLMBENCH_GPUS and the driver"},
}

// failure returns the error of a stage. It adds the advice for a known failure,
// and the last lines of the log.
func (i *instance) failure(stage string, err error) error {
	lines := i.log.Lines()
	text := fmt.Sprintf("%s: %s: %v", i.spec.Backend, stage, err)
	if advice := i.advice(append(slices.Clone(lines), text)); advice != "" {
		text += "\n  what to do: " + advice
	}
	if len(lines) > 0 {
		text += "\n  last lines of its log:\n    " + strings.Join(lines, "\n    ")
	}
	return errors.New(i.log.Clean(text))
}

// advice returns the advice for the first known failure that a line matches.
func (i *instance) advice(lines []string) string {
	for _, f := range append(slices.Clone(engineFailures), i.spec.Failures...) {
		for _, line := range lines {
			if i.matches(f, line) {
				return f.Advice
			}
		}
	}
	return ""
}

// abortOnFailure ends the wait for the server if a line of its log says that the
// server cannot start. Its process may go on nevertheless.
func (i *instance) abortOnFailure(line string) {
	for _, f := range i.spec.Failures {
		if i.matches(f, line) {
			i.abort(fmt.Errorf("its log says: %s", strings.TrimSpace(line)))
			return
		}
	}
}

// patterns holds compiled regular expressions of failures by their text.
var patterns sync.Map

// matches reports whether a line of the log tells the failure.
func (i *instance) matches(f launch.Failure, line string) bool {
	if f.WithGPU && i.spec.Devices.Vendor == "" {
		return false
	}
	p, found := patterns.Load(f.Log)
	if !found {
		p, _ = patterns.LoadOrStore(f.Log, regexp.MustCompile(f.Log))
	}
	return p.(*regexp.Regexp).MatchString(line)
}
