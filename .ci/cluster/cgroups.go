//go:build linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// cgroups is the folder of the control groups. They do not end with the namespaces.
const cgroups = "/sys/fs/cgroup"

// hierarchies returns the roots of the control groups. Version 2 has one root, and version 1 has
// one for each controller.
func hierarchies() ([]string, error) {
	if _, err := os.Stat(cgroups + "/cgroup.controllers"); err == nil {
		return []string{cgroups}, nil
	}
	all, err := os.ReadDir(cgroups)
	var folders []string
	for _, e := range all {
		if e.IsDir() {
			folders = append(folders, filepath.Join(cgroups, e.Name()))
		}
	}
	return folders, err
}

// makeCgroup makes a control group of that name in all hierarchies.
func makeCgroup(name string) error {
	folders, err := hierarchies()
	for _, folder := range folders {
		if e := os.Mkdir(filepath.Join(folder, name), 0o755); e != nil {
			err = errors.Join(err, e)
			continue
		}
		if filepath.Base(folder) == "cpuset" { // in version 1 these files of a new group are empty
			for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
				text, e := os.ReadFile(filepath.Join(folder, file))
				err = errors.Join(err, e, os.WriteFile(filepath.Join(folder, name, file), text, 0))
			}
		}
	}
	return err
}

// removeCgroup removes a control group and all groups in it. The processes in them have ended or
// are about to end.
func removeCgroup(name string) error {
	folders, err := hierarchies()
	for _, folder := range folders {
		var all []string
		filepath.WalkDir(filepath.Join(folder, name), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				all = append(all, path)
			}
			return nil // an error means that the group is gone
		})
		for _, path := range slices.Backward(all) { // the inner groups first
			for range 100 {
				if e := os.Remove(path); e == nil || errors.Is(e, fs.ErrNotExist) {
					break
				}
				time.Sleep(50 * time.Millisecond)
			}
			if _, e := os.Stat(path); e == nil {
				err = errors.Join(err, errors.New(path+" cannot be removed"))
			}
		}
	}
	return err
}
