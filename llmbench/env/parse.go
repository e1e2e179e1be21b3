package env

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// List returns a parser of a comma-separated list. The function parse reads each element. Spaces around an
// element do not count. A duplicate element is an error.
func List[T comparable](parse func(string) (T, error)) func(string) ([]T, error) {
	return func(v string) ([]T, error) {
		var all []T
		for part := range strings.SplitSeq(v, ",") {
			x, err := parse(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			if slices.Contains(all, x) {
				return nil, fmt.Errorf("%v comes twice", x)
			}
			all = append(all, x)
		}
		return all, nil
	}
}

// CutParameter removes the parameter key from the end of a comma-separated list, and returns its value: of
// 20,40,burstiness=0.5 and the key burstiness, the rest is 20,40 and the value is 0.5. If the last element is
// another one, CutParameter returns v and false.
func CutParameter(v, key string) (rest, value string, found bool) {
	i := strings.LastIndexByte(v, ',')
	name, value, found := strings.Cut(v[i+1:], "=")
	if !found || strings.TrimSpace(name) != key {
		return v, "", false
	}
	return v[:max(i, 0)], strings.TrimSpace(value), true
}

// OneOf returns a parser that accepts the given values and no other.
func OneOf[T ~string](allowed ...T) func(string) (T, error) {
	return func(v string) (T, error) {
		if !slices.Contains(allowed, T(v)) {
			return "", fmt.Errorf("not one of %q", allowed)
		}
		return T(v), nil
	}
}

// Text accepts every value except one that is only white space.
func Text(v string) (string, error) {
	if strings.TrimSpace(v) == "" {
		return "", errors.New("blank")
	}
	return v, nil
}

// Full accepts the values of LLMBENCH_FULL: the name of a published experiment, or a truth value in a form
// of [strconv.ParseBool]. For true it returns "1", and for false "". It accepts any name: the package that
// knows the experiments checks the names.
func Full(v string) (string, error) {
	if yes, err := strconv.ParseBool(v); err == nil {
		if yes {
			return "1", nil
		}
		return "", nil
	}
	return Text(strings.TrimSpace(v))
}

// shellOperators are what only a shell understands, the longer ones first.
var shellOperators = []string{"&&", "||", "$(", "|", ";", "&", ">", "<", "`"}

// NoShell returns a [Reason] if a command has an operator of a shell outside of quotation marks, such as &&, because no
// shell reads the command. Operators in allowed have another meaning.
func NoShell(command string, allowed ...string) error {
	var quote byte // the quotation mark that began, or 0
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote == c:
			quote = 0
		case quote != 0:
		case c == '\'' || c == '"':
			quote = c
		default:
			at := slices.IndexFunc(shellOperators, func(o string) bool { return strings.HasPrefix(command[i:], o) })
			if at >= 0 && !slices.Contains(allowed, shellOperators[at]) {
				return Reason(shellOperators[at] + " outside of quotation marks, and no shell reads the command: want sh -c '…'")
			}
		}
	}
	return nil
}

// Folder accepts the path of an existing folder, and returns the path as an absolute path.
func Folder(v string) (string, error) {
	info, err := os.Stat(v)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", errors.New("not a folder")
	}
	return filepath.Abs(v)
}

// File accepts the path of an existing file that is no folder, and returns the path as an absolute path.
func File(v string) (string, error) {
	info, err := os.Stat(v)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return "", errors.New("a folder")
	}
	return filepath.Abs(v)
}

// AtLeast returns a parser of whole numbers that are at least the given number.
func AtLeast(least int) func(string) (int, error) {
	return func(v string) (int, error) {
		n, err := strconv.Atoi(v)
		if err == nil && n < least {
			err = fmt.Errorf("below %d", least)
		}
		return n, err
	}
}

// Uint64 accepts whole numbers from 0 to 2^64-1.
func Uint64(v string) (uint64, error) { return strconv.ParseUint(v, 10, 64) }

// Positive accepts finite numbers above 0.
func Positive(v string) (float64, error) {
	f, err := strconv.ParseFloat(v, 64)
	if err == nil && (!(f > 0) || math.IsInf(f, 0)) {
		err = errors.New("not above 0, or not finite")
	}
	return f, err
}

// Share accepts numbers from 0 to 1, both included.
func Share(v string) (float64, error) {
	f, err := strconv.ParseFloat(v, 64)
	if err == nil && !(f >= 0 && f <= 1) {
		err = errors.New("not from 0 to 1")
	}
	return f, err
}

// Duration accepts durations above 0 in the form of [time.ParseDuration].
func Duration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err == nil && d <= 0 {
		err = errors.New("not above 0")
	}
	return d, err
}
