package llmbench

import (
	"os"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/progress"
)

// A config holds the variables that the harness itself reads.
type config struct {
	out      string         // LLMBENCH_OUT: folder for per-request records; "" writes none
	allUnits bool           // LLMBENCH_UNITS: false reports the core units, true all
	bound    ClientBound    // LLMBENCH_CLIENT_BOUND: what happens to figures that the client distorts; "" is as fail
	progress progress.Place // LLMBENCH_PROGRESS: where the progress of passes is shown; "" is as none
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
	env.Read(r, &c.progress, "LLMBENCH_PROGRESS", env.OneOf(progress.None, progress.TTY), "none or tty")
	return c
}
