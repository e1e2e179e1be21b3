package backends

import (
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

// grantGPUs sets the devices that the server gets. If GPUs has no vendor prefix, vendor is assumed.
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

// imageFor chooses the server's default image. images has one for each vendor of devices; the key "" is for
// a server without devices. Without an image for the vendor, imageFor records an error, unless Image is
// set.
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
	n           int // number of devices; 0 if not set
}

// parallelOptions appends the options that spread the model over devices. The first of ways is tensor
// parallelism. The argument options has every option that changes how many devices the server uses.
//
// If neither a field nor Args sets any of the options, and GPUs lists several ids, tensor parallelism
// spreads the model over all of them. If a field sets an option, the number of devices that the server uses
// must equal the number of ids, because a result must not name devices that were idle. If GPUs is "all",
// that number is checked when the container runs. If Args set one of the options, nothing is checked.
func (b *builder) parallelOptions(ways []parallelism, options []string) {
	set, used := false, 1
	if b.hasArg(options...) {
		set, used = true, 0
	}
	for i, w := range ways {
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

// useDevices records how many devices the server uses; used is 0 if the number is unknown. It records an
// error that names field if the server gets a different number of devices.
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
