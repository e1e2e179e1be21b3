package container

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

// grantDevices requests the devices from the engine. NVIDIA GPUs are requested through NVIDIA's container
// runtime if the engine has that runtime, and otherwise by a device request
// (https://docs.docker.com/engine/containers/gpu/).
func grantDevices(d launch.Devices, h *container.HostConfig, env map[string]string, nvidiaRuntime bool) {
	if d.Vendor == launch.NVIDIA {
		capabilities := []string{"compute", "utility"} // utility provides nvidia-smi
		if nvidiaRuntime {
			h.Runtime = "nvidia"
			env["NVIDIA_VISIBLE_DEVICES"] = d.List()
			env["NVIDIA_DRIVER_CAPABILITIES"] = strings.Join(capabilities, ",")
			return
		}
		request := container.DeviceRequest{Capabilities: [][]string{append([]string{"gpu"}, capabilities...)}, DeviceIDs: d.IDs}
		if d.IDs == nil {
			request.Count = -1
		}
		h.DeviceRequests = append(h.DeviceRequests, request)
		return
	}
	if nvidiaRuntime { // it may be the default runtime, and images ask it for all GPUs by default
		env["NVIDIA_VISIBLE_DEVICES"] = "void"
	}
	for _, node := range d.Nodes() {
		h.Devices = append(h.Devices, container.DeviceMapping{PathOnHost: node, PathInContainer: node, CgroupPermissions: "rwm"})
	}
}

// visibleGPUs are the GPUs that nvidia-smi lists in the container.
type visibleGPUs struct {
	count  int
	names  string // models of all of them, such as "2 x NVIDIA L4"
	driver string // version of the driver
}

// listGPUs is the command whose output parseGPUs reads
// (https://docs.nvidia.com/deploy/nvidia-smi/index.html).
var listGPUs = []string{"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"}

// parseGPUs reads the output of listGPUs.
func parseGPUs(output string) (gpus visibleGPUs) {
	byName := map[string]int{}
	for line := range strings.Lines(output) {
		name, driver, found := strings.Cut(strings.TrimSpace(line), ", ")
		if !found {
			continue
		}
		gpus.count++
		byName[name]++
		gpus.driver = driver
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		names = append(names, fmt.Sprintf("%d x %s", byName[name], name))
	}
	gpus.names = strings.Join(names, ", ")
	return gpus
}

// checkGPUs returns an error unless the container has the requested devices and the server uses all of
// them. used is the number that the server uses; 0 means unknown.
func checkGPUs(requested launch.Devices, visible visibleGPUs, used int) error {
	if want := len(requested.IDs); visible.count == 0 || want > 0 && visible.count != want {
		return fmt.Errorf("GPUs %s were requested, and the container has %d", requested, visible.count)
	}
	if used > 0 && visible.count != used {
		return fmt.Errorf("GPUs %s are %d, and the server would use %d of them: name the ids in GPUs, or set the server's parallelism to their number", requested, visible.count, used)
	}
	return nil
}
