package gateway

import (
	"os"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/scenarios"
)

// TestMain prints units and configuration lines before the results. It makes the run fail if a
// benchmark fails.
func TestMain(m *testing.M) { os.Exit(llmbench.Main(m)) }

// BenchmarkChat runs a scenario of the catalogue without changes.
func BenchmarkChat(b *testing.B) { scenarios.Options{}.Chat(b, gateway(b)) }

// BenchmarkMultiTurn runs another scenario, with a different number of users than by default.
func BenchmarkMultiTurn(b *testing.B) {
	scenarios.Options{Concurrencies: []int{4}}.MultiTurn(b, gateway(b))
}
