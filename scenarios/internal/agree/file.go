package agree

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// A file of answers is JSON Lines: first a head, and then one line for each answer.
//
//	{"llmbench":"answers","version":1,"answers":2}
//	{"prompt":"6c1f…","text":"The …","tokens":32}

// head is the first line of a file of answers.
type head struct {
	Kind    string `json:"llmbench"`
	Version int    `json:"version"`
	Answers int    `json:"answers"` // the number of the lines that follow
}

const (
	kind    = "answers"
	version = 1
)

// maxLine is the length in bytes of the longest line that Read accepts.
const maxLine = 64 << 20

// Write writes answers to a new file at path. If the file exists, it returns an error that wraps
// [os.ErrExist], because reference answers are not overwritten. After an error there is no new
// file.
func Write(path string, answers References) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(head{kind, version, len(answers)}); err != nil {
		return err
	}
	for _, prompt := range slices.Sorted(maps.Keys(answers)) {
		if err := e.Encode(answers[prompt]); err != nil {
			return err
		}
	}
	// Another process of the same benchmark may write the file at the same time. A link to the
	// whole file is made at once, and never replaces another file.
	f, err := os.CreateTemp(filepath.Dir(path), ".answers-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}

// ReadFile reads the answers in the file at path.
func ReadFile(path string) (References, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	answers, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return answers, nil
}

// Read reads answers. Its errors name the line.
func Read(r io.Reader) (References, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var h head
	answers := References{}
	n := 0
	for lines.Scan() {
		n++
		if n == 1 {
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
				return nil, fmt.Errorf("line 1: %w", err)
			}
			if h.Kind != kind || h.Version != version {
				return nil, fmt.Errorf("line 1: %q version %d: want %q version %d", h.Kind, h.Version, kind, version)
			}
			continue
		}
		var a Answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		switch _, twice := answers[a.Prompt]; {
		case a.Prompt == "":
			return nil, fmt.Errorf("line %d: no prompt", n)
		case a.Tokens < 0:
			return nil, fmt.Errorf("line %d: %d tokens: want 0 or more", n, a.Tokens)
		case twice:
			return nil, fmt.Errorf("line %d: prompt %s twice", n, a.Prompt)
		}
		answers[a.Prompt] = a
	}
	switch err := lines.Err(); {
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	case n == 0:
		return nil, errors.New("empty: want a file of answers")
	case len(answers) != h.Answers:
		return nil, fmt.Errorf("%d answers: want the %d that line 1 promises", len(answers), h.Answers)
	}
	return answers, nil
}
