package gate

import (
	"fmt"
	"strings"
)

// maxSubjects is the maximum number of rows that are named in one reason.
const maxSubjects = 8

// list joins names, at most limit of them.
func list(names []string, limit int) string {
	s := strings.Join(names[:min(limit, len(names))], ", ")
	if n := len(names) - limit; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}
