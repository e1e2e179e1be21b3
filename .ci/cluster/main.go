//go:build linux

// Cluster runs the files of scenarios/deploy for real, on an engine that it brings up on this
// machine alone:
//
//   - slurm: the Slurm of Debian or Ubuntu, with four nodes;
//   - kubernetes: Kubernetes v1.36 with two nodes, each with a kubelet and a containerd.
//
// Each node is a process in its own Linux namespaces, with its own network card, host name and
// process numbers. All nodes and all daemons of the engine are inside one more set of namespaces,
// in which a simulated server runs too. When Cluster ends, the kernel ends them all, even if
// Cluster is killed.
//
// Cluster checks that
//
//   - four shards together send exactly what one process sends, and give one result;
//   - when a node, or a pod of Kubernetes, is killed in the middle of a job, the job fails, its log
//     contains "cannot judge" and the name of the shard, there is no result, and the records are
//     kept.
//
// Usage:
//
//	go run ./.ci/cluster kubernetes
//	go run ./.ci/cluster slurm
//
// The first time, Cluster builds the programs of Kubernetes from their Go modules. That takes a
// quarter of an hour of CPU time, and 10 GB of disk while it lasts. The programs are kept in
// LLMBENCH_CACHE, or else in the folder llmbench in the user's cache folder.
//
// Cluster needs root. If packages are missing, it names them. The exit status is 0 if all checks
// pass, and 1 if one fails or could not be made.
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

// engines holds the engines by name.
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

// inside holds the commands that this program runs again in new namespaces.
var inside = map[string]func(args []string) error{"lab": runLab, "node": runNode}

// runLab runs the checks of an engine. It is the first process of the lab's namespaces.
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
