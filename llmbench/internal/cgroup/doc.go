// Package cgroup reads the files with which Linux's control groups say how much of the CPUs this process may
// use. It changes nothing, and does not interpret the files.
package cgroup
