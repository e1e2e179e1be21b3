package nginxtest

import (
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/debroot"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/need"
)

//go:embed packages.sha256
var pins []byte

// find returns the command that runs nginx: the path of the program and its first arguments. Later calls
// return the result of the first one.
var find = sync.OnceValues(func() (command []string, err error) {
	root, err := debroot.Build("nginxtest", pins)
	if err == nil {
		// The packages' own dynamic linker finds the libraries without a chroot (ld.so(8)).
		return []string{
			filepath.Join(root, "lib64/ld-linux-x86-64.so.2"),
			"--library-path", filepath.Join(root, "usr/lib/x86_64-linux-gnu"),
			filepath.Join(root, "usr/sbin/nginx"),
		}, nil
	}
	if !errors.Is(err, need.ErrUnavailable) {
		return nil, err
	}
	path, pathErr := exec.LookPath("nginx")
	if pathErr != nil {
		return nil, fmt.Errorf("%w; and %w", err, pathErr)
	}
	return []string{path}, nil
})
