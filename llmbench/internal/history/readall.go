package history

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ReadAll reads the runs of a folder. The comment of the package says in which order they are.
func (r *Reader) ReadAll(d Dir) ([]*Run, error) {
	l, err := d.List()
	if err != nil {
		return nil, err
	}
	runs := make([]*Run, len(l.Runs))
	for i, name := range l.Runs {
		text, err := os.ReadFile(filepath.Join(string(d), name))
		if err != nil {
			return nil, err
		}
		if runs[i], err = r.Read(name, text); err != nil {
			return nil, err
		}
		runs[i].Accepted = slices.Contains(l.Acks, AckName(name))
	}
	return inOrder(runs, time.Now()), nil
}
