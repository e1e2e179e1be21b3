package command

import (
	"os"
	"path/filepath"
)

// WriteFile writes a file atomically: the file appears under its name only when it is complete.
func WriteFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(path+".part", text, 0o666); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
