package llmbench

import (
	"errors"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What follows are readers of the values of variables, and makers of such.

// single makes a reader that sets dst to what parse returns.
func single[T any](dst *T, parse func(string) (T, error)) func(string) error {
	return func(v string) error {
		x, err := parse(v)
		if err == nil {
			*dst = x
		}
		return err
	}
}

// list makes a reader of a comma list whose elements parse reads; none may come
// twice.
func list[T comparable](dst *[]T, parse func(string) (T, error)) func(string) error {
	return func(v string) error {
		var all []T
		for part := range strings.SplitSeq(v, ",") {
			x, err := parse(strings.TrimSpace(part))
			if err != nil {
				return err
			}
			if slices.Contains(all, x) {
				return errors.New("twice")
			}
			all = append(all, x)
		}
		*dst = all
		return nil
	}
}

func text(v string) (string, error) {
	if strings.TrimSpace(v) == "" {
		return "", errors.New("empty")
	}
	return v, nil
}

// folder makes the path of a folder absolute.
func folder(v string) (string, error) {
	i, err := os.Stat(v)
	if err == nil && !i.IsDir() {
		err = errors.New("not a folder")
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(v)
}

func baseURL(dst *string) func(string) error {
	return func(v string) error {
		u, err := url.Parse(v)
		if err != nil {
			return err
		}
		if strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/v1") {
			return errors.New("ends in /v1")
		}
		if _, err := (Target{URL: v}).base(); err != nil {
			return err
		}
		*dst = v
		return nil
	}
}

func atLeast(least int) func(string) (int, error) {
	return func(v string) (int, error) {
		n, err := strconv.Atoi(v)
		if err == nil && n < least {
			err = errors.New("too small")
		}
		return n, err
	}
}

func positive(v string) (float64, error) {
	f, err := strconv.ParseFloat(v, 64)
	if err == nil && (!(f > 0) || math.IsInf(f, 0)) {
		err = errors.New("not above 0")
	}
	return f, err
}

func share(v string) (float64, error) {
	f, err := strconv.ParseFloat(v, 64)
	if err == nil && !(f >= 0 && f <= 1) {
		err = errors.New("not in [0,1]")
	}
	return f, err
}

func duration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err == nil && d <= 0 {
		err = errors.New("not above 0")
	}
	return d, err
}

func unitSet(v string) (all bool, err error) {
	if v != "core" && v != "all" {
		return false, errors.New("unknown")
	}
	return v == "all", nil
}

func progressPlace(v string) (Progress, error) {
	switch p := Progress(v); p {
	case ProgressNone, ProgressTTY:
		return p, nil
	}
	return "", errors.New("unknown")
}

// full reads which form scenarios have; a name is for them to know.
func full(v string) (string, error) {
	if yes, err := strconv.ParseBool(v); err == nil {
		if yes {
			return "1", nil
		}
		return "", nil
	}
	return text(strings.TrimSpace(v))
}

func requirement(v string) (string, error) {
	if !slices.Contains(requirements, v) {
		return "", errors.New("unknown")
	}
	return v, nil
}

func clientBound(v string) (ClientBound, error) {
	switch b := ClientBound(v); b {
	case BoundFails, BoundWithheld, BoundReported:
		return b, nil
	}
	return "", errors.New("not one of them")
}
