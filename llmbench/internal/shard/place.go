package shard

import (
	"fmt"
	"strconv"
	"strings"
)

// launchers has, for each kind of launcher, the variables that tell a process its number and the number of
// processes. Kubernetes tells only the number of the process.
var launchers = []struct{ index, count string }{
	{"JOB_COMPLETION_INDEX", ""},                     // https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode
	{"SLURM_PROCID", "SLURM_NTASKS"},                 // https://slurm.schedmd.com/srun.html
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, // https://www.open-mpi.org/faq/?category=running#mpi-environmental-variables
}

// sources names the variables that Place reads, for errors.
const sources = "LLMBENCH_SHARD=i/n, or LLMBENCH_SHARD=/n and JOB_COMPLETION_INDEX, or SLURM_PROCID and SLURM_NTASKS, or OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE"

// Place returns which shard this process is, and how many there are. Both come from LLMBENCH_SHARD or, if it
// is not set, from the first launcher whose variables are set. The function get returns the value of a
// variable, or "".
//
// The form of LLMBENCH_SHARD is INDEX/COUNT, such as 3/4, INDEX+1/COUNT or /COUNT: 2+1/4 is shard 3 of 4, too.
// The second form is for Kubernetes, whose files can write an index before "+1/4" but cannot add 1 to it. In
// this way, shard 0 can be in another Job than the other shards. In the third form, the index is the number
// that the launcher tells.
func Place(get func(name string) string) (Part, error) {
	text := get("LLMBENCH_SHARD")
	index, count, _ := strings.Cut(text, "/")
	if index != "" {
		index, after := strings.CutSuffix(index, "+1")
		return parsePart("LLMBENCH_SHARD="+text, index, count, after)
	}
	for _, l := range launchers {
		index, name, count := get(l.index), "LLMBENCH_SHARD", count
		if text == "" {
			name, count = l.count, get(l.count)
		}
		if index != "" && count != "" {
			return parsePart(fmt.Sprintf("%s=%s and %s=%s", l.index, index, name, get(name)), index, count, false)
		}
	}
	return Part{}, fmt.Errorf("nothing says which shard this process is: want %s", sources)
}

// maxShards is the maximum number of processes.
const maxShards = 1024

// parsePart returns the part of the process with the given number, or with the next number if after is
// true.
func parsePart(source, index, count string, after bool) (Part, error) {
	i, err := strconv.Atoi(index)
	if after && i >= 0 {
		i++
	}
	n, errCount := strconv.Atoi(count)
	if err != nil || errCount != nil || n < 1 || n > maxShards || i < 0 || i >= n {
		return Part{}, fmt.Errorf("%s: want a shard from 0 to n-1 of n shards, n from 1 to %d", source, maxShards)
	}
	return Part{i, n}, nil
}
