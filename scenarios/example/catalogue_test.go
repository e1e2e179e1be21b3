package gateway

import (
	"os"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/scenarios"
)

// TestMain prints units and configuration lines before the results, and makes the
// run fail if a benchmark fails.
func TestMain(m *testing.M) { os.Exit(llmbench.Main(m)) }

// BenchmarkChat is a scenario of the catalogue as it is.
func BenchmarkChat(b *testing.B) { scenarios.Options{}.Chat(b, gateway(b)) }

// BenchmarkMultiTurn is another scenario, with a number of users that is not the default.
func BenchmarkMultiTurn(b *testing.B) {
	scenarios.Options{Concurrencies: []int{4}}.MultiTurn(b, gateway(b))
}
