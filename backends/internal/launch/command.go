package launch

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/secret"
)

// String returns the docker command with which a person can start the same container, and the files and
// steps that the container needs besides. It contains no secrets: the variables in PassEnv appear without a
// value.
func (s Spec) String() string {
	var before string
	if len(s.Beside) > 0 {
		before = "docker network create llmbench\n"
		for _, part := range s.Beside {
			before += fmt.Sprintf("in the background, %s:\n%s", part.Name, part)
		}
		before += "and then, as the server:\n"
	}
	var lines []string
	option := func(words ...string) { lines = append(lines, "  "+shellquote.Join(words...)) }
	lines = append(lines, "docker run")
	if s.Name != "" || len(s.Beside) > 0 {
		option("--network=llmbench")
	}
	if s.Name != "" {
		option("--network-alias=" + s.Name)
	}
	for _, o := range s.Devices.flags() {
		option(o...)
	}
	if s.ShmSize > 0 {
		option("--shm-size=" + strconv.FormatInt(s.ShmSize, 10))
	}
	if s.Memory > 0 {
		option("--memory=" + strconv.FormatInt(s.Memory, 10))
	}
	for _, o := range []struct {
		flag   string
		values []string
	}{{"--cap-add=", s.Capabilities}, {"--security-opt=", s.SecurityOptions}, {"--group-add=", s.Groups}} {
		for _, v := range o.values {
			option(o.flag + v)
		}
	}
	for _, u := range s.Ulimits {
		option(fmt.Sprintf("--ulimit=%s=%d:%d", u.Name, u.Soft, u.Hard))
	}
	option("-p", fmt.Sprintf("127.0.0.1::%d", s.Port))
	for _, m := range s.Mounts {
		v := m.Source + ":" + m.Target
		if m.ReadOnly {
			v += ":ro"
		}
		option("-v", v)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		option("-e", name+"="+secret.Redact(name, s.Env[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(s.PassEnv)) {
		option("-e", name)
	}
	args := s.Cmd
	if s.Entrypoint != nil {
		option("--entrypoint=" + s.Entrypoint[0])
		args = append(s.Entrypoint[1:len(s.Entrypoint):len(s.Entrypoint)], args...)
	}
	option(s.Image)
	if len(args) > 0 {
		redacted, _ := secret.RedactArgs(args)
		option(redacted...)
	}
	text := before + strings.Join(lines, " \\\n") + "\n"
	for _, f := range s.Files {
		text += fmt.Sprintf("with the file %s:\n%s\n", f.Path, strings.TrimRight(f.Content, "\n"))
	}
	for _, step := range s.Setup {
		text += fmt.Sprintf("then %s\n", step)
	}
	return text
}
