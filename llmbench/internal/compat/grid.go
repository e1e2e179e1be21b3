package compat

import (
	"strings"
	"unicode/utf8"
)

// A grid is a table with lines around its cells, in the format simple_outline of Python's tabulate
// (https://github.com/astanin/python-tabulate). The first column is aligned to the left, the other columns
// to the right. A column is at least two characters wider than its heading.
type grid struct {
	head []string
	rows [][]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// String returns the lines of the table.
func (g *grid) String() string {
	widths := make([]int, len(g.head))
	for i, text := range g.head {
		widths[i] = utf8.RuneCountInString(text) + 2
		for _, row := range g.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	var b strings.Builder
	rule := func(left, mid, right string) {
		for i, w := range widths {
			b.WriteString(map[bool]string{true: left, false: mid}[i == 0] + strings.Repeat("─", w+2))
		}
		b.WriteString(right + "\n")
	}
	line := func(cells []string) {
		for i, text := range cells {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if i == 0 {
				b.WriteString("│ " + text + pad + " ")
			} else {
				b.WriteString("│ " + pad + text + " ")
			}
		}
		b.WriteString("│\n")
	}
	rule("┌", "┬", "┐")
	line(g.head)
	rule("├", "┼", "┤")
	for _, row := range g.rows {
		line(row)
	}
	rule("└", "┴", "┘")
	return b.String()
}
