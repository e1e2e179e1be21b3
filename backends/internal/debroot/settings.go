package debroot

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

// settings holds the environment variables that this package reads. rootfs.sh reads
// LLMBENCH_DEBIAN_MIRROR itself.
type settings struct {
	cache  string // LLMBENCH_CACHE: the folder of the root filesystem; "" is the user's cache folder
	mirror string // LLMBENCH_DEBIAN_MIRROR: the URL of a Debian mirror; "" is what apt uses
}

func init() { env.Register(func(r *env.Reader) { readSettings(r) }) }

// readSettings reads the settings. Errors are those of r.
func readSettings(r *env.Reader) (s settings) {
	env.Read(r, &s.cache, "LLMBENCH_CACHE", parseCache, "a folder, which may be missing")
	env.Read(r, &s.mirror, "LLMBENCH_DEBIAN_MIRROR", parseMirror, "the http, https or file URL of a Debian mirror, like https://deb.debian.org/debian")
	return s
}

// parseCache accepts the path of a folder, or of nothing, and makes the path absolute.
func parseCache(v string) (string, error) {
	if info, err := os.Stat(v); err == nil && !info.IsDir() {
		return "", errors.New("not a folder")
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return filepath.Abs(v)
}

// parseMirror accepts the URL of a folder that curl can read.
func parseMirror(v string) (string, error) {
	u, err := url.Parse(v)
	switch {
	case err != nil:
		return "", err
	case u.Scheme == "file" && u.Path != "", (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		return v, nil
	}
	return "", errors.New("not the URL of a mirror")
}
