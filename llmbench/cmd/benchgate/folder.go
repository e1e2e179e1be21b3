package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// A folder is where the samples of one comparison are kept. It is one command's at
// a time.
type folder struct {
	path string
	lock *flock.Flock
}

// lockName is a file that every folder of samples has.
const lockName = "benchgate.lock"

// openFolder opens the folder at path, or a temporary one. One that holds other
// things is none.
func openFolder(path string) (folder, error) {
	var err error
	if path == "" {
		path, err = os.MkdirTemp("", "benchgate-")
	} else if path, err = filepath.Abs(path); err == nil {
		err = os.MkdirAll(path, 0o777)
	}
	if err != nil {
		return folder{}, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return folder{}, err
	}
	if _, err := os.Stat(filepath.Join(path, lockName)); err != nil && len(entries) > 0 {
		return folder{}, fmt.Errorf("-out=%s: it holds %s; want an empty folder, or one of benchgate's", path, entries[0].Name())
	}
	lock := flock.New(filepath.Join(path, lockName))
	alone, err := lock.TryLock()
	if err == nil && !alone {
		err = fmt.Errorf("-out=%s: another benchgate uses it", path)
	}
	return folder{path, lock}, err
}

func (f folder) close() { f.lock.Close() }

// join is the path of something in the folder.
func (f folder) join(parts ...string) string {
	return filepath.Join(append([]string{f.path}, parts...)...)
}

// An identity is what samples were taken of and how, by name: a commit, a hash, a
// number. It holds no value of a variable, which may be secret.
type identity map[string]string

// claim makes the folder one of samples of id, or says what other samples it has.
func (f folder) claim(id identity) error {
	path := f.join("benchgate.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if text, err = json.MarshalIndent(id, "", "\t"); err == nil {
			err = writeWhole(path, text)
		}
		return err
	}
	if err != nil {
		return err
	}
	var before identity
	if err := json.Unmarshal(text, &before); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var differ []string
	for name := range union(before, id) {
		if before[name] != id[name] {
			differ = append(differ, name)
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("-out=%s: the samples there are of another comparison: %s changed; use another folder or delete it",
			f.path, strings.Join(sorted(differ), ", "))
	}
	return nil
}

// writeWhole writes a file that is whole by its name.
func writeWhole(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(path+".part", text, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
