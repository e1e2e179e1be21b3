package backends

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
)

// GPUs are accelerators: "" or "none" for none, "all", or the ids of some,
// joined by commas, such as "0,1" or "GPU-6b1f…". Whose they are is told by a
// prefix, as in "amd:0" or "ascend:0,1,2,3"; without one it is the vendor that
// the image is for: AMD if its name has rocm in it, Huawei for MindIE, and else
// NVIDIA.
type GPUs string

// The vendors.
const (
	nvidia = "nvidia"
	amd    = "amd"
	ascend = "ascend"
)

// devices are accelerators to be granted. Without a vendor there are none.
type devices struct {
	vendor string
	ids    []string // nil: all
}

// An id is a number or, of NVIDIA's, a UUID
// (https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/docker-specialized.html#gpu-enumeration).
var gpuID = map[string]*regexp.Regexp{
	nvidia: regexp.MustCompile(`^([0-9]+|(GPU|MIG)-[0-9A-Za-z/-]+)$`),
	amd:    regexp.MustCompile(`^([0-9]+|GPU-[0-9a-f]+)$`),
	ascend: regexp.MustCompile(`^[0-9]+$`),
}

// devices reads g; vendor is whose they are without a prefix.
func (g GPUs) devices(vendor string) (devices, error) {
	ids := string(g)
	if before, after, found := strings.Cut(ids, ":"); found {
		if gpuID[before] == nil {
			return devices{}, fmt.Errorf("%q: the vendor %q is none of %s, %s, %s", string(g), before, nvidia, amd, ascend)
		}
		vendor, ids = before, after
	}
	switch ids {
	case "", "none":
		return devices{}, nil
	case "all":
		if vendor == ascend {
			return devices{}, fmt.Errorf("%q: want the ids of the devices, as every one has to be named", string(g))
		}
		return devices{vendor: vendor}, nil
	}
	d := devices{vendor: vendor}
	for id := range strings.SplitSeq(ids, ",") {
		if id = strings.TrimSpace(id); !gpuID[vendor].MatchString(id) {
			return devices{}, fmt.Errorf("%q: %q is no id of a device; want none, all or ids like 0,1", string(g), id)
		}
		d.ids = append(d.ids, id)
	}
	return d, nil
}

// list returns the ids as the vendors' variables have them.
func (d devices) list() string {
	if d.ids == nil {
		return "all"
	}
	return strings.Join(d.ids, ",")
}

// String says which devices they are: "nvidia 0,1".
func (d devices) String() string {
	if d.vendor == "" {
		return "none"
	}
	return d.vendor + " " + d.list()
}

// env returns the variables that choose among devices which the container has
// all of (https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html).
func (d devices) env() map[string]string {
	if d.vendor == amd && d.ids != nil {
		return map[string]string{"ROCR_VISIBLE_DEVICES": d.list()}
	}
	return nil
}

// nodes returns the device files that the container needs: of AMD
// https://rocm.docs.amd.com/projects/install-on-linux/en/latest/how-to/docker.html,
// of Huawei https://www.hiascend.com/document/detail/zh/mindie/.
func (d devices) nodes() []string {
	switch d.vendor {
	case amd:
		return []string{"/dev/kfd", "/dev/dri"}
	case ascend:
		nodes := []string{"/dev/davinci_manager", "/dev/hisi_hdc", "/dev/devmm_svm"}
		for _, id := range d.ids {
			nodes = append(nodes, "/dev/davinci"+id)
		}
		return nodes
	}
	return nil
}

// flags returns docker's options for the devices.
func (d devices) flags() (all [][]string) {
	if d.vendor == nvidia {
		request := "all"
		if d.ids != nil {
			request = `"device=` + d.list() + `"`
		}
		return [][]string{{"--gpus", request}}
	}
	for _, node := range d.nodes() {
		all = append(all, []string{"--device=" + node})
	}
	return all
}

// grant asks the engine for the devices. NVIDIA's come by its container runtime
// where the engine has that, and else as a device request
// (https://docs.docker.com/engine/containers/gpu/).
func (d devices) grant(h *container.HostConfig, env map[string]string, nvidiaRuntime bool) {
	if d.vendor == nvidia {
		capabilities := []string{"compute", "utility"} // utility brings nvidia-smi
		if nvidiaRuntime {
			h.Runtime = "nvidia"
			env["NVIDIA_VISIBLE_DEVICES"] = d.list()
			env["NVIDIA_DRIVER_CAPABILITIES"] = strings.Join(capabilities, ",")
			return
		}
		request := container.DeviceRequest{Capabilities: [][]string{append([]string{"gpu"}, capabilities...)}, DeviceIDs: d.ids}
		if d.ids == nil {
			request.Count = -1
		}
		h.DeviceRequests = append(h.DeviceRequests, request)
		return
	}
	if nvidiaRuntime { // it may be the default one, and images ask it for all GPUs
		env["NVIDIA_VISIBLE_DEVICES"] = "void"
	}
	for _, node := range d.nodes() {
		h.Devices = append(h.Devices, container.DeviceMapping{PathOnHost: node, PathInContainer: node, CgroupPermissions: "rwm"})
	}
}

