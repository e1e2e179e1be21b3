package cgroup

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// TestCPU checks which files are read, and whether further groups may limit the process.
func TestCPU(t *testing.T) {
	for _, tt := range []struct {
		name, namespace, list string
		files                 map[string]string // below the folder of the groups
		want                  []string
		all                   bool
	}{
		{"version 2", initial, "0::/user.slice/shell\n", map[string]string{"user.slice/shell/cpu.max": "a", "user.slice/cpu.max": "b", "other/cpu.max": "c"}, []string{"a", "b"}, true},
		{"the root of version 2 has no file", initial, "0::/\n", nil, nil, true},
		{"no such file", initial, "0::/a/b\n", map[string]string{"a/b/cpu.stat": "x", "a/cpu.max": "a"}, []string{"a"}, true},
		{"a container of version 2", "cgroup:[4026532999]", "0::/\n", map[string]string{"cpu.max": "a"}, []string{"a"}, false},
		{"version 1", initial, "4:memory:/m\n3:cpuset:/s\n1:cpu,cpuacct:/a\n0::/\n", map[string]string{"cpu,cpuacct/a/cpu.max": "a", "cpu,cpuacct/cpu.max": "r", "cpu.max": "2"}, []string{"a", "r"}, true},
		{"version 1, with a colon", initial, "1:cpu:/a:b\n", map[string]string{"cpu/a:b/cpu.max": "a"}, []string{"a"}, true},
		{"both versions", initial, "1:cpu:/a\n0::/user/shell\n", map[string]string{"cpu/a/cpu.max": "a", "unified/user/shell/cpu.max": "2"}, []string{"a"}, true},
		{"a container of version 1", initial, "1:cpu:/docker/0123\n", map[string]string{"cpu/cpu.max": "a"}, []string{"a"}, false},
		{"no controller", initial, "4:memory:/m\n", nil, nil, true},
		{"a kernel without namespaces of groups", "", "0::/a\n", map[string]string{"a/cpu.max": "a"}, []string{"a"}, true},
		{"a kernel without groups", "", "", nil, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			proc, groups := t.TempDir(), t.TempDir()
			assert.NilError(t, os.Mkdir(filepath.Join(proc, "ns"), 0o777))
			if tt.namespace != "" {
				assert.NilError(t, os.Symlink(tt.namespace, filepath.Join(proc, "ns/cgroup")))
			}
			if tt.list != "" {
				assert.NilError(t, os.WriteFile(filepath.Join(proc, "cgroup"), []byte(tt.list), 0o666))
			}
			for name, text := range tt.files {
				path := filepath.Join(groups, name)
				assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o777))
				assert.NilError(t, os.WriteFile(path, []byte(text), 0o666))
			}
			got, all := cpu(proc, groups, "cpu.max")
			assert.DeepEqual(t, got, tt.want)
			assert.Equal(t, all, tt.all)
		})
	}
}
