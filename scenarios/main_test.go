package scenarios

import (
	"os"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

func TestMain(m *testing.M) { os.Exit(llmbench.Main(m)) }
