package scenarios

import (
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/llmbench/reportmain"
)

// roles holds functions by name. If the first argument of this test binary is one of these names,
// the binary calls the function with its second argument, and runs no tests.
var roles = map[string]func(arg string, stdin io.Reader, stdout, stderr io.Writer) (status int){serveMockArg: serveMock, serveGatewayArg: serveGateway, tarArg: writeTar}

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && roles[os.Args[1]] != nil {
		os.Exit(roles[os.Args[1]](os.Args[2], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv("LLMBENCH_BACKEND") == "list" {
		fmt.Print(backends.List())
		os.Exit(0)
	}
	if isCommand(os.Args[0]) {
		args, status, end := command(os.Args[1:], flag.Lookup, os.Stdout, os.Stderr)
		if end {
			os.Exit(status)
		}
		os.Args = append(os.Args[:1:1], args...)
		flag.Usage = func() { fmt.Fprint(os.Stderr, "llmbench -help lists the flags\n") }
	}
	os.Exit(reportmain.Main(m))
}
