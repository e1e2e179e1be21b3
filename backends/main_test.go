package backends_test

import (
	"flag"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "16") // tests that are parallel mostly wait
	os.Exit(m.Run())
}