// A split is how a server spreads a model over devices, by a field or an option.
type split struct {
	field, flag string
	n           int      // 0 is one
	args        []string // other names of the option
}

// spread appends the options of how the model is spread over the devices, the
// first of which is tensor parallelism. If none says, and more than one device
// is named, it is spread over all of these; else there must be as many as the
// server uses: others would stand idle under a result that names them. How many
// all are is seen when the container runs. What Args say is left to them.
func (m *maker) spread(splits ...split) {
	asked, world := false, 1
	for i, s := range splits {
		for _, a := range m.from.Args {
			if option, _, _ := strings.Cut(a, "="); option == s.flag || slices.Contains(s.args, option) {
				asked, world = true, 0
			}
		}
		if s.n < 0 {
			m.wrong(s.field, "%d: want a whole number above 0, or 0 for all GPUs that are named", s.n)
			splits[i].n = 0
		}
		asked = asked || s.n > 0
		world *= max(1, splits[i].n)
	}
	if n := len(m.gpus.ids); !asked && n > 1 {
		splits[0].n, world = n, n
	}
	for _, s := range splits {
		if s.n > 0 {
			m.words(s.flag, strconv.Itoa(s.n))
		}
	}
	m.uses(splits[0].field, world)
}

// uses takes note of how many devices the server will use, 0 if that is not
// known, and of a field that asks for another number than it gets.
func (m *maker) uses(field string, world int) {
	if m.gpus.vendor == "" || world == 0 {
		return
	}
	m.world = world
	m.config["gpus-used"] = strconv.Itoa(world)
	if n := len(m.gpus.ids); n > 0 && n != world {
		m.wrong(field, "makes the server use %d GPUs, and GPUs %q are %d: want as many", world, string(m.from.GPUs), n)
	}
}

// refused are what engines say when they cannot grant devices.
var refused = []known{
	{log: `could not select device driver|unknown runtime specified nvidia|nvidia-container-cli|libnvidia-ml`, advice: "the engine cannot grant NVIDIA's GPUs: install the NVIDIA driver and the NVIDIA Container Toolkit (https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html), or set LLMBENCH_GPUS=none"},
	{log: `gathering device information.*(/dev/kfd|/dev/dri)`, advice: "this machine has no AMD GPU with its driver: install amdgpu-dkms, or set LLMBENCH_GPUS=none"},
	{log: `gathering device information.*/dev/(davinci|hisi|devmm)`, advice: "this machine has no such Ascend NPU: check the ids in LLMBENCH_GPUS and the driver"},
}

// seen is what nvidia-smi in the container says of its GPUs.
type seen struct {
	gpus   int
	name   string // of all of them, as "2 x NVIDIA L4"
	driver string
}

// smi is the command whose output readSMI reads
// (https://docs.nvidia.com/deploy/nvidia-smi/index.html).
var smi = []string{"nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"}

// readSMI reads the output of smi.
func readSMI(out string) (s seen) {
	count := map[string]int{}
	for line := range strings.Lines(out) {
		name, driver, found := strings.Cut(strings.TrimSpace(line), ", ")
		if !found {
			continue
		}
		s.gpus++
		count[name]++
		s.driver = driver
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		names = append(names, fmt.Sprintf("%d x %s", count[name], name))
	}
	s.name = strings.Join(names, ", ")
	return s
}

// check returns an error unless the container that s comes from has the devices,
// and the server uses each; world is how many it uses, 0 if that is not known.
func (d devices) check(s seen, world int) error {
	if want := len(d.ids); s.gpus == 0 || want > 0 && s.gpus != want {
		return fmt.Errorf("GPUs %s were asked for, and the container has %d", d, s.gpus)
	}
	if world > 0 && s.gpus != world {
		return fmt.Errorf("GPUs %s are %d, and the server would use %d of them: name the ids in GPUs, or set its parallelism to their number", d, s.gpus, world)
	}
	return nil
}
