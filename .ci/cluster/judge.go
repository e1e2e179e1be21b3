//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
)

// shards is the number of shards in the files of scenarios/deploy.
const shards = 4

var resultLine = regexp.MustCompile(`(?m)^(?:\d+: )?(Benchmark\S+\s+\d+\s.*)$`)

// results returns the result lines in the output of shards. It removes the number that srun puts
// before each line.
func results(log string) (all []string) {
	for _, m := range resultLine.FindAllStringSubmatch(log, -1) {
		all = append(all, m[1])
	}
	return all
}

// oneResult checks that all shards together gave one result, and that this result is of the same benchmark
// as the result of the one process.
func oneResult(want, got []string) error {
	if len(want) != 1 || len(got) != 1 {
		return fmt.Errorf("%d results of one process, and %d of all shards: want one of each", len(want), len(got))
	}
	if w, g := strings.Fields(want[0])[0], strings.Fields(got[0])[0]; w != g {
		return fmt.Errorf("one process measured %s, and the shards %s", w, g)
	}
	return nil
}

// sameRequests returns an error that names the first request that is in only one of the two lists.
// The lists are sorted.
func sameRequests(want, got []string) error {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got) || i < len(want) && want[i] < got[i]:
			return fmt.Errorf("the shards sent %d requests, and one process %d; only the latter sent %s", len(got), len(want), want[i])
		case i >= len(want) || got[i] < want[i]:
			return fmt.Errorf("the shards sent %d requests, and one process %d; only the former sent %s", len(got), len(want), got[i])
		}
	}
	return nil
}

// read reads the file of records in a folder, which must be the only one.
func read(dir string) (*records.Run, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("%d files of records in %s: want one", len(files), dir)
	}
	return records.Open(files[0])
}

// sameRecords checks that all shards took part in a run that ended well, and that the requests of the run
// are the same as those that the one process sent.
func sameRecords(want, got *records.Run) error {
	if why := got.Failed(); why != "" {
		return fmt.Errorf("the records say that the run failed: %s", why)
	}
	if got.Head.Shards != shards {
		return fmt.Errorf("records of %d shards: want %d", got.Head.Shards, shards)
	}
	sent := map[int32]int{}
	for q := range got.All() {
		sent[q.Shard]++
	}
	if len(sent) != shards {
		return fmt.Errorf("requests of each shard: %v: want all %d shards", sent, shards)
	}
	if err := sameRequests(lines(want), lines(got)); err != nil {
		return fmt.Errorf("records: %w", err)
	}
	return nil
}

// lines returns, sorted, the parts of the records that must be equal for one process and for
// several.
func lines(run *records.Run) (all []string) {
	for q := range run.All() {
		due := q.Due
		if !q.Scheduled {
			due = 0
		}
		all = append(all, fmt.Sprint(q.Pass, q.Turn, due, q.Outcome, q.PromptTokens, q.OutputTokens, q.MaxTokens, q.PromptChars))
	}
	slices.Sort(all)
	return all
}

// cannotJudge checks a run in which some shards were lost. The records and the log must say that
// the run could not be judged because one of these shards was lost. There must be records, and no
// result.
func cannotJudge(run *records.Run, log string, lost []string) error {
	why := run.Failed()
	i := slices.IndexFunc(lost, func(name string) bool { return strings.Contains(why, "cannot judge: "+name+" is lost: ") })
	if i < 0 {
		return fmt.Errorf("the records say %q: want that it cannot be judged because one of %q is lost", why, lost)
	}
	if !strings.Contains(log, why) {
		return fmt.Errorf("the log has no %q", why)
	}
	if all := results(log); len(all) > 0 {
		return fmt.Errorf("there is a result: %s", all[0])
	}
	if run.Len() == 0 {
		return fmt.Errorf("no records")
	}
	return nil
}
