// Command standin imitates a server of package backends, in tests of containers on machines that can
// neither pull the server's image nor run its model. It follows the facts about one version of the server;
// see package facts:
//
//   - It parses its command line, its environment and its files as the server does, and exits with the
//     server's error message if one of them is wrong. Unlike the server, it also refuses environment
//     variables that the server does not read.
//   - It listens on the same ports and at the same time as the server, and answers the server's routes:
//     health, models, metrics, requests that set the server up, and completions. The simulated server of
//     package mockserver answers the completions. If the server is a router, completions are passed on to
//     the servers behind it.
//   - If the environment variable STANDIN_FAILURE is set, it prints that line, as a server does that cannot
//     start, and then waits.
//
// In the image, every program that package backends starts is a link to this program. The environment
// variable STANDIN names the file of facts in /facts.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/facts"
)

func main() {
	err := run()
	var usage *facts.UsageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintln(os.Stderr, usage.Message)
		os.Exit(usage.Exit)
	case err != nil:
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

// run is the program. It ends without an error when the server is told to stop.
func run() error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	words := os.Args
	if filepath.Base(words[0]) == "ollama" && len(words) > 1 && words[1] == "create" {
		return createModel(words[2:])
	}
	f, err := chooseFacts(os.Getenv("STANDIN"))
	if err != nil {
		return err
	}
	set, err := readSettings(f, words, os.Environ())
	if err != nil {
		return err
	}
	if line := os.Getenv("STANDIN_FAILURE"); line != "" {
		fmt.Fprintln(os.Stderr, line)
		<-stop
		return nil
	}
	s := newServer(f, set)
	if err := s.listen(); err != nil {
		return err
	}
	<-stop
	return nil
}

// chooseFacts returns the facts in the file /facts/NAME.json.
func chooseFacts(name string) (facts.Facts, error) {
	all, err := facts.Load("/facts")
	if err != nil {
		return facts.Facts{}, err
	}
	for _, f := range all {
		if f.Server+"-"+f.Version == name {
			return f, nil
		}
	}
	return facts.Facts{}, fmt.Errorf("STANDIN=%s: no such file in /facts", name)
}
