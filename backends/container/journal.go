package container

import (
	"fmt"
	"slices"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/serverlog"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// engineFailures are error messages of container engines that cannot provide devices.
var engineFailures = []launch.Failure{
	{Log: `unsatisfied condition: cuda`, Advice: "the host's GPU driver is too old for this image: an image for CUDA 13 needs driver 580 or newer; update the driver, or take an image for CUDA 12, such as the tags of vLLM and SGLang that end in -cu129"},
	{Log: `could not select device driver|unknown runtime specified nvidia|nvidia-container-cli|libnvidia-ml`, Advice: "the engine cannot grant NVIDIA GPUs: install the NVIDIA driver and the NVIDIA Container Toolkit (https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html), or set LLMBENCH_GPUS=none"},
	{Log: `gathering device information.*(/dev/kfd|/dev/dri)`, Advice: "this machine has no AMD GPU with a driver: install amdgpu-dkms, or set LLMBENCH_GPUS=none"},
	{Log: `gathering device information.*/dev/(davinci|hisi|devmm)`, Advice: "this machine has no such Ascend NPU: check the ids in LLMBENCH_GPUS and the driver"},
}

// A journal is the log of a server, and the failures that are recognised in its lines.
type journal struct {
	spec launch.Spec // of the server
	log  *serverlog.Log
	logf func(format string, args ...any) // for messages to the user
}

// newJournal returns an empty journal. Its messages go to logf, without secrets.
func newJournal(spec launch.Spec, logf func(string, ...any)) journal {
	return journal{spec, &serverlog.Log{}, func(format string, args ...any) { logf("%s", redact.Known().Hide(fmt.Sprintf(format, args...))) }}
}

// failure returns the error of a stage. It adds the advice for a known failure,
// and the last lines of the log.
func (j *journal) failure(stage string, err error) error {
	text := fmt.Sprintf("%s: %s: %v", j.spec.Backend, stage, err)
	known := slices.Concat(engineFailures, j.spec.Failures)
	return j.log.Failure(text, launch.Advice(known, j.gpu(), append(j.log.Lines(), text)), j.spec.Unchecked)
}

// isFailure reports whether a line of the log says that the server cannot start. Such a line counts even
// while the server's process keeps running.
func (j *journal) isFailure(line string) bool {
	gpu := j.gpu()
	return slices.ContainsFunc(j.spec.Failures, func(f launch.Failure) bool { return f.Shows(line, gpu) })
}

// gpu reports whether the server was supposed to use a GPU.
func (j *journal) gpu() bool { return j.spec.Devices.Vendor != "" }
