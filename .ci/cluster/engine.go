//go:build linux

package main

import (
	"context"
	"io"
)

// An engine is a system that runs files of scenarios/deploy.
type engine struct {
	files    []string   // in the folder of the module
	packages []software // the programs that must be installed
	// prepare makes what the engine needs in the folder of a lab. It may use the network. If it is
	// nil, nothing is needed.
	prepare func(ctx context.Context, dir string, out io.Writer) error
	// up starts the engine in a lab.
	up func(ctx context.Context, l *lab) (platform, error)
	// down removes what still exists when the namespaces of a lab have ended. If it is nil, nothing
	// does.
	down func(dir string) error
}

// A software is some programs, and the packages of Debian and Ubuntu that contain them.
type software struct {
	programs []string
	packages string
}

// A platform runs the file of scenarios/deploy of an engine.
type platform interface {
	// submit starts a job with the given variables. Shard 0 writes its records to the folder out.
	submit(ctx context.Context, variables map[string]string, out string) (job, error)
	// ways returns the ways to kill a shard, in the order in which they are tried. After the last
	// one, the engine may be unable to run jobs.
	ways() []way
}

// A job is a job of a platform.
type job interface {
	// wait waits until the job has ended, and returns how it ended. The log holds the output of all
	// shards whose output could be read.
	wait(ctx context.Context) (ending, error)
	// records returns the folder with the records of the job, which has ended. It copies them out
	// of the engine as the documentation says.
	records(ctx context.Context) (dir string, err error)
}

// An ending says how a job ended.
type ending struct {
	failed bool
	status string // in the words of the engine
	log    string
}

// A way is a way to kill shards in the middle of a job.
type way struct {
	name string // says what is killed
	// kill returns the names by which errors mention the killed shards.
	kill func(ctx context.Context, j job) ([]string, error)
}
