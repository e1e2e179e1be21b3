package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/facts"
)

// itself is the path of this program in its image.
const itself = "/standin"

// containerVariables lists the environment variables that the container engine sets, and the variables of
// this program.
var containerVariables = []string{"PATH", "HOSTNAME", "HOME", "TERM", "STANDIN", "STANDIN_FAILURE"}

// readSettings returns the settings in the command line, the environment and the files of the container. If
// the command line is wrong, the error has the words that the server's parser would print.
func readSettings(f facts.Facts, words, environ []string) (facts.Settings, error) {
	set, err := f.ParseCommand(command(words))
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for _, v := range environ {
		if name, value, _ := strings.Cut(v, "="); !slices.Contains(containerVariables, name) {
			env[name] = value
		}
	}
	fromEnv, err := f.Environment(env)
	if err != nil {
		return nil, err
	}
	maps.Copy(set, fromEnv)
	read := map[string]bool{}
	for _, d := range f.Fields {
		if !filepath.IsAbs(d.In) || read[d.In] {
			continue
		}
		read[d.In] = true
		text, err := os.ReadFile(d.In)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		fromFile, err := f.Document(d.In, text)
		if err != nil {
			return nil, err
		}
		maps.Copy(set, fromFile)
	}
	return set, nil
}

// command returns the server's command. words is the command line of the container. If it runs a script by
// a shell, the script is ignored and the words after it are returned.
func command(words []string) []string {
	switch base := filepath.Base(words[0]); {
	case words[0] == itself:
		return words[1:]
	case (base == "sh" || base == "bash") && len(words) > 1:
		return words[2:]
	}
	return words
}
