// Package spreadsheet makes CSV files safe to open in a spreadsheet, because names in them may come from strangers.
package spreadsheet

import (
	"regexp"
	"strings"
)

// number matches what a spreadsheet takes for a number, although it may begin like a formula.
var number = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?( ?%)?$|^[+-]Inf$|^-$`)

// Row returns the cells of a row. A cell with which a formula would begin is preceded by an apostrophe, so that it
// is a text (https://owasp.org/www-community/attacks/CSV_Injection). Numbers, such as -1.5, remain numbers.
func Row(cells ...string) []string {
	row := make([]string, len(cells))
	for i, cell := range cells {
		if cell != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(cell)[0]) && !number.MatchString(cell) {
			cell = "'" + cell
		}
		row[i] = cell
	}
	return row
}
