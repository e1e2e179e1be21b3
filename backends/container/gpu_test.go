package container

import (
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

// TestGPUs checks the requested GPUs against the output of nvidia-smi.
func TestGPUs(t *testing.T) {
	two := parseGPUs("NVIDIA A100-PCIE-40GB, 550.54.15\nNVIDIA A100-PCIE-40GB, 550.54.15\n")
	assert.Equal(t, two, visibleGPUs{2, "2 x NVIDIA A100-PCIE-40GB", "550.54.15"})
	none := parseGPUs("No devices were found\n")
	assert.Equal(t, none, visibleGPUs{})
	for _, c := range []struct {
		requested string
		visible   visibleGPUs
		used      int
		want      string // a part of the error; "" means success
	}{
		{"all", two, 0, ""},
		{"all", two, 2, ""},
		{"0,1", two, 0, ""},
		{"0", two, 0, "GPUs nvidia 0 were requested, and the container has 2"},
		{"all", none, 0, "GPUs nvidia all were requested, and the container has 0"},
		{"0,1", none, 0, "GPUs nvidia 0,1 were requested, and the container has 0"},
		{"all", two, 1, "GPUs nvidia all are 2, and the server would use 1 of them: name the ids in GPUs, or set the server's parallelism to their number"},
	} {
		d, err := launch.ParseDevices(c.requested, launch.NVIDIA)
		assert.NilError(t, err)
		err = checkGPUs(d, c.visible, c.used)
		if c.want == "" {
			assert.NilError(t, err, c.requested)
			continue
		}
		assert.Error(t, err, c.want)
	}
}
