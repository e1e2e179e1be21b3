package facts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
)

// Load reads all files in a folder and resolves their includes. The error names the file and the fact that
// is wrong.
func Load(dir string) ([]Facts, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("facts: no *.json in %s", dir)
	}
	var all []Facts
	byName := map[string]Facts{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		if want := f.Server + "-" + f.Version; name != want {
			return nil, fmt.Errorf("%s: facts of %s: want the name %s.json", path, want, want)
		}
		byName[name] = f
		all = append(all, f)
	}
	for i := range all {
		for _, name := range all[i].Includes {
			library, found := byName[name]
			if !found {
				return nil, fmt.Errorf("%s-%s: includes %q: no such file in %s", all[i].Server, all[i].Version, name, dir)
			}
			all[i].Variables = append(slices.Clip(all[i].Variables), library.Variables...)
			all[i].Failures = append(slices.Clip(all[i].Failures), library.Failures...)
		}
	}
	return all, nil
}

// Parse reads one file. It does not resolve includes. The tests of this package check every file strictly.
func Parse(text []byte) (Facts, error) {
	var f Facts
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return f, err
	}
	if d.More() {
		return f, fmt.Errorf("more than one JSON document")
	}
	return f, nil
}

// For returns the facts that describe a server in an image: the facts that list the image, or else the
// facts whose version is in the image's tag. If there are none, For returns the server's newest facts, and
// doubt says so. found is false if there are no facts about the server.
func For(all []Facts, server, image string) (f Facts, doubt string, found bool) {
	var newest, inTag *Facts
	for i := range all {
		f := &all[i]
		if f.Server != server {
			continue
		}
		if slices.ContainsFunc(f.Images, func(i Image) bool { return i.Name == image }) {
			return *f, "", true
		}
		if launch.TagHas(image, f.Version) && (inTag == nil || compareVersions(f.Version, inTag.Version) > 0) {
			inTag = f
		}
		if newest == nil || compareVersions(f.Version, newest.Version) > 0 {
			newest = f
		}
	}
	switch {
	case inTag != nil:
		return *inTag, "", true
	case newest != nil:
		return *newest, fmt.Sprintf("no facts are about the image %q: these are the newest ones of %s, of %s", image, server, newest.Version), true
	}
	return Facts{}, "", false
}

// compareVersions compares versions number by number, so that 3.9 is older than 3.23.
func compareVersions(a, b string) int {
	numbers := func(s string) (all []int) {
		for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r < '0' || r > '9' }) {
			n, _ := strconv.Atoi(part) // a number that is too large becomes the largest one
			all = append(all, n)
		}
		return all
	}
	return slices.Compare(numbers(a), numbers(b))
}
