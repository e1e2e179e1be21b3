package backends

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// List describes, for people, the servers that LLMBENCH_BACKEND can name: their default images, the units
// of the metrics that the server itself reports, and the fields of the server's type besides the fields of
// [Container]. Only a benchmark in Go can set these fields.
func List() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n    the simulated server, in this process\n", "mock")
	fmt.Fprintf(&b, "%s\n    a program of this machine\n    command: LLMBENCH_COMMAND, with {port} for the port to listen on\n    units of its own figures: %s, %s, %s\n", processName, cpuUnit, rateUnit, peakUnit)
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		server := servers[name]
		typ := reflect.TypeOf(server(Container{}))
		fmt.Fprintf(&b, "%s\n    image: %s\n    arguments (LLMBENCH_ARGS): %s\n", name, strings.Join(defaultImages(server), ", "), arguments(server))
		if units := units(server); len(units) > 0 {
			fmt.Fprintf(&b, "    units of its own figures: %s\n", strings.Join(units, ", "))
		}
		var fields []string
		for i := range typ.NumField() {
			if f := typ.Field(i); !f.Anonymous {
				fields = append(fields, f.Name)
			}
		}
		if len(fields) > 0 {
			fmt.Fprintf(&b, "    settings (go doc ./backends %s): %s\n", typ.Name(), strings.Join(fields, ", "))
		}
	}
	return b.String()
}

// defaultImages returns the images that a server uses by default: the image without a GPU, and the images
// for GPUs of other vendors where they differ.
func defaultImages(server func(Container) Server) (images []string) {
	seen := map[string]bool{}
	for _, c := range []struct {
		gpus  GPUs
		users string
	}{{"", ""}, {"0", " with NVIDIA GPUs"}, {"amd:0", " with AMD GPUs"}, {"ascend:0", ""}, {"0,1", ""}} {
		spec, err := server(typical(c.gpus, "")).Spec()
		if err != nil || seen[spec.Image] {
			continue
		}
		seen[spec.Image] = true
		image := spec.Image
		if len(images) > 0 {
			image += c.users
		}
		if spec.GoProgram != "" {
			image += ", from source"
		}
		images = append(images, image)
	}
	if images == nil {
		images = []string{"none: set LLMBENCH_IMAGE"}
	}
	return images
}

// arguments says, for List, whether a server takes further arguments.
func arguments(server func(Container) Server) string {
	if _, err := typicalSpec(server, "--any"); err != nil {
		return "none; it takes its settings from variables"
	}
	return "options of the server"
}

// typicalSpec returns the Spec of a server with typical settings: without devices if it can do without, and
// of the default image if it has one.
func typicalSpec(server func(Container) Server, args ...string) (spec launch.Spec, err error) {
	for _, image := range []string{"", "any:1"} {
		for _, gpus := range []GPUs{"", "ascend:0", "0,1", "amd:0"} {
			c := typical(gpus, image)
			c.Args = args
			if spec, err = server(c).Spec(); err == nil {
				return spec, nil
			}
		}
	}
	return spec, err
}

// units returns the units that are computed from the metrics of a server. It asks the server's default
// image, if there is one.
func units(server func(Container) Server) (all []string) {
	spec, _ := typicalSpec(server) // an empty one, without metrics, if there is an error
	n := spec.Metrics
	for _, u := range []struct {
		has  bool
		unit string
	}{
		{len(n.CacheHits) > 0 || len(n.CacheHitRate) > 0, sample.ServerHitShare},
		{len(n.Preemptions) > 0, "srv-preempt/op"},
		{len(n.KVUsage) > 0, "srv-kv-%"},
		{len(n.QueueTime) > 0, "srv-queue-ns"},
		{len(n.Accepted) > 0 || len(n.AcceptLength) > 0, "srv-accept-len"},
		{len(n.DraftTokens) > 0, "srv-accept-%"},
	} {
		if u.has {
			all = append(all, u.unit)
		}
	}
	return all
}
