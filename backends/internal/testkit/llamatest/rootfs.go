package llamatest

import (
	_ "embed"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/debroot"
)

//go:embed packages.sha256
var rootfsPins []byte

// serverPath is the path of the server in the root filesystem.
const serverPath = "/usr/bin/llama-server"

// rootfs returns the path of the root filesystem with llama-server. It builds the root filesystem if the
// cache has none. Later calls return the result of the first one.
var rootfs = sync.OnceValues(func() (root string, err error) { return debroot.Build("llamatest", rootfsPins) })
