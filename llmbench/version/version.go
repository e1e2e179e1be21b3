// Package version returns the version of llmbench of which a program was built.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version of a released binary, which .ci/release sets when it links the program.
var release string

// Asked reports whether the only argument of a command asks for the command's version.
func Asked(args []string) bool {
	return len(args) == 1 && (args[0] == "version" || args[0] == "-version" || args[0] == "--version")
}

// Line returns a line with the program's version and how it was built, such as
// "benchgate v0.4.0 go1.26.8 linux/amd64".
func Line(program string) string {
	info, _ := debug.ReadBuildInfo()
	return fmt.Sprintf("%s %s %s %s/%s\n", program, of(release, info), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// of returns release if it is set, or else the version of the main module, or else "devel". "go install" sets
// the module version to the tag; a build in a clone sets it to a version that names the commit.
func of(release string, info *debug.BuildInfo) string {
	module := ""
	if info != nil && info.Main.Version != "(devel)" {
		module = info.Main.Version
	}
	return cmp.Or(release, module, "devel")
}
