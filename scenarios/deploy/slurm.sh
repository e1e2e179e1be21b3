#!/bin/bash
#SBATCH --job-name=llmbench
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=2
#SBATCH --time=00:30:00
#SBATCH --no-requeue
#SBATCH --output=%x-%j.log

# One shard on each node of the job measures a server that runs. In a folder that all nodes share:
#
#   CGO_ENABLED=0 go test -c -o scenarios.test ./scenarios
#   LLMBENCH_URL=http://server:8000 LLMBENCH_CONCURRENCY=256 sbatch scenarios/deploy/slurm.sh -test.bench=Serve -test.benchtime=1x
#
# The arguments are those of scenarios.test. The result is in llmbench-JOB.log, and the records are in
# the folder llmbench-JOB. Other numbers of nodes, and of CPUs for each shard:
# sbatch --nodes=8 --cpus-per-task=16 … . A shard finds its number in SLURM_PROCID and the number of
# all in SLURM_NTASKS.

set -euo pipefail

port=9000  # free on the first node of the job
limit=25m  # for the measurement; less than --time above, so that what went wrong is in the log

: "${LLMBENCH_URL:?the base URL of the server, such as http://server:8000}"
if [ $# = 0 ]; then set -- -test.bench=Serve -test.benchtime=1x; fi

# Task 0 runs on the first node of the list, as the tasks are distributed in blocks.
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export LLMBENCH_RENDEZVOUS=$first:$port

# Slurm hands the environment to the tasks. No command line has the token.
LLMBENCH_RENDEZVOUS_TOKEN=$(od -An -vtx1 -N32 /dev/urandom | tr -d ' \n')
export LLMBENCH_RENDEZVOUS_TOKEN

export LLMBENCH_OUT=${LLMBENCH_OUT:-$SLURM_SUBMIT_DIR/$SLURM_JOB_NAME-$SLURM_JOB_ID}
mkdir -p "$LLMBENCH_OUT"

# A shard that ends with another status than 0 ends the others, after they have had the time to say
# why. srun may wait for a node that is down for as long as the job may run: hence timeout.
exec timeout --kill-after=30s "$limit" \
  srun --cpus-per-task="$SLURM_CPUS_PER_TASK" --distribution=block --kill-on-bad-exit=1 --label "$SLURM_SUBMIT_DIR/scenarios.test" -test.run='^$' "$@"
