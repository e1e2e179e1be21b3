package enginetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// A Gateway is a proxy or a router in front of inference servers. Its fields are read-only. It is installed as an engine
// is: [Engine.Install], [Engine.Installed].
type Gateway struct {
	Engine

	program []string // the program and its first arguments, with the placeholders {dir} and {python}

	// Command starts the gateway, as a value of LLMBENCH_COMMAND. The program is found in PATH, in the folder of
	// [Gateway.Bin]. A router's command has {urls} for the base URLs of the servers.
	Command string
	// Template is the name of the configuration file that Command names. GATEWAY.md has the file itself. "" means
	// none.
	Template string
	// Buffers changes the file so that the gateway buffers streams, Second adds the server at {second} (HOST:PORT) or at
	// {second-port}, and Timeout makes the gateway end streams that stand still for a second. A change that is
	// nil is not possible.
	Buffers, Second, Timeout *Change
	// Loses says that the gateway breaks some answers that the server has completed.
	Loses bool
	// Rewrites says that the gateway reads answers and writes its own: it does not pass on X-Request-Id, makes a
	// complete, shorter answer of a stream that breaks, and sends tokens in clumps where it lacks CPU time.
	Rewrites bool
	// Holds says that the gateway holds back the first tokens of a stream.
	Holds bool
}

// A Change replaces a text, which is in a file once.
type Change struct{ Old, New string }

// Of returns the file with the change.
func (c Change) Of(file string) (string, error) {
	if n := strings.Count(file, c.Old); n != 1 {
		return "", fmt.Errorf("enginetest: %q is in the file %d times: want once", c.Old, n)
	}
	return strings.Replace(file, c.Old, c.New, 1), nil
}

// Router reports whether the gateway's command names all servers.
func (g Gateway) Router() bool { return strings.Contains(g.Command, "{urls}") }

// Bin returns a folder for PATH with the gateway's program under the name that Command has. If the gateway is not
// installed, this is the program in PATH. If there is none either, Bin skips tb, or fails it; see [Engine.Each].
func (g Gateway) Bin(tb testing.TB) (folder string) {
	tb.Helper()
	name := g.commandName()
	dir, err := g.Installed()
	if errors.Is(err, need.ErrUnavailable) {
		if path, lookErr := exec.LookPath(name); lookErr == nil {
			return filepath.Dir(path)
		}
	}
	switch {
	case err == nil:
	case !errors.Is(err, need.ErrUnavailable):
		tb.Fatal(err)
	case g.Each:
		need.Missing(tb, need.Gateways, err)
	default:
		tb.Skip(err)
	}
	replace := strings.NewReplacer("{dir}", dir, "{python}", python(dir))
	words := make([]string, len(g.program))
	for i, word := range g.program {
		words[i] = replace.Replace(word)
	}
	folder = tb.TempDir()
	script := "#!/bin/sh\nexec " + shellquote.Join(words...) + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o755); err != nil {
		tb.Fatal(err)
	}
	return folder
}

// commandName returns the name of the program in Command.
func (g Gateway) commandName() string {
	for word := range strings.FieldsSeq(g.Command) {
		if !strings.Contains(word, "=") {
			return word
		}
	}
	return g.Name
}
