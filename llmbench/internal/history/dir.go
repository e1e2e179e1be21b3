package history

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/benchline"
)

// A Dir is the folder of a history. Several processes may add to the folder at once.
type Dir string

// Add writes a run to the folder and returns the name of the new file. It creates the folder if necessary. The
// text has results in Go benchmark format; Add puts the configuration lines of about in front of the text
// unless the text already has them.
//
// The file gets its name only when it is complete and on disk. A killed process leaves at most a file whose
// name begins with ".add-". If the folder already has a run with the same text and settings, Add returns that
// run's name and an error that wraps [os.ErrExist].
func (d Dir) Add(text []byte, about About, now time.Time) (string, error) {
	stated, err := Stated(text)
	if err == nil {
		about, err = about.merge(stated)
	}
	if err == nil && noCommit(about.Commit) {
		err = fmt.Errorf("commit: %s: want the hash of a commit: git writes zeros where there is none", about.Commit)
	}
	if err != nil {
		return "", err
	}
	head := about.lines(stated)
	sum := sha256.Sum256(slices.Concat(head, text))
	name := fmt.Sprintf("%s-%s-%x.txt", about.Time.UTC().Format(layout), short(about.Commit), sum[:8])
	if _, err := os.Lstat(filepath.Join(string(d), name)); err == nil {
		return name, fmt.Errorf("%s: the history has this run: %w", name, os.ErrExist)
	}
	if date(text) == "" {
		head = fmt.Appendf(head, "date: %s\n", now.UTC().Format(time.RFC3339Nano)) // runs may be added within a second
	}
	whole := slices.Concat(head, []byte("\n"), text)
	if !bytes.HasSuffix(whole, []byte("\n")) {
		whole = append(whole, '\n')
	}
	if _, torn := benchline.Lines(whole, name); len(torn) > 0 {
		return "", torn[0]
	}
	if _, err := NewReader().Read(name, whole); err != nil {
		return "", err
	}
	return name, d.write(name, whole)
}

// write writes the file so that it appears under its name only when it is complete. The name has a hash of the
// contents, so two processes that write the same name write the same results, and either file may remain.
func (d Dir) write(name string, text []byte) (err error) {
	if err := os.MkdirAll(string(d), 0o777); err != nil {
		return err
	}
	// os.CreateTemp is not used because only the owner may read the files that it creates.
	part := filepath.Join(string(d), fmt.Sprintf("%s%d-%x%s", unfinishedStart, os.Getpid(), rand.Uint64(), unfinishedEnd))
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(part)
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(part, filepath.Join(string(d), name)); err != nil {
		return err
	}
	return d.sync()
}

// sync flushes the folder itself to disk, so that new names survive a crash. Windows cannot do that for
// folders.
func (d Dir) sync() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// A Listing lists the files in the folder of a history.
type Listing struct {
	Runs       []string // file names of runs, sorted by commit time
	Acks       []string // files that Ack has written
	Unfinished []string // files that Add is still writing, or was writing when it was killed
	Others     []string // other files, which do not belong to the history
}

// List lists the folder. A folder that does not exist is an error.
func (d Dir) List() (Listing, error) {
	var l Listing
	entries, err := os.ReadDir(string(d)) // sorted by name
	for _, e := range entries {
		switch name := e.Name(); {
		case named.MatchString(name) && !e.IsDir():
			l.Runs = append(l.Runs, name)
		case isAck(name) && !e.IsDir():
			l.Acks = append(l.Acks, name)
		case unfinished(name):
			l.Unfinished = append(l.Unfinished, name)
		case name != ".git":
			l.Others = append(l.Others, name)
		}
	}
	return l, err
}

// Remove deletes runs, unfinished files, and files of Ack by name. It deletes nothing at all if any name is none of
// these, or does not exist.
func (d Dir) Remove(names []string) error {
	for _, name := range names {
		if own := named.MatchString(name) || unfinished(name) || isAck(name); !own || filepath.Base(name) != name {
			return fmt.Errorf("%q: want the name of a file of the history, as prune prints it; nothing was deleted", name)
		}
		if _, err := os.Lstat(filepath.Join(string(d), name)); err != nil {
			return fmt.Errorf("%w; nothing was deleted", err)
		}
	}
	for _, name := range names {
		if err := os.Remove(filepath.Join(string(d), name)); err != nil {
			return err
		}
	}
	return d.sync()
}
