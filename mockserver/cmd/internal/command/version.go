package command

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version of a released binary, which .ci/release sets when it links the program.
var release string

// Version returns a line with the program's version and how it was built, such as
// "mockserver v0.4.0 go1.26.8 linux/amd64". "go install" knows the tag of the module and a build
// in a clone the commit; otherwise the version is "devel".
func Version(program string) string {
	module := ""
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		module = info.Main.Version
	}
	return fmt.Sprintf("%s %s %s %s/%s\n", program, cmp.Or(release, module, "devel"), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
