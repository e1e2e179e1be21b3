package compare

import (
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// LoadKeys holds the keys of benchmark names that describe a load. If a name has several of them, the one that comes
// first in this list is its load.
var LoadKeys = []string{"concurrency", "rate", "streams", "qps"}

// LoadOf returns the key of a benchmark's load, and its value, which is above 0. The function value returns the
// value of a key of the benchmark's name, or "". If the name has no load, the key is "".
func LoadOf(value func(key string) string) (key string, v float64) {
	for _, key := range LoadKeys {
		if v, err := strconv.ParseFloat(value(key), 64); err == nil && v > 0 && !math.IsInf(v, 0) {
			return key, v
		}
	}
	return "", 0
}

// workKeys holds the keys of names that say what a server is asked to do.
var workKeys = []string{"workload", "stream", "input", "output", "turns", "tokens", "prefix", "batch", "speed", "offered"}

// Work returns the part of a benchmark's name that says what the server was asked to do, for System.Work. The
// function returns the value of a key of the name, or "".
func Work(value func(key string) string) (work string) {
	for _, key := range workKeys {
		work += fmt.Sprintf("%q", value(key))
	}
	return work
}

// plain holds the keys whose values need no key beside them.
var plain = []string{"backend", "quant", "quantization", "hardware", "hw", "model", "workload", "via", "source"}

// Label returns an element of a benchmark's name as a part of a system's name.
func Label(key, value string) string {
	if key == "mock-profile" { // a name, or the path of a file
		return strings.TrimSuffix(path.Base(filepath.ToSlash(value)), ".json")
	}
	switch {
	case key == "stream" && value == "true":
		return "streamed"
	case key == "stream" && value == "false":
		return "not streamed"
	case slices.Contains(plain, key):
		return value
	}
	return key + "=" + value
}
