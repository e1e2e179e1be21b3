package process

import (
	"os"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/hook"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/price"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/screen"
	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/shard"
	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// A Config holds the values of the environment variables that the harness itself reads.
type Config struct {
	Out         string       // LLMBENCH_OUT: folder for per-request records; "" writes none
	AllUnits    bool         // LLMBENCH_UNITS: false reports only the core units, true all units
	ClientBound string       // LLMBENCH_CLIENT_BOUND: fail, withhold or report; "" if it is not set
	Salt        *uint64      // LLMBENCH_SALT: the seed of the words in prompts; nil: not set
	Priority    bool         // LLMBENCH_PRIORITY is auto: the threads have a better place in the queue for a CPU during passes
	Progress    screen.Place // LLMBENCH_PROGRESS: the terminal for progress and results; "" means auto
	Price       float64      // LLMBENCH_PRICE: the price of an hour of the server; 0: not set
	Report      string       // LLMBENCH_REPORT: file or address of the page, which only reportmain.Main makes; "" is none
	Hooks       hook.Pair    // LLMBENCH_BEFORE_PASS and LLMBENCH_AFTER_PASS
	Shards      shard.Config
}

func init() { env.Register(func(r *env.Reader) { parseConfig(r) }) }

// ReadConfig reads the environment of the process. It checks the variables of every package of the process,
// so that an invalid variable stops a benchmark before it sends anything.
func ReadConfig() (Config, error) {
	environ := os.Environ()
	if err := env.Check(environ); err != nil {
		return Config{}, err
	}
	c := parseConfig(env.NewReader(environ))
	redact.Add(c.Shards.Token)
	return c, nil
}

// parseConfig reads the variables of a Config. It adds errors to r.
func parseConfig(r *env.Reader) Config {
	var c Config
	env.Read(r, &c.Out, "LLMBENCH_OUT", env.Text, "a folder")
	units := "core"
	env.Read(r, &units, "LLMBENCH_UNITS", env.OneOf("core", "all"), "core or all")
	c.AllUnits = units == "all"
	env.Read(r, &c.ClientBound, "LLMBENCH_CLIENT_BOUND", env.OneOf("fail", "withhold", "report"), "fail, withhold or report")
	if r.IsSet("LLMBENCH_SALT") {
		c.Salt = new(uint64)
		env.Read(r, c.Salt, "LLMBENCH_SALT", env.Uint64, "a whole number, at least 0")
	}
	priority := "none"
	env.Read(r, &priority, "LLMBENCH_PRIORITY", env.OneOf("auto", "none"), "auto or none")
	c.Priority = priority == "auto"
	env.Read(r, &c.Progress, "LLMBENCH_PROGRESS", env.OneOf(screen.Auto, screen.TTY, screen.None), "auto, tty or none")
	env.Read(r, &c.Price, "LLMBENCH_PRICE", price.Parse, price.Want)
	env.Read(r, &c.Report, "LLMBENCH_REPORT", env.Text, "a file for the page, or an address at which it is shown")
	c.Hooks = hook.ReadFrom(r)
	c.Shards = shard.ReadFrom(r)
	if c.Shards.Index == 0 { // which alone runs them
		if err := c.Hooks.Find(); err != nil {
			r.Errorf("%v", err)
		}
	}
	return c
}
