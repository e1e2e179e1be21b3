package llamatest

import (
	"path/filepath"
	"strconv"
)

// arguments returns the arguments of llama-server.
func arguments(o Options, model, host, port string) []string {
	path := "/models/" + filepath.Base(model)
	args := []string{
		"-m", path,
		"--host", host, "--port", port,
		"-t", "1",
		"-np", strconv.Itoa(o.Parallel), "-c", strconv.Itoa(o.Parallel * o.Context), // llama-server divides the context among the slots
		"--no-ui", "--metrics",
	}
	if o.Draft {
		args = append(args, "--spec-type", "draft-simple", "--model-draft", path)
	}
	return append(args, o.Args...)
}
