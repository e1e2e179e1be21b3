package backends

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

// grantGPUs sets the devices that the server gets. vendor is the vendor of GPUs
// that name none.
func (b *builder) grantGPUs(vendor string) {
	if strings.Contains(strings.ToLower(b.Image), "rocm") {
		vendor = launch.AMD
	}
	d, err := launch.ParseDevices(string(b.from.GPUs), vendor)
	if err != nil {
		b.invalid("GPUs", "%v", err)
	}
	b.Devices = d
	if d.Vendor == launch.AMD {
		b.Groups = append(b.Groups, "video")
		b.SecurityOptions = append(b.SecurityOptions, "seccomp=unconfined")
	}
	for name, value := range d.Env() {
		b.Env[name] = value
	}
}

// imageFor chooses the server's default image by the vendor of its devices, "" for
// none. A vendor without an image is an error, unless Image is set.
func (b *builder) imageFor(images map[string]string) {
	vendor := b.Devices.Vendor
	switch image, found := images[vendor]; {
	case b.from.Image != "":
	case found:
		b.Image = image
	case vendor != "":
		b.invalid("GPUs", "%q: this server has no default image for devices of vendor %s; set Image to one that can use them", string(b.from.GPUs), vendor)
	}
}

// A parallelism is one way in which a server spreads a model over devices.
type parallelism struct {
	field, flag string
	n           int      // devices; 0 is not set
	aliases     []string // other names of the option
}

// parallelOptions appends the options that spread the model over devices. The
// first one is tensor parallelism. If no field and no argument sets any of them,
// and GPUs names several devices, the model is spread over all of them by tensor
// parallelism. Otherwise the number of devices must be the number that the server
// uses, because a result must not name devices that stood idle. The number of
// "all" devices is checked when the container runs. If Args set one of the
// options, nothing is checked.
func (b *builder) parallelOptions(ways ...parallelism) {
	set, used := false, 1
	for i, w := range ways {
		if b.hasArg(append(slices.Clone(w.aliases), w.flag)...) {
			set, used = true, 0
		}
		if w.n < 0 {
			b.invalid(w.field, "%d: want a whole number above 0, or 0 for all GPUs that are named", w.n)
			ways[i].n = 0
		}
		set = set || w.n > 0
		used *= max(1, ways[i].n)
	}
	if n := len(b.Devices.IDs); !set && n > 1 {
		ways[0].n, used = n, n
	}
	for _, w := range ways {
		if w.n > 0 {
			b.args(w.flag, strconv.Itoa(w.n))
		}
	}
	b.useDevices(ways[0].field, used)
}

// useDevices records how many devices the server uses, 0 if that is not known,
// and notes an error if field makes the server use another number than it gets.
func (b *builder) useDevices(field string, used int) {
	if b.Devices.Vendor == "" || used == 0 {
		return
	}
	b.DevicesUsed = used
	b.Config["gpus-used"] = strconv.Itoa(used)
	if n := len(b.Devices.IDs); n > 0 && n != used {
		b.invalid(field, "makes the server use %d GPUs, and GPUs %q are %d: want the same number", used, string(b.from.GPUs), n)
	}
}
