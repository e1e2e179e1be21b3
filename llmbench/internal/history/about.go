package history

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An About describes what a run measured: the version, the machine and the server. Each text is a single line,
// or "" if it is unknown.
type About struct {
	Commit  string    // the measured version; required in a history, so never ""
	Time    time.Time // commit time; required in a history, so never zero
	Machine string
	Server  string // the server and its flags, without its version
	RerunOf string // the file name of the run that this run repeats
}

// ours lists the configuration keys that About holds. A file may give each of them at most one value.
var ours = []string{"commit", "commit-time", "machine", "server", "rerun-of"}

// text returns the field that has the value of key. The key must be in ours, but not commit-time.
func (a *About) text(key string) *string {
	switch key {
	case "commit":
		return &a.Commit
	case "machine":
		return &a.Machine
	case "server":
		return &a.Server
	}
	return &a.RerunOf
}

// get returns the value of key, which must be in ours.
func (a About) get(key string) string {
	switch {
	case key != "commit-time":
		return *a.text(key)
	case a.Time.IsZero():
		return ""
	}
	return a.Time.UTC().Format(time.RFC3339)
}

// set sets the value of key, which must be in ours.
func (a *About) set(key, value string) error {
	if key != "commit-time" {
		*a.text(key) = value
		return nil
	}
	var err error
	if a.Time, err = time.Parse(time.RFC3339, value); err != nil || a.Time.UTC().Year() < 1970 || a.Time.UTC().Year() > 9999 {
		return fmt.Errorf("commit-time: %q: want a time such as 2026-11-26T21:17:16Z", value)
	}
	return nil
}

// Stated returns the About that a text's configuration lines give. Two different values of one key are an
// error, because a file holds a single run.
func Stated(text []byte) (About, error) {
	var a About
	seen := map[string]string{}
	for line := range bytes.Lines(text) {
		key, value, ok := setting(line)
		if !ok || !slices.Contains(ours, key) || value == "" {
			continue
		}
		if old, again := seen[key]; again && old != value {
			return a, fmt.Errorf("%s is %s here but %s earlier in the file: want one value, because a file holds a single run", key, value, old)
		}
		seen[key] = value
		if err := a.set(key, value); err != nil {
			return a, err
		}
	}
	return a, nil
}

// merge returns a copy of a whose unknown fields are filled in from in, which the configuration lines of a text
// give. It is an error if a and in disagree.
func (a About) merge(in About) (About, error) {
	for _, key := range ours {
		asked, stated := a.get(key), in.get(key)
		switch {
		case strings.ContainsAny(asked, "\r\n") || asked != strings.Trim(asked, " \t"):
			return a, fmt.Errorf("%s: %q: want one line, without spaces around it", key, asked)
		case asked != "" && stated != "" && asked != stated:
			return a, fmt.Errorf("%s: %s, but the results say %s", key, asked, stated)
		case asked == "" && stated != "":
			if err := a.set(key, stated); err != nil {
				return a, err
			}
		}
	}
	return a, a.check()
}

// check returns an error if a lacks the commit or the commit time, which every run of a history must have.
func (a About) check() error {
	switch {
	case a.Commit == "":
		return fmt.Errorf("commit: not known: want a line commit: in the results, or -commit")
	case a.Time.IsZero():
		return fmt.Errorf("commit-time: not known: want a line commit-time: in the results, or -commit-time")
	}
	return nil
}

// lines returns the configuration lines of a that a text does not have, whose own lines give stated.
func (a About) lines(stated About) []byte {
	var b []byte
	for _, key := range ours {
		if value := a.get(key); value != "" && stated.get(key) == "" {
			b = fmt.Appendf(b, "%s: %s\n", key, value)
		}
	}
	return b
}

// date returns the value of the first line "date:" of a text, or "".
func date(text []byte) string {
	for line := range bytes.Lines(text) {
		if key, value, ok := setting(line); ok && key == "date" && value != "" {
			return value
		}
	}
	return ""
}

// setting splits a configuration line into key and value, as benchfmt does. If ok is false, line is no
// configuration line.
func setting(line []byte) (key, value string, ok bool) {
	before, after, found := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
	value = strings.TrimLeft(string(after), " \t")
	return string(before), value, found && len(value) < len(after)
}
