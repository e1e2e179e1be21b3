//go:build linux

// Cluster runs the files of scenarios/deploy for real, on an engine that it brings up on this
// machine alone:
//
//   - slurm: the Slurm of Debian or Ubuntu, with four nodes;
//   - kubernetes: Kubernetes v1.36 with two nodes, each with a kubelet and a containerd.
//
// A node is a process in Linux namespaces of its own, with its own network card, host name and
// process numbers. All nodes and all daemons of the engine are in further namespaces, where a
// simulated server runs too. The kernel ends them all when Cluster ends, however it ends.
//
// Cluster checks that
//
//   - four shards send together exactly what one process sends, and give one result;
//   - where a node, or a pod of Kubernetes, is killed in the middle, the job fails, its log has
//     "cannot judge" and the name of the shard, there is no result, and the records are kept.
//
// Usage:
//
//	go run ./.ci/cluster kubernetes
//	go run ./.ci/cluster slurm
//
// The first time, Cluster builds the programs of Kubernetes from their Go modules: a quarter of an
// hour of CPU time, and 10 GB of disk until they are built. They are kept in LLMBENCH_CACHE (the
// folder llmbench in the user's cache folder).
//
// Cluster needs root, and says which packages it needs. The exit status is 0 if all checks hold,
// and 1 if one does not, or could not be made.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// engines are the engines by their names.
var engines = map[string]engine{"kubernetes": kubernetes, "slurm": slurm}

func main() {
	if len(os.Args) > 1 {
		if f := inside[os.Args[1]]; f != nil {
			if err := f(os.Args[2:]); err != nil {
				fmt.Fprintf(os.Stderr, "cluster: %v\n", err)
				os.Exit(1)
			}
			return
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cluster(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// cluster is the command. It returns the exit status.
func cluster(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := errors.New("want one argument: " + strings.Join(slices.Sorted(maps.Keys(engines)), " or "))
	if len(args) == 1 {
		if e, ok := engines[args[0]]; ok {
			err = outside(ctx, args[0], e, stdout, stderr)
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "cluster:", err)
		return 1
	}
	return 0
}

// inside are the commands that this program starts itself, in namespaces.
var inside = map[string]func(args []string) error{"lab": runLab, "node": runNode}

// runLab runs the checks of an engine as the first process of namespaces.
func runLab(args []string) error {
	if len(args) != 2 || os.Getpid() != 1 {
		return errors.New("want to be started by cluster itself")
	}
	ctx := context.Background() // the namespaces end with their first process
	e, l := engines[args[0]], &lab{dir: args[1]}
	if err := l.open(ctx); err != nil {
		return err
	}
	began := time.Now()
	p, err := e.up(ctx, l)
	if err != nil {
		return errors.Join(err, l.logs())
	}
	fmt.Printf("%s is up after %.1f s\n", args[0], time.Since(began).Seconds())
	if err := check(ctx, l, p); err != nil {
		return errors.Join(err, l.logs())
	}
	return nil
}
