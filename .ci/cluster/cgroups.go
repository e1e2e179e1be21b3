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

// cgroups is where control groups are. Namespaces do not end them.
const cgroups = "/sys/fs/cgroup"

// hierarchies returns the folders that have control groups: one with version 2, and one for each
// controller with version 1.
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
		if filepath.Base(folder) == "cpuset" { // a new group of version 1 has neither
			for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
				text, e := os.ReadFile(filepath.Join(folder, file))
				err = errors.Join(err, e, os.WriteFile(filepath.Join(folder, name, file), text, 0))
			}
		}
	}
	return err
}

// removeCgroup removes a control group and all groups in it, whose processes have ended or are about
// to end.
func removeCgroup(name string) error {
	folders, err := hierarchies()
	for _, folder := range folders {
		var all []string
		filepath.WalkDir(filepath.Join(folder, name), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				all = append(all, path)
			}
			return nil // a group that is gone need not be removed
		})
		for _, path := range slices.Backward(all) { // those within it first
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
