package compat

import (
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
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
	t, columns := table.NewWriter(), make([]table.ColumnConfig, len(g.head))
	for i, name := range g.head {
		columns[i] = table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight, WidthMin: len(name) + 2}
	}
	columns[0].Align, columns[0].AlignHeader = text.AlignLeft, text.AlignLeft
	t.SetColumnConfigs(columns)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(cells(g.head))
	for _, row := range g.rows {
		t.AppendRow(cells(row))
	}
	return t.Render() + "\n"
}

func cells(texts []string) (row table.Row) {
	for _, s := range texts {
		row = append(row, s)
	}
	return row
}
