package records

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Arrivals describes the arrival process of an open loop: the name and the parameters that package arrivals
// gives it.
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

// version1 matches arrivals as version 1 of the format spelled them: a Go value with its type, such as
// "llmbench.Poisson{Rate:8 Seed:1}".
var version1 = regexp.MustCompile(`^(?:\w+\.)?(\w+)\{(.*)\}$`)

// UnmarshalJSON reads arrivals of any version. From arrivals of version 1, it reads the process and, if
// they are plain values, the parameters. It ignores a list of stages or of instants.
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
	if m == nil { // the value was not a struct
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
