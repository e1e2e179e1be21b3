package command

import (
	"io"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// Show writes the report that write writes. Unless the report is JSON, show escapes what names in files could do to a
// terminal or to a CI system.
func Show(w io.Writer, isJSON bool, write func(io.Writer) error) error {
	if isJSON {
		return write(w)
	}
	var b strings.Builder
	if err := write(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, redact.Printable(b.String()))
	return err
}
