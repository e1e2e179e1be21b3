package program

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// zombie is the state of a process that has ended and whose parent has not waited for it yet.
const zombie = 'Z'

// A stat is what the kernel reports about a process in /proc/PID/stat
// (https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html).
type stat struct {
	pid, parent int
	name        string // of the executable, at most 15 bytes
	state       byte
	children    uint64 // ticks of CPU time of all descendants that were waited for
	start       uint64 // ticks after boot
}

// readStat reads the stat of the process pid.
func readStat(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

// parseStat parses a line of /proc/PID/stat. The name is in parentheses, and may contain any byte.
func parseStat(text []byte) (s stat, err error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return s, fmt.Errorf("stat of a process: %.200q: want a name in parentheses", text)
	}
	fields := strings.Fields(string(text[end+1:])) // from the third field on
	const state, ppid, cutime, cstime, starttime = 3, 4, 16, 17, 22
	if len(fields) < starttime-2 {
		return s, fmt.Errorf("stat of a process: %.200q: want %d fields", text, starttime)
	}
	var numbers [4]uint64
	for i, f := range []int{ppid, cutime, cstime, starttime} {
		if numbers[i], err = strconv.ParseUint(fields[f-3], 10, 63); err != nil {
			return s, fmt.Errorf("stat of a process: field %d: %w", f, err)
		}
	}
	if s.pid, err = strconv.Atoi(strings.TrimSpace(string(text[:open]))); err != nil {
		return s, fmt.Errorf("stat of a process: field 1: %w", err)
	}
	s.name, s.state = string(text[open+1:end]), fields[state-3][0]
	if len(fields[state-3]) > 1 || s.state < 'A' {
		return s, fmt.Errorf("stat of a process: field %d: %.200q: want a letter", state, fields[state-3])
	}
	s.parent, s.children, s.start = int(numbers[0]), numbers[1]+numbers[2], numbers[3]
	return s, nil
}

// tree returns the process root and its descendants, including zombies. A process that ends or loses its
// parent during the call may be missing.
func tree(root int) ([]stat, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	children := map[int][]stat{} // by parent
	var all []stat
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		s, err := readStat(pid)
		switch {
		case err != nil: // the process has ended
		case pid == root:
			all = append(all, s)
		default:
			children[s.parent] = append(children[s.parent], s)
		}
	}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i].pid]...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("process %d: %w", root, os.ErrNotExist)
	}
	return all, nil
}
