// Gatewaycheck checks a gateway in any language: whether clients get through it what inference servers send, also when a
// server fails, a client leaves, or many requests run at once. Package gatewaytest describes what is checked.
//
// Usage:
//
//	gatewaycheck -gateway url -listen host:port[,host:port] [flags]
//	gatewaycheck -list
//	gatewaycheck version
//
// The command listens at the addresses of -listen as simulated inference servers. The gateway must have them as its
// upstreams, and may be started before or after the command, which waits for it. With two addresses, the loss of one is
// checked, too. The servers accept any model and any key.
//
// The flags are:
//
//	-gateway url            base URL of the gateway, without /v1
//	-listen host:port,...   one or two addresses for the simulated servers
//	-api name               the API of clients: openai-chat (default), anthropic-messages, gemini, ...
//	-model name             the model that requests name (mock)
//	-key key                a key that the gateway accepts; may be repeated, one for each tenant
//	-upstream-key key       the key that the gateway sends to its upstreams, which must not come back
//	-class name             check this class, or this case such as end/reset, alone; may be repeated
//	-gap name               a class, case or finding that is known to be wrong; may be repeated
//	-rewrites               the gateway writes answers of its own: compare the meaning of whole answers
//	-streams n              check each case also beside n streams
//	-pid n                  process id of the gateway on this machine, whose memory is then measured; needs Linux
//	-grow-within bytes      memory by which the gateway may grow because of a request or an answer without end (50331648)
//	-seed n                 seed of random draws (1)
//	-wait duration          time in which each request must end (10s)
//	-idle duration          the gateway ends streams that stand still for this time; 0 means that it does not
//	-format name            text, markdown or junit (text)
//	-list                   print the cases and end
//
// With -pid, the command finds out whether each request leaves memory or open files behind, which takes up to four minutes.
//
// The report is printed to standard output. The exit status is 0 if no case failed, 1 if one did, and 2 for bad usage, or
// if an address of -listen cannot be used.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/gatewaytest"
	"github.com/seed-2b9cec6d/llmbench/llmbench/version"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// options are the values of the flags.
type options struct {
	gateway, format string
	listen          []string
	list            bool
	pid             int
	o               gatewaytest.Options
}

// run executes the command and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	if version.Asked(args) {
		io.WriteString(stdout, version.Line("gatewaycheck"))
		return 0
	}
	o, err := parse(args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "gatewaycheck:", err)
		return 2
	case o.list:
		for _, c := range gatewaytest.Cases() {
			fmt.Fprintf(stdout, "%-28s %s\n", c.Class+"/"+c.Name, c.Does)
		}
		return 0
	}
	report, err := gatewaytest.Check(func(upstreams []string) (string, error) {
		fmt.Fprintf(stderr, "gatewaycheck: simulated servers at %s; checking the gateway at %s\n", strings.Join(upstreams, " and "), o.gateway)
		return o.gateway, nil
	}, o.listen, o.o)
	if err != nil {
		fmt.Fprintln(stderr, "gatewaycheck:", err)
		return 2
	}
	switch o.format {
	case "markdown":
		io.WriteString(stdout, report.Markdown())
	case "junit":
		stdout.Write(report.JUnit())
	default:
		io.WriteString(stdout, report.Text())
	}
	if report.Failed() {
		return 1
	}
	return 0
}

// parse reads the command line. It prints help to stdout, and usage after an error to stderr.
func parse(args []string, stdout, stderr io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("gatewaycheck", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	list := func(to *[]string) func(string) error {
		return func(v string) error {
			*to = append(*to, v)
			return nil
		}
	}
	fs.StringVar(&o.gateway, "gateway", "", "base `url` of the gateway, without /v1")
	fs.Func("listen", "one or two addresses, `host:port,...`, for the simulated servers", func(v string) error {
		o.listen = strings.Split(v, ",")
		return nil
	})
	fs.StringVar(&o.o.API, "api", "openai-chat", "`name` of the API of clients")
	fs.StringVar(&o.o.Model, "model", "mock", "`name` of the model that requests name")
	fs.Func("key", "a `key` that the gateway accepts; may be repeated, one for each tenant", list(&o.o.Keys))
	fs.StringVar(&o.o.UpstreamKey, "upstream-key", "", "the `key` that the gateway sends to its upstreams, which must not come back")
	fs.Func("class", "check the class or case with this `name` alone; may be repeated", list(&o.o.Classes))
	fs.Func("gap", "`name` of a class, case or finding that is known to be wrong; may be repeated", list(&o.o.Gaps))
	fs.BoolVar(&o.o.Rewrites, "rewrites", false, "the gateway writes answers of its own: compare the meaning of whole answers")
	fs.IntVar(&o.o.Streams, "streams", 0, "check each case also beside `n` streams")
	fs.IntVar(&o.pid, "pid", 0, "process id `n` of the gateway on this machine, whose memory is then measured; needs Linux")
	fs.Int64Var(&o.o.GrowWithin, "grow-within", 0, "memory in `bytes` by which the gateway may grow because of a request or an answer without end; 0 means 48 MiB")
	fs.Uint64Var(&o.o.Seed, "seed", 1, "seed `n` of random draws")
	fs.DurationVar(&o.o.Wait, "wait", 0, "time in which each request must end; 0 means 10s")
	fs.DurationVar(&o.o.IdleWithin, "idle", 0, "the gateway ends streams that stand still for this time; 0 means that it does not")
	fs.StringVar(&o.format, "format", "text", "`name` of the report's format: text, markdown or junit")
	fs.BoolVar(&o.list, "list", false, "print the cases and end")
	usage := func(w io.Writer) {
		fmt.Fprintln(w, "usage: gatewaycheck -gateway url -listen host:port[,host:port] [flags]\n       gatewaycheck -list\n       gatewaycheck version")
		fs.SetOutput(w)
		fs.PrintDefaults()
	}
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		usage(stdout)
		return o, err
	case err != nil:
		usage(stderr)
		return o, err
	case fs.NArg() > 0:
		return o, fmt.Errorf("argument %q: want flags only", fs.Arg(0))
	case o.list:
		return o, nil
	case o.format != "text" && o.format != "markdown" && o.format != "junit":
		return o, fmt.Errorf("-format=%s: want text, markdown or junit", o.format)
	case len(o.listen) == 0:
		return o, errors.New("-listen: missing: want one or two addresses, as in 127.0.0.1:9001,127.0.0.1:9002")
	}
	o.o.Upstreams = len(o.listen)
	if o.pid != 0 {
		o.o.Measure = gatewaytest.MeasureProcess(o.pid)
	}
	if u, err := url.Parse(o.gateway); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return o, fmt.Errorf("-gateway=%s: want a base URL, as in http://127.0.0.1:8080", o.gateway)
	}
	return o, nil
}
