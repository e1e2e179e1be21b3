package backends

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/facts"
)

// TestCheckedVersions checks the versions that the program says were checked. They must be the versions in
// the files of facts, and the versions of the images in these files.
func TestCheckedVersions(t *testing.T) {
	all, err := facts.Load("testdata/facts")
	assert.NilError(t, err)
	known := map[string][]string{} // for each server, the images in its files of facts, and an image with the version of each file
	for _, f := range all {
		if servers[f.Server] == nil {
			continue
		}
		known[f.Server] = append(known[f.Server], "local/any:"+f.Version)
		for _, i := range f.Images {
			known[f.Server] = append(known[f.Server], i.Name)
		}
	}
	assert.Equal(t, len(known), len(checkedVersions))
	for name, images := range known {
		for _, image := range images {
			named := slices.ContainsFunc(checkedVersions[name], func(v string) bool { return launch.TagHas(image, v) })
			assert.Assert(t, named, "checkedVersions of %s lacks a version of %s", name, image)
		}
		for _, v := range checkedVersions[name] {
			assert.Assert(t, slices.ContainsFunc(images, func(image string) bool { return launch.TagHas(image, v) }), "no facts are of %s %s", name, v)
		}
	}
}

// TestUncheckedImage checks what is logged about an image of another version.
func TestUncheckedImage(t *testing.T) {
	for image, unchecked := range map[string]bool{"": false, "vllm/vllm-openai:v0.31.0-cu129": false, "r:5000/vllm:v0.19.1": false, "vllm/vllm-openai:v0.29.0": true, "vllm/vllm-openai:v0.31.01": true, "vllm@sha256:" + strings.Repeat("0", 64): true} {
		spec, err := VLLM{Container: Container{Image: image, Model: "m"}}.Spec()
		assert.NilError(t, err)
		assert.Equal(t, spec.Unchecked != "", unchecked, image)
		assert.Equal(t, spec.Config["image-checked"] == "no", unchecked, image)
		if unchecked {
			assert.Equal(t, spec.Unchecked, "the image "+image+" names none of the versions that this program was compared with (0.31.0, 0.19.1): it may lack an option, a metric or a request of those")
		}
	}
}

// TestTagVersion reads versions in the tags of images.
func TestTagVersion(t *testing.T) {
	for image, want := range map[string]string{"a/b:1.2.1": "v1.2.1", "r:5000/b:v3.23-cuda": "v3.23", "b:1.3.0rc5": "v1.3.0-rc.5", "b:1.3.0rc12-x@sha256:0": "v1.3.0-rc.12", "b:5": "", "b:latest": "", "b": "", "b:3.23x": "", "b:server-b11312": ""} {
		assert.Equal(t, tagVersion(image), want, image)
	}
}

// TestTensorRTLLMMetrics checks that values are only promised if the server has the metric.
func TestTensorRTLLMMetrics(t *testing.T) {
	for image, has := range map[string]bool{"": false, "a:1.2.1": false, "a:1.3.0rc4": false, "a:1.3.0rc5": true, "a:1.3.0rc12": true, "a:1.3.0": true, "a:mine": true} {
		spec, err := TensorRTLLM{Container: Container{Image: image, Model: "m"}}.Spec()
		assert.NilError(t, err)
		assert.Equal(t, len(spec.Metrics.KVUsage) > 0, has, image)
	}
	assert.DeepEqual(t, units(servers["tensorrtllm"]), []string{"srv-queue-ns"})
}
