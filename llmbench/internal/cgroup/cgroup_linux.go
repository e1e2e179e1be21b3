package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// initial is the link /proc/self/ns/cgroup of a process whose namespace of control groups is the machine's own
// (CGROUP_NS_INIT_INO in https://github.com/torvalds/linux/blob/v6.18/include/uapi/linux/nsfs.h).
const initial = "cgroup:[4026531835]"

// CPU returns the content of the file with the given name in the process's control group and in each group
// above, where there is such a file. The groups belong to the controller "cpu", of version 2 or of version
// 1 (https://docs.kernel.org/admin-guide/cgroup-v2.html). The result all is false if there may be further
// groups that are not visible, as in most containers.
func CPU(name string) (texts []string, all bool) { return cpu("/proc/self", "/sys/fs/cgroup", name) }

// cpu is like CPU. It reads what the kernel says about the process in the folder proc, and the groups below the
// folder groups.
func cpu(proc, groups, name string) (texts []string, all bool) {
	namespace, err := os.Readlink(filepath.Join(proc, "ns/cgroup"))
	all = err == nil && namespace == initial || os.IsNotExist(err)
	list, err := os.ReadFile(filepath.Join(proc, "cgroup"))
	if err != nil {
		return nil, all && os.IsNotExist(err)
	}
	hierarchy, group := find(string(list))
	for ; ; group = filepath.Dir(group) {
		folder := filepath.Join(groups, hierarchy, group)
		if text, err := os.ReadFile(filepath.Join(folder, name)); err == nil {
			texts = append(texts, string(text))
		}
		if group == "/" {
			return texts, all
		}
		if _, err := os.Stat(folder); err != nil {
			all = false
		}
	}
}

// find returns the folder of the hierarchy with the controller "cpu", and the process's group in it. The
// argument is the content of /proc/self/cgroup (cgroups(7)). The folder of version 2 is "".
func find(list string) (hierarchy, group string) {
	group = "/"
	for line := range strings.Lines(list) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		at := filepath.Clean("/" + parts[2])
		switch controllers := parts[1]; {
		case slices.Contains(strings.Split(controllers, ","), "cpu"):
			return controllers, at
		case controllers == "":
			group = at
		}
	}
	return "", group
}
