package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// A stage is some files of a package. Its files may use files of its own and of later stages.
type stage struct {
	name  string
	files []string
}

// readStages reads the stages of packages from a file. A package begins with a line that holds its
// folder. The stages follow, the first one on top. Each is an indented line with the name of the
// stage, a colon and its files. Lines that begin with # are comments. If there is no file, there
// are no stages.
func readStages(path string) (map[string][]stage, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	all := map[string][]stage{}
	folder := ""
	for line := range strings.Lines(string(text)) {
		name, files, isStage := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case name == "" || strings.HasPrefix(name, "#"):
		case isStage && folder != "":
			all[folder] = append(all[folder], stage{name, strings.Fields(files)})
		case isStage:
			return nil, fmt.Errorf("%s: stage %s is below no package", path, name)
		default:
			folder = name
		}
	}
	return all, nil
}

// against returns a line for each file that is in no stage, for each file that uses a file of an
// earlier stage, and for each file of a stage that does not exist. If the package has no stages, it
// returns nothing.
func (r *room) against(stages []stage) (problems []string) {
	if len(stages) == 0 {
		return nil
	}
	at := map[string]int{} // the stage of a file
	for i, s := range stages {
		for _, f := range s.files {
			if at[f] = i; !slices.Contains(r.files, f) {
				problems = append(problems, fmt.Sprintf("stage %s has no file %s", s.name, f))
			}
		}
	}
	for _, from := range slices.Sorted(slices.Values(r.files)) {
		own, has := at[from]
		if !has {
			problems = append(problems, fmt.Sprintf("%s is in no stage; add it to .ci/rooms/stages.txt", from))
			continue
		}
		for _, to := range slices.Sorted(maps.Keys(r.uses[from])) {
			if i, has := at[to]; has && i < own {
				names := slices.Sorted(maps.Keys(r.uses[from][to]))
				problems = append(problems, fmt.Sprintf("%s (%s) uses %s (%s), a stage above: %s", from, stages[own].name, to, stages[i].name, strings.Join(names, " ")))
			}
		}
	}
	return problems
}
