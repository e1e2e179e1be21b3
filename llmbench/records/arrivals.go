package records

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Arrivals is the process that the requests of an open loop arrived by: its name and
// parameters as package arrivals has them.
type Arrivals struct {
	Process    string            `json:"process"` // such as "poisson"
	Parameters map[string]string `json:"parameters,omitempty"`
}

// String returns a text like "poisson rate=8 seed=1".
func (a *Arrivals) String() string {
	text := a.Process
	for _, name := range slices.Sorted(maps.Keys(a.Parameters)) {
		text += " " + name + "=" + a.Parameters[name]
	}
	return text
}

// version1 is how version 1 spelled arrivals: a Go value with its type, such as
// "llmbench.Poisson{Rate:8 Seed:1}".
var version1 = regexp.MustCompile(`^(?:\w+\.)?(\w+)\{(.*)\}$`)

// UnmarshalJSON reads arrivals of any version. Of version 1 it knows the process, and
// the parameters where they are plain values: a list of stages or of instants is left
// out.
func (a *Arrivals) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		type plain Arrivals
		if err := json.Unmarshal(text, (*plain)(a)); err != nil {
			return err
		}
		if a.Process == "" {
			return fmt.Errorf("arrivals %.100s: want the name of a process", text)
		}
		return nil
	}
	var old string
	if err := json.Unmarshal(text, &old); err != nil {
		return err
	}
	m := version1.FindStringSubmatch(old)
	if m == nil { // of a type that is no struct
		*a = Arrivals{Process: old}
		return nil
	}
	*a = Arrivals{Process: strings.ToLower(m[1])}
	if strings.ContainsAny(m[2], "[{") {
		return nil
	}
	for field := range strings.FieldsSeq(m[2]) {
		if name, value, ok := strings.Cut(field, ":"); ok {
			if a.Parameters == nil {
				a.Parameters = map[string]string{}
			}
			a.Parameters[strings.ToLower(name)] = value
		}
	}
	return nil
}
