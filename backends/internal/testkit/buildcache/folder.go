package buildcache

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

func init() { env.Register(func(r *env.Reader) { readFolder(r) }) }

// readFolder reads LLMBENCH_CACHE: an absolute path, or "" for the user's cache folder. Errors are
// collected in r.
func readFolder(r *env.Reader) (folder string) {
	env.Read(r, &folder, "LLMBENCH_CACHE", parseFolder, "a folder, which may be missing")
	return folder
}

// parseFolder accepts the path of a folder, or a path at which nothing exists, and makes the path absolute.
func parseFolder(v string) (string, error) {
	if info, err := os.Stat(v); err == nil && !info.IsDir() {
		return "", errors.New("not a folder")
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return filepath.Abs(v)
}
