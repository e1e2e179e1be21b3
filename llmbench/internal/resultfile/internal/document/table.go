package document

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// lines reads a text of at most 8 MiB. All programs that write CSV or YAML end the last line, so a last line without
// an end is an error: its last number may lack digits.
func lines(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxTable+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxTable:
		return nil, fmt.Errorf("more than %d bytes: want the summary of a run", maxTable)
	case len(text) > 0 && text[len(text)-1] != '\n':
		return nil, errors.New("the last line has no end: was the file cut off?")
	}
	return text, nil
}

// CSV reads the rows of a CSV text. Rows may have different numbers of fields, and empty lines are ignored.
// The text may have at most 8 MiB, and its last line must have a line end.
func CSV(r io.Reader) ([][]string, error) {
	text, err := lines(r)
	if err != nil {
		return nil, err
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = -1
	rows, err := in.ReadAll()
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
