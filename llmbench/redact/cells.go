package redact

import (
	"regexp"
	"strings"
)

// number matches what a spreadsheet takes for a number, although it may begin like a formula.
var number = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?( ?%)?$|^[+-]Inf$|^-$`)

// Cells returns the cells of a row of a CSV file, so that the file is safe to open in a spreadsheet: names in a file
// may come from strangers. A cell with which a formula would begin is preceded by an apostrophe, so that it
// is a text (https://owasp.org/www-community/attacks/CSV_Injection). Numbers, such as -1.5, remain numbers.
func Cells(cells ...string) []string {
	row := make([]string, len(cells))
	for i, cell := range cells {
		if cell != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(cell)[0]) && !number.MatchString(cell) {
			cell = "'" + cell
		}
		row[i] = cell
	}
	return row
}
