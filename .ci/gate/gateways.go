package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// gateways is a repository with 20 versions of a gateway, together with the programs that measure them.
type gateways struct {
	dir             string // the repository's working tree
	cache           string
	mock, scenarios string // paths of the programs
	source          []byte // of the gateway
	equal           int    // the number of comparisons of equal versions so far
	bisected        int    // the number of bisections so far
}

// Commits are numbered from 1. delayCommit and cpuCommit are the commits that differ from their parent.
const commits, delayCommit, cpuCommit = 20, 8, 14

// prepareGateways creates the repository in a folder. tree has the sources of this project.
func prepareGateways(ctx context.Context, tree, folder string) (*gateways, error) {
	g := &gateways{dir: filepath.Join(folder, "gateways"), cache: filepath.Join(folder, "cache"), mock: filepath.Join(folder, "mockserver"), scenarios: filepath.Join(folder, "scenarios.test")}
	if err := commands(ctx, tree,
		[]string{"go", "build", "-trimpath", "-o", g.mock, "./mockserver/cmd/mockserver"},
		[]string{"go", "test", "-c", "-trimpath", "-o", g.scenarios, "./scenarios"},
	); err != nil {
		return nil, err
	}
	source, err := os.ReadFile(filepath.Join(tree, "llmbench", "cmd", "benchgate", "testdata", "gateway", "main.go"))
	if err != nil {
		return nil, err
	}
	g.source = source
	return g, g.history(ctx, g.dir, commits, map[int][2]string{delayCommit: {"checks = 4", "checks = 9"}, cpuCommit: {"audits = 0", "audits = 30"}})
}

// history creates a repository with this number of versions of the gateway, each a commit with a tag. In a version
// that changes lists, its first text is replaced by its second one, and stays so.
func (g *gateways) history(ctx context.Context, dir string, count int, changes map[int][2]string) error {
	if err := commands(ctx, "", []string{"git", "init", "-q", dir}); err != nil {
		return err
	}
	source := g.source
	for number := 1; number <= count; number++ {
		if change, ok := changes[number]; ok {
			if bytes.Count(source, []byte(change[0])) != 1 {
				return fmt.Errorf("the gateway: want %q once", change[0])
			}
			source = bytes.Replace(source, []byte(change[0]), []byte(change[1]), 1)
		}
		for name, text := range map[string]string{"go.mod": "module example.com/gateway\n\ngo 1.24\n", "main.go": string(source), "README": fmt.Sprintf("Version %d.\n", number)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				return err
			}
		}
		if err := commands(ctx, dir,
			[]string{"git", "add", "--all"},
			[]string{"git", "-c", "user.name=gate", "-c", "user.email=gate@example.com", "commit", "-qm", fmt.Sprint(number)},
			[]string{"git", "tag", fmt.Sprint("v", number)},
		); err != nil {
			return err
		}
	}
	return nil
}

// checkOut checks out a version that differs from its parent in the way that k says.
func (g *gateways) checkOut(ctx context.Context, k kind) error {
	number := map[kind]int{buildDelay: delayCommit, buildCPU: cpuCommit}[k]
	if k == buildEqual {
		for number = 2 + g.equal%(commits-1); number == delayCommit || number == cpuCommit; number = 2 + g.equal%(commits-1) {
			g.equal++
		}
		g.equal++
	}
	return commands(ctx, g.dir, []string{"git", "checkout", "-q", fmt.Sprint("v", number)})
}

// flags returns the flags with which benchgate ab compares the checked-out version with its parent.
func (g *gateways) flags() []string {
	return []string{"-base=HEAD~1", "-build=go build -o {out}/gateway .", "-bench-from=" + g.scenarios,
		"-command=" + g.command("20ms")}
}

// command returns the command that starts a gateway and, behind it, the mock server with this TTFT.
func (g *gateways) command(ttft string) string {
	return g.mock + " -ttft " + ttft + " -addr 127.0.0.1:{port} & {out}/gateway -listen 127.0.0.1:{port} -upstream http://127.0.0.1:{upstream}"
}

// env returns the environment variables that define the load.
func (g *gateways) env() []string {
	return []string{"LLMBENCH_CACHE=" + g.cache, "LLMBENCH_CONCURRENCY=1", "LLMBENCH_REQUESTS=24", "LLMBENCH_WARMUP=4", "LLMBENCH_INPUT=16", "LLMBENCH_OUTPUT=32", "LLMBENCH_CLIENT_BOUND=report"}
}
