package document

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
)

// CSV reads the rows of a CSV text, which may differ in length. Empty lines are ignored. The text may have
// at most 8 MiB.
func CSV(r io.Reader) ([][]string, error) {
	limited := &io.LimitedReader{R: r, N: maxTable + 1}
	in := csv.NewReader(limited)
	in.FieldsPerRecord = -1
	rows, err := in.ReadAll()
	if limited.N == 0 {
		return nil, fmt.Errorf("more than %d bytes: want the summary of a run", maxTable)
	}
	if len(rows) > 0 && len(rows[0]) > 0 {
		rows[0][0] = strings.TrimPrefix(rows[0][0], "\uFEFF")
	}
	return rows, err
}

// Row returns a row of a table as an object whose field names are the columns in header. A column without a
// name, or with the name of an earlier column, is omitted.
func Row(header, row []string) *Node {
	n := &Node{kind: object}
	for i, name := range header {
		if name != "" && i < len(row) && n.fields[name] == nil {
			n.set(name, &Node{kind: text, text: cut(row[i])})
		}
	}
	return n
}
