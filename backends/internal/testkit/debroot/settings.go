package debroot

import (
	"errors"
	"net/url"

	"github.com/seed-2b9cec6d/llmbench/llmbench/env"
)

func init() { env.Register(func(r *env.Reader) { readMirror(r) }) }

// readMirror reads LLMBENCH_DEBIAN_MIRROR: the URL of a Debian mirror, or "" for the mirrors that apt uses.
// The script rootfs.sh reads the variable itself, so the value is only checked here. Errors are collected
// in r.
func readMirror(r *env.Reader) (mirror string) {
	env.Read(r, &mirror, "LLMBENCH_DEBIAN_MIRROR", parseMirror, "the http, https or file URL of a Debian mirror, like https://deb.debian.org/debian")
	return mirror
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
