// Command standin stands in for a server of package backends, in tests of containers
// on machines that can neither pull the server's image nor run its model. It is made
// of the facts about one version of the server, see package facts:
//
//   - It parses its command line, its environment and its files as the server does,
//     and ends with the server's message if one of them is wrong. Unlike a server, it
//     also refuses variables that the server does not read.
//   - It listens where and when the server does, and answers the server's routes:
//     health, models, metrics, the requests that set a server up, and completions,
//     which the simulated server of package mockserver answers. A router passes them on
//     to the servers behind it.
//   - If the variable STANDIN_FAILURE is set, it prints that line, as a server does
//     that cannot start, and waits.
//
// Every program that a command of package backends names is a link to this one. The
// variable STANDIN names the file of facts. The files are in /facts.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/facts"
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

// chooseFacts returns the facts in a file of /facts, named without .json.
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
