package scenarios

import (
	"os"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == serveMockArg {
		os.Exit(serveMock(os.Args[2], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(llmbench.Main(m))
}
