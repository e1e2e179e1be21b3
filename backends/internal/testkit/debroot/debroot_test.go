package debroot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestPins checks the format of the pins. With a malformed line, a package would be missing or
// would not be checked.
func TestPins(t *testing.T) {
	pin := regexp.MustCompile(`^[0-9a-f]{64}  pool/main/[a-z0-9.+-]+/[a-z0-9.+-]+/[a-z0-9.+-]+_[^_/]+_(amd64|all)\.deb$`)
	files, err := filepath.Glob("../*/packages.sha256")
	if err != nil || len(files) == 0 {
		t.Fatalf("pins %v, error %v; want files", files, err)
	}
	for _, file := range files {
		pins, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(pins)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
				continue
			}
			n++
			if !pin.MatchString(line) {
				t.Errorf("%s: %q is not a pin, want %v", file, line, pin)
			}
		}
		if n == 0 || !regexp.MustCompile(`(?m)^# suite: [a-z]+$`).Match(pins) {
			t.Errorf("%s: want a suite and pins, got %d pins:\n%s", file, n, pins)
		}
	}
}

// TestRootfsScriptRefuses checks the messages of the script. It uses a mirror that has one package,
// whose version is not the pinned one.
func TestRootfsScriptRefuses(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "xz", "dpkg-deb", "tar", "md5sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	const pool = "/pool/main/l/llama.cpp/"
	list := fmt.Sprintf("Package: other\nFilename: x\nSHA256: y\n\nPackage: llama.cpp-tools\nVersion: 2-1\nFilename: %sllama.cpp-tools_2-1_amd64.deb\nSHA256: %064x\n", pool[1:], 2)
	xz := exec.Command("xz", "-c")
	xz.Stdin = strings.NewReader(list)
	packed, err := xz.Output()
	if err != nil {
		t.Fatal(err)
	}
	damaged := damagedPackage(t)
	mux := http.NewServeMux()
	for path, body := range map[string][]byte{
		"/dists/forky/InRelease":                     nil,
		"/dists/forky/main/binary-amd64/Packages.xz": packed,
		pool + "llama.cpp-tools_2-1_amd64.deb":       []byte("another content"),
		pool + "llama.cpp-tools_3-1_amd64.deb":       damaged,
		"/dists/incomplete/InRelease":                nil,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	}
	mirror := httptest.NewServer(mux)
	defer mirror.Close()
	two := fmt.Sprintf("%064x", 2)
	const closed = "http://127.0.0.1:1" // nothing listens at this address

	for _, test := range []struct {
		name   string
		mirror string
		suite  string
		pinned string // the version
		sum    string
		want   []string
		status int
	}{
		{"no mirror", closed, "forky", "1-1", two, []string{"no mirror with the Debian suite forky", closed, "curl: (7)", "LLMBENCH_DEBIAN_MIRROR"}, 3},
		{"no suite", mirror.URL, "sid", "1-1", two, []string{"no mirror with the Debian suite sid", "status 404"}, 3},
		{"outdated pin", mirror.URL, "forky", "1-1", two, []string{"llama.cpp-tools: pinned 1-1, found 2-1", "--update-pins"}, 3},
		{"no package list", mirror.URL, "incomplete", "1-1", two, []string{"the package list of incomplete: status 404"}, 3},
		{"wrong checksum", mirror.URL, "forky", "2-1", two, []string{"llama.cpp-tools_2-1_amd64.deb: SHA-256 is ", "pinned " + two}, 1},
		{"damaged file", mirror.URL, "forky", "3-1", fmt.Sprintf("%x", sha256.Sum256(damaged)), []string{"llama.cpp-tools_3-1_amd64.deb: unpacked files differ from the package: usr/bin/damaged: FAILED"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			pins := fmt.Sprintf("# suite: %s\n%s  %sllama.cpp-tools_%s_amd64.deb\n", test.suite, test.sum, pool[1:], test.pinned)
			for name, content := range map[string][]byte{"rootfs.sh": script, "packages.sha256": []byte(pins)} {
				if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "bash", filepath.Join(dir, "rootfs.sh"), filepath.Join(dir, "packages.sha256"), filepath.Join(dir, "root"))
			cmd.Env = append(os.Environ(), "LLMBENCH_DEBIAN_MIRROR="+test.mirror, "no_proxy=127.0.0.1")
			var message bytes.Buffer
			cmd.Stderr = &message
			_ = cmd.Run()
			if got := cmd.ProcessState.ExitCode(); got != test.status {
				t.Errorf("exit status %d, want %d", got, test.status)
			}
			for _, want := range test.want {
				if !strings.Contains(message.String(), want) {
					t.Errorf("message %q does not contain %q", message.String(), want)
				}
			}
		})
	}
}

// damagedPackage returns a package that has two files, one of which differs from the package's own MD5 sum.
func damagedPackage(t *testing.T) []byte {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"DEBIAN/control":  "Package: llama.cpp-tools\nVersion: 3-1\nArchitecture: amd64\nMaintainer: nobody <nobody@example.com>\nDescription: test\n",
		"DEBIAN/md5sums":  "d41d8cd98f00b204e9800998ecf8427e  usr/bin/damaged\nd41d8cd98f00b204e9800998ecf8427e  usr/bin/empty\n",
		"usr/bin/damaged": "not empty",
		"usr/bin/empty":   "",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "damaged.deb")
	if out, err := exec.Command("dpkg-deb", "--root-owner-group", "-b", dir, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
