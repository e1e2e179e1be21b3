package ollamatest

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// Files returns the files that a container needs to run Ollama. The keys are paths in the container, and
// the values are paths on this machine. The program is /bin/ollama; the other files are the libraries that
// it is linked with. Files skips or fails tb as [Start] does.
func Files(tb testing.TB) map[string]string {
	tb.Helper()
	var files map[string]string
	program, err := find()
	if err == nil {
		files, err = libraries(program)
	}
	need.Check(tb, need.Ollama, err)
	files["/bin/ollama"] = program
	return files
}

// libraries returns the shared libraries of a program and the dynamic loader, as listed by ldd
// (https://man7.org/linux/man-pages/man1/ldd.1.html).
func libraries(program string) (map[string]string, error) {
	out, err := exec.Command("ldd", program).Output()
	if err != nil {
		return nil, fmt.Errorf("%w: the libraries of %s cannot be found: ldd: %w", need.ErrUnavailable, program, err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		for _, word := range strings.Fields(line) {
			if filepath.IsAbs(word) {
				files[word] = word
			}
		}
	}
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if wanted, err := f.ImportedLibraries(); err != nil || len(files) < len(wanted) {
		return nil, fmt.Errorf("%w: ldd found %d of the libraries %v of %s: %v", need.ErrUnavailable, len(files), wanted, program, err)
	}
	return files, nil
}
