package launch

import (
	"fmt"
	"regexp"
	"strings"
)

// The vendors of accelerators.
const (
	NVIDIA = "nvidia"
	AMD    = "amd"
	Ascend = "ascend" // Huawei's NPUs
)

// Devices are the accelerators that a container gets. If Vendor is "", it gets none.
type Devices struct {
	Vendor string
	IDs    []string // nil means all
}

// deviceID matches the id of a device, by vendor: a number or, for GPUs, a UUID
// (https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html#gpu-enumeration).
var deviceID = map[string]*regexp.Regexp{
	NVIDIA: regexp.MustCompile(`^([0-9]+|(GPU|MIG)-[0-9A-Za-z/-]+)$`),
	AMD:    regexp.MustCompile(`^([0-9]+|GPU-[0-9a-f]+)$`),
	Ascend: regexp.MustCompile(`^[0-9]+$`),
}

// ParseDevices parses "", "none", "all" or ids separated by commas. A prefix such as "amd:" names the
// vendor of all devices; without a prefix the vendor is defaultVendor.
func ParseDevices(text, defaultVendor string) (Devices, error) {
	vendor, ids := defaultVendor, text
	if before, after, found := strings.Cut(text, ":"); found {
		if deviceID[before] == nil {
			return Devices{}, fmt.Errorf("%q: vendor %q is unknown: want %s, %s or %s", text, before, NVIDIA, AMD, Ascend)
		}
		vendor, ids = before, after
	}
	switch ids {
	case "", "none":
		return Devices{}, nil
	case "all":
		if vendor == Ascend {
			return Devices{}, fmt.Errorf("%q: want the ids of the NPUs, because each one has to be named", text)
		}
		return Devices{Vendor: vendor}, nil
	}
	d := Devices{Vendor: vendor}
	for id := range strings.SplitSeq(ids, ",") {
		if id = strings.TrimSpace(id); !deviceID[vendor].MatchString(id) {
			return Devices{}, fmt.Errorf("%q: %q is not the id of a device: want none, all or ids like 0,1", text, id)
		}
		d.IDs = append(d.IDs, id)
	}
	return d, nil
}

// List returns "all", or the ids joined by commas: the format of the vendors'
// environment variables.
func (d Devices) List() string {
	if d.IDs == nil {
		return "all"
	}
	return strings.Join(d.IDs, ",")
}

// String returns the vendor and the ids, such as "nvidia 0,1".
func (d Devices) String() string {
	if d.Vendor == "" {
		return "none"
	}
	return d.Vendor + " " + d.List()
}

// Env returns the environment variables that select devices in a container that could open all of them
// (https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html). For AMD it is HIP's variable,
// because Ray, which vLLM imports, refuses to run if only ROCR_VISIBLE_DEVICES is set
// (https://github.com/ray-project/ray/pull/51104).
func (d Devices) Env() map[string]string {
	if d.Vendor == AMD && d.IDs != nil {
		return map[string]string{"HIP_VISIBLE_DEVICES": d.List()}
	}
	return nil
}

// Nodes returns the device files that the container needs. Sources: for AMD
// https://rocm.docs.amd.com/projects/install-on-linux/en/latest/how-to/docker.html,
// for Ascend https://www.hiascend.com/document/detail/zh/mindie/.
func (d Devices) Nodes() []string {
	switch d.Vendor {
	case AMD:
		return []string{"/dev/kfd", "/dev/dri"}
	case Ascend:
		nodes := []string{"/dev/davinci_manager", "/dev/hisi_hdc", "/dev/devmm_svm"}
		for _, id := range d.IDs {
			nodes = append(nodes, "/dev/davinci"+id)
		}
		return nodes
	}
	return nil
}

// flags returns the docker options that request the devices.
func (d Devices) flags() (all [][]string) {
	if d.Vendor == NVIDIA {
		request := "all"
		if d.IDs != nil {
			request = `"device=` + d.List() + `"`
		}
		return [][]string{{"--gpus", request}}
	}
	for _, node := range d.Nodes() {
		all = append(all, []string{"--device=" + node})
	}
	return all
}
