package backends_test

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if role := roles[os.Getenv(roleVariable)]; role != nil {
		role(os.Args[1])
	}
	_ = flag.Set("test.parallel", "16") // parallel tests mostly wait
	os.Exit(m.Run())
}
