package llamatest

import (
	"path/filepath"
	"strconv"
)

// arguments returns the arguments of llama-server.
func arguments(o Options, model, host, port string) []string {
	return append([]string{
		"-m", "/models/" + filepath.Base(model),
		"--host", host, "--port", port,
		"-t", "1",
		"-np", strconv.Itoa(o.Parallel), "-c", strconv.Itoa(o.Parallel * o.Context), // llama-server divides the context among the slots
		"--no-ui", "--metrics",
	}, o.Args...)
}
