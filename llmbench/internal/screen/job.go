package screen

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Job consists of all benchmarks that a process runs. Its methods must not be called concurrently.
type Job struct {
	all   []string  // names of the benchmarks of the program; nil if they are unknown
	names []string  // names of the benchmarks that run, in their order; nil if they are unknown
	began time.Time // of Begin
	at    int       // index in names of the current benchmark
}

// NewJob returns the job of a process. The argument m is the process's [testing.M], whose field benchmarks
// has the benchmarks, each with a field Name. The arguments bench and skip are the values of the flags
// -test.bench and -test.skip. The benchmarks are unknown if skip is not empty, or if a version of Go has no
// such field, because it is not part of the API of package testing.
func NewJob(m any, bench, skip string) *Job {
	j := &Job{}
	all := reflect.ValueOf(m).Elem().FieldByName("benchmarks")
	if !all.IsValid() || all.Kind() != reflect.Slice || all.Type().Elem().Kind() != reflect.Struct || skip != "" {
		return j
	}
	var wanted []*regexp.Regexp
	for _, pattern := range firsts(bench) {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return j
		}
		wanted = append(wanted, re)
	}
	for i := range all.Len() {
		name := all.Index(i).FieldByName("Name")
		if !name.IsValid() || name.Kind() != reflect.String {
			return &Job{}
		}
		j.all = append(j.all, name.String())
		if slices.ContainsFunc(wanted, func(re *regexp.Regexp) bool { return re.MatchString(name.String()) }) {
			j.names = append(j.names, name.String())
		}
	}
	return j
}

// Begin says that the benchmarks begin now.
func (j *Job) Begin() { j.began = time.Now() }

// Names returns the names of the benchmarks that run, in their order, or nil if they are unknown.
func (j *Job) Names() []string { return slices.Clone(j.names) }

// Others returns the names of the program's benchmarks if none of them runs, and nil otherwise.
func (j *Job) Others() []string {
	if len(j.names) > 0 {
		return nil
	}
	return j.all
}

// firsts returns the first element of each alternative of a pattern. Bars separate alternatives and slashes
// separate elements, outside of brackets and parentheses, as in package testing.
func firsts(pattern string) (all []string) {
	depth, class, from, slash := 0, 0, 0, -1
	end := func(i int) {
		if slash < 0 {
			slash = i
		}
		all = append(all, pattern[from:slash])
		from, slash = i+1, -1
	}
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			class++
		case ']':
			class = max(0, class-1)
		case '(':
			if class == 0 {
				depth++
			}
		case ')':
			if class == 0 {
				depth--
			}
		case '/':
			if class == 0 && depth == 0 && slash < 0 {
				slash = i
			}
		case '|':
			if class == 0 && depth == 0 {
				end(i)
			}
		}
	}
	end(len(pattern))
	return all
}

// Place returns the position of a benchmark in the job, such as "3/22", and an estimate of the remaining
// time, such as "1m10s left". The estimate assumes that each benchmark takes as long as the earlier ones
// took on average. Either result is "" if it is unknown.
func (j *Job) Place(benchmark string) (place, left string) {
	root, _, _ := strings.Cut(benchmark, "/")
	for i := range j.names {
		if at := (j.at + i) % len(j.names); j.names[at] == root {
			j.at = at
			place = fmt.Sprintf("%d/%d", at+1, len(j.names))
			if at > 0 {
				rest := time.Since(j.began) / time.Duration(at) * time.Duration(len(j.names)-at)
				left = max(rest, time.Second).Round(time.Second).String() + " left"
			}
			break
		}
	}
	return place, left
}
