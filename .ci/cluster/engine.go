//go:build linux

package main

import (
	"context"
	"io"
)

// An engine is what runs files of scenarios/deploy.
type engine struct {
	files    []string   // in the folder of the module
	packages []software // that must be installed
	// prepare makes in the folder of a lab what the engine needs; it may use the network. nil: nothing.
	prepare func(ctx context.Context, dir string, out io.Writer) error
	// up brings the engine up in a lab.
	up func(ctx context.Context, l *lab) (platform, error)
	// down removes what outlives the namespaces of a lab. nil: nothing.
	down func(dir string) error
}

// A software is programs, and the packages of Debian and Ubuntu that have them.
type software struct {
	programs []string
	packages string
}

// A platform runs the file of scenarios/deploy of an engine.
type platform interface {
	// submit starts a job with variables. Shard 0 writes its records to the folder out.
	submit(ctx context.Context, variables map[string]string, out string) (job, error)
	// ways are the ways in which a shard can be killed, in their order. The last one may leave the
	// engine unable to run jobs.
	ways() []way
}

// A job is a job of a platform.
type job interface {
	// wait waits for the end of the job, and says how it ended. The log has the output of all
	// shards that could be read.
	wait(ctx context.Context) (ending, error)
	// records returns the folder with the records of the job, which has ended. It brings them out as
	// the documents say.
	records(ctx context.Context) (dir string, err error)
}

// An ending says how a job ended.
type ending struct {
	failed bool
	status string // in the words of the engine
	log    string
}

// A way kills shards of a job in the middle.
type way struct {
	name string // of what is killed
	// kill returns the names that the shards have in errors.
	kill func(ctx context.Context, j job) ([]string, error)
}
