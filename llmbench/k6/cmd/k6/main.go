// K6 is Grafana k6 with the extension k6/x/llmbench. It has k6's commands and flags.
package main

import (
	"go.k6.io/k6/v2/cmd"

	_ "github.com/seed-2b9cec6d/llmbench/llmbench/k6" // registers the extension
)

func main() { cmd.Execute() }
