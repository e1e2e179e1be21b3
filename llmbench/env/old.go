package env

import (
	"errors"
	"fmt"
	"strings"
)

// An old variable became a part of another variable. Programs that still set it behave as if they set the
// other one; see [Reader.Hints].
type old struct {
	name, into string
	// fold returns the value of the variable into with the old variable's value in it. The argument have is
	// the value of the variable into, or "" if it is not set. fold returns errTwice if have contradicts value.
	fold func(have, value string) (string, error)
}

// olds holds every old variable. A later one is folded into the result of the earlier ones.
var olds = []old{
	{"LLMBENCH_STAGES", "LLMBENCH_RATE", stages},
	{"LLMBENCH_BURSTINESS", "LLMBENCH_RATE", func(have, value string) (string, error) {
		if have == "" {
			return "", errors.New("means nothing without LLMBENCH_RATE")
		}
		return parameter(have, "burstiness", value)
	}},
	{"LLMBENCH_DIMENSIONS", "LLMBENCH_DATASET", ofRandom("dimensions")},
	{"LLMBENCH_COSINE", "LLMBENCH_DATASET", ofRandom("cosine")},
	{"LLMBENCH_MOCK_SPEED", "LLMBENCH_MOCK", func(have, value string) (string, error) { return parameter(have, "speed", value) }},
	{"LLMBENCH_SHARDS", "LLMBENCH_SHARD", shards},
}

// Old returns the names of the old variables, and for each the name of the variable that has its value now.
func Old() map[string]string {
	all := map[string]string{}
	for _, o := range olds {
		all[o.name] = o.into
	}
	return all
}

// errTwice says that two variables have different values for one setting.
var errTwice = errors.New("two values")

// fold puts the values of old variables that are set into the values of r. The argument set has the values
// of old variables by their names.
func (r *Reader) fold(set map[string]string) {
	var folded []old
	for _, o := range olds {
		have, value := r.values[o.into], set[o.name]
		if value == "" {
			continue
		}
		now, err := o.fold(have, value)
		switch {
		case errors.Is(err, errTwice):
			r.Errorf("%s=%s and %s=%s: want %s alone, because %s is now part of it", o.into, have, o.name, value, o.into, o.name)
		case err != nil:
			r.Errorf("%s=%s: %w", o.name, value, err)
		default:
			r.values[o.into] = now
			folded = append(folded, o)
		}
	}
	for _, o := range folded {
		r.hints = append(r.hints, fmt.Sprintf("%s is now part of %s: set %s=%s", o.name, o.into, o.into, r.values[o.into]))
	}
}

// stages folds LLMBENCH_STAGES into LLMBENCH_RATE, which may also have rates.
func stages(have, value string) (string, error) {
	for part := range strings.SplitSeq(value, ",") {
		if !strings.Contains(part, ":") {
			return "", errors.New("want stages like 10:1m,10..50:2m,50..5:1m:exp")
		}
	}
	if have != "" && have != value {
		return "", errTwice
	}
	return value, nil
}

// parameter appends a parameter to a comma-separated list, unless the list has it.
func parameter(have, key, value string) (string, error) {
	for part := range strings.SplitSeq(have, ",") {
		if other, found := strings.CutPrefix(strings.TrimSpace(part), key+"="); found && other == value {
			return have, nil
		} else if found {
			return "", errTwice
		}
	}
	if have != "" {
		have += ","
	}
	return have + key + "=" + value, nil
}

// ofRandom returns a function that appends a parameter of the data set "random", whose other parameters may follow a colon
// or, as in a URL, a question mark. No scenario that reads the parameter reads another data set.
func ofRandom(key string) func(have, value string) (string, error) {
	return func(have, value string) (string, error) {
		name, parameters := have, ""
		if i := strings.IndexAny(have, ":?"); i >= 0 {
			name, parameters = have[:i], strings.ReplaceAll(have[i+1:], "&", ",")
		}
		if name != "" && name != "random" {
			return "", errTwice
		}
		all, err := parameter(parameters, key, value)
		return "random:" + all, err
	}
}

// shards folds LLMBENCH_SHARDS into LLMBENCH_SHARD, which has the number of shards after a slash.
func shards(have, value string) (string, error) {
	if have == "" {
		return "/" + value, nil
	}
	if _, count, _ := strings.Cut(have, "/"); count != value {
		return "", errTwice
	}
	return have, nil
}
