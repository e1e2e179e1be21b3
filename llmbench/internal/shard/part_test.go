package shard

import (
	"slices"
	"testing"

	"gotest.tools/v3/assert"
)

// TestParts checks that all parts together are the whole, and that each worker's requests belong to the
// part with this worker.
func TestParts(t *testing.T) {
	for count := 1; count <= 7; count++ {
		for workers := 0; workers <= 15; workers++ {
			for _, n := range []int{0, 1, 5, 16, 101} {
				var requests []int
				has := 0
				for i := range count {
					p := Part{i, count}
					var own []int
					for k := range p.Requests(n, workers) {
						own = append(own, p.Request(k, workers))
					}
					assert.Assert(t, slices.IsSorted(own))
					requests = append(requests, own...)
					has += p.Workers(workers)
					numbers := map[int]bool{}
					for k := range p.Workers(workers) {
						assert.Assert(t, p.Worker(k) < workers)
						numbers[p.Worker(k)] = true
					}
					for _, r := range own {
						assert.Equal(t, p.Owner(r, workers), i)
						assert.Assert(t, workers == 0 || numbers[r%workers], "request %d of %+v with %d workers", r, p, workers)
					}
				}
				slices.Sort(requests)
				for i, r := range requests {
					assert.Equal(t, r, i)
				}
				assert.Equal(t, len(requests), n)
				assert.Equal(t, has, workers)
			}
		}
	}
}

// TestAlone checks that the zero part is the whole.
func TestAlone(t *testing.T) {
	assert.Assert(t, Part{}.Alone() && Part{0, 1}.Alone() && !Part{0, 2}.Alone())
	assert.Equal(t, Part{}.Requests(3, 2), 3)
	assert.Equal(t, Part{}.Request(2, 2), 2)
	assert.Equal(t, Part{}.Workers(5), 5)
	assert.Equal(t, Part{}.Worker(4), 4)
}

func TestPlace(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want Part
		err  string
	}{
		{env: map[string]string{"LLMBENCH_SHARD": "2/4"}, want: Part{2, 4}},
		{env: map[string]string{"LLMBENCH_SHARD": "2+1/4"}, want: Part{3, 4}},
		{env: map[string]string{"LLMBENCH_SHARD": "3+1/4"}, err: "LLMBENCH_SHARD=3+1/4: want a shard from 0 to n-1 of n shards, n from 1 to 1024"},
		{env: map[string]string{"LLMBENCH_SHARD": "-1+1/4"}, err: "LLMBENCH_SHARD=-1+1/4: want a shard from 0 to n-1 of n shards, n from 1 to 1024"},
		{env: map[string]string{"LLMBENCH_SHARD": "$(INDEX)+1/4"}, err: "LLMBENCH_SHARD=$(INDEX)+1/4: want a shard from 0 to n-1 of n shards, n from 1 to 1024"},
		{env: map[string]string{"LLMBENCH_SHARD": "0/1", "SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, want: Part{0, 1}},
		{env: map[string]string{"JOB_COMPLETION_INDEX": "3", "LLMBENCH_SHARD": "/4"}, want: Part{3, 4}},
		{env: map[string]string{"SLURM_PROCID": "3", "SLURM_NTASKS": "4", "LLMBENCH_SHARD": "/4"}, want: Part{3, 4}},
		{env: map[string]string{"JOB_COMPLETION_INDEX": "3", "SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, want: Part{1, 2}},
		{env: map[string]string{"SLURM_PROCID": "1", "SLURM_NTASKS": "2"}, want: Part{1, 2}},
		{env: map[string]string{"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3", "SLURM_PROCID": "1"}, want: Part{0, 3}},
		{env: nil, err: "nothing says which shard this process is: want " + sources},
		{env: map[string]string{"LLMBENCH_SHARD": "/4"}, err: "nothing says which shard this process is: want " + sources},
		{env: map[string]string{"JOB_COMPLETION_INDEX": "3"}, err: "nothing says which shard this process is: want " + sources},
		{env: map[string]string{"JOB_COMPLETION_INDEX": "4", "LLMBENCH_SHARD": "/4"}, err: "JOB_COMPLETION_INDEX=4 and LLMBENCH_SHARD=/4: want a shard from 0 to n-1 of n shards, n from 1 to 1024"},
		{env: map[string]string{"LLMBENCH_SHARD": "4/4"}, err: "LLMBENCH_SHARD=4/4: want a shard from 0 to n-1 of n shards, n from 1 to 1024"},
		{env: map[string]string{"LLMBENCH_SHARD": "2"}, err: "LLMBENCH_SHARD=2: want a shard from 0 to n-1 of n shards, n from 1 to 1024"},
		{env: map[string]string{"SLURM_PROCID": "-1", "SLURM_NTASKS": "2"}, err: "SLURM_PROCID=-1 and SLURM_NTASKS=2: want a shard from 0 to n-1 of n shards, n from 1 to 1024"},
	} {
		got, err := Place(func(name string) string { return test.env[name] })
		if test.err != "" {
			assert.Error(t, err, test.err)
			continue
		}
		assert.NilError(t, err)
		assert.Equal(t, got, test.want)
	}
}
