package llmbench

import (
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
)

// A config holds the variables that the harness itself reads.
type config struct {
	out      string       // LLMBENCH_OUT: folder for per-request records; "" writes none
	allUnits bool         // LLMBENCH_UNITS: false reports the core units, true all
	bound    ClientBound  // LLMBENCH_CLIENT_BOUND: what happens to figures that the client distorts; "" is as withhold
	salt     *uint64      // LLMBENCH_SALT: what the words of prompts depend on; nil: random, see Target.Salt
	progress screen.Place // LLMBENCH_PROGRESS: the terminal for progress and the table of results; "" is as auto
	shards   shard.Config
}

func init() { env.Register(func(r *env.Reader) { parseConfig(r) }) }

// readConfig reads the process's environment. It checks the variables of every
// package of the process, so that a wrong one stops a benchmark before it sends
// anything.
func readConfig() (config, error) {
	environ := os.Environ()
	if err := env.Check(environ); err != nil {
		return config{}, err
	}
	return parseConfig(env.NewReader(environ)), nil
}

// parseConfig reads the variables of a config. Errors are those of r.
func parseConfig(r *env.Reader) config {
	var c config
	env.Read(r, &c.out, "LLMBENCH_OUT", env.Text, "a folder")
	units := "core"
	env.Read(r, &units, "LLMBENCH_UNITS", env.OneOf("core", "all"), "core or all")
	c.allUnits = units == "all"
	env.Read(r, &c.bound, "LLMBENCH_CLIENT_BOUND", env.OneOf(BoundFails, BoundWithheld, BoundReported), "fail, withhold or report")
	if r.IsSet("LLMBENCH_SALT") {
		c.salt = new(uint64)
		env.Read(r, c.salt, "LLMBENCH_SALT", env.Uint64, "a whole number, at least 0")
	}
	env.Read(r, &c.progress, "LLMBENCH_PROGRESS", env.OneOf(screen.Auto, screen.TTY, screen.None), "auto, tty or none")
	c.shards = shard.ReadFrom(r)
	return c
}

// randomSalt returns the salt of this process, or of all shards, unless LLMBENCH_SALT sets it.
var randomSalt = sync.OnceValue(func() uint64 { return 1 + uint64(rand.Uint32()) })

// usedSalt is the salt that [Target.Salt] used last, or 0.
var usedSalt atomic.Uint64

// keptSalt is the salt for a server that keeps the prompts which this process has sent, and no others.
const keptSalt = 1

// promptSalt returns the salt of prompts for a server, or 0 for none.
func (c config) promptSalt(t Target) uint64 {
	switch {
	case c.salt != nil:
		return *c.salt
	case t.outlives():
		return randomSalt()
	case t.KeepsPrompts:
		return keptSalt
	}
	return 0
}
