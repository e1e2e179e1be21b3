//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// limit is the time limit for all checks of an engine.
const limit = 15 * time.Minute

// outside prepares an engine, and runs its checks in their own namespaces. It removes everything
// that it made.
func outside(ctx context.Context, name string, e engine, stdout, stderr io.Writer) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("want root, to make namespaces")
	}
	if err := installed(e.packages); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "llmbench-cluster-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil { // for the users of pods, and for munge, which wants its socket to be reachable
		return err
	}
	if err := errors.Join(buildScenarios(ctx, dir), copyFiles(ctx, e.files, dir)); err != nil {
		return err
	}
	if e.down != nil {
		defer func() { err = errors.Join(e.down(dir), err) }()
	}
	if e.prepare != nil {
		if err := e.prepare(ctx, dir, stdout); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %v", limit))
	defer cancel()
	cmd, err := self(ctx, "lab", name, dir)
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := runNamespaced(cmd); err != nil {
		return cmp.Or(context.Cause(ctx), errors.New("see above"))
	}
	return nil
}

// installed returns an error that names the packages that are missing, if any are.
func installed(all []software) error {
	var missing, packages []string
	for _, s := range all {
		n := len(missing)
		for _, program := range s.programs {
			if _, err := exec.LookPath(program); err != nil {
				missing = append(missing, program)
			}
		}
		if len(missing) > n {
			packages = append(packages, s.packages)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("not installed: %s: apt-get install --no-install-recommends %s", strings.Join(missing, ", "), strings.Join(packages, " "))
}

// root returns the root folder of the module.
func root(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	return filepath.Dir(strings.TrimSpace(string(out))), err
}

// buildScenarios builds the scenarios as users do, and puts the program in a folder.
func buildScenarios(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", filepath.Join(dir, "scenarios.test"), "./scenarios")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var err error
	if cmd.Dir, err = root(ctx); err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// copyFiles copies files of the module to a folder.
func copyFiles(ctx context.Context, files []string, dir string) error {
	module, err := root(ctx)
	for _, file := range files {
		text, e := os.ReadFile(filepath.Join(module, file))
		err = errors.Join(err, e, os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o755))
	}
	return err
}
