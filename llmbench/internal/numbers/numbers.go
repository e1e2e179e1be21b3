// Package numbers writes numbers as people read them.
package numbers

import (
	"fmt"
	"strconv"
	"strings"
)

// Count returns n followed by noun, in the plural unless n is 1: "1 run", "2 runs". A noun that ends with s, such as
// series, is the same in the plural.
func Count(n int, noun string) string {
	if n == 1 || strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Rounded returns v with the given number of significant digits.
func Rounded(v float64, digits int) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64) // no error: FormatFloat wrote the text
	return v
}
