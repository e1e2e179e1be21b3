package gate

import (
	"encoding/json"
	"io"
)

// JSON writes the report as one indented JSON object, with the keys of [Report]. An unknown value is null.
// JSON returns the error of w.
func (r *Report) JSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "\t")
	return out.Encode(r)
}
