package llamatest

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/buildcache"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/debroot"
)

const (
	imageName     = "llmbench/llamacpp:test"
	imageLabel    = "llmbench.rootfs" // its value is the key of the root filesystem
	containerPort = "8080"
)

// ensureImage returns the id of the image with the content of root. It imports the image unless the engine
// already has it.
func ensureImage(ctx context.Context, root string) (id string, err error) {
	if id := findImage(ctx); id != "" {
		return id, nil
	}
	unlock, err := buildcache.Lock(ctx, root+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if id := findImage(ctx); id != "" { // another process has imported it
		return id, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dockerTimeout)
	defer cancel()
	tar := exec.CommandContext(ctx, "tar", "--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0",
		"--exclude=./models/*", "--directory", root, ".")
	imp := exec.CommandContext(ctx, "docker", "import",
		"--change", `ENTRYPOINT ["`+serverPath+`"]`,
		"--change", "EXPOSE "+containerPort,
		"--change", "ENV LLAMA_ARG_HOST=0.0.0.0 LLAMA_ARG_PORT="+containerPort,
		"--change", "LABEL "+imageLabel+"="+debroot.Key(rootfsPins),
		"-", imageName)
	var tarMessage, message strings.Builder
	tar.Stderr, imp.Stderr = &tarMessage, &message
	pipe, err := tar.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := tar.Start(); err != nil {
		return "", err
	}
	imp.Stdin = pipe
	out, err := imp.Output()
	pipe.Close() // a failed import has not read everything
	if tarErr := tar.Wait(); err == nil {
		err = tarErr
	}
	if err != nil {
		return "", fmt.Errorf("docker import: %w: %s%s", err, message.String(), tarMessage.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// findImage returns the id of the image, or "" if there is none with the present root filesystem.
func findImage(ctx context.Context) string {
	out, err := docker(ctx, "image", "inspect", "--format", `{{.Id}} {{index .Config.Labels "`+imageLabel+`"}}`, imageName)
	id, key, _ := strings.Cut(out, " ")
	if err != nil || key != debroot.Key(rootfsPins) {
		return ""
	}
	return id
}
