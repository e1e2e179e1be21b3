package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// A Watcher follows the records in a folder. The folder and its files may appear, grow, be truncated, be
// replaced and be removed at any time. Nothing is read unless [Watcher.Run] runs.
type Watcher struct {
	folder string

	mu      sync.Mutex
	state   State
	changed chan struct{} // closed and replaced when state changes

	files map[string]*file // used only by the goroutine of Run; keyed by file name
}

// State is a Watcher's view of its folder.
type State struct {
	Folder string `json:"folder"`
	Why    string `json:"why,omitempty"` // why the folder cannot be read
	Runs   []Run  `json:"runs"`          // at most MaxRuns, the most recently written first
	Hidden int    `json:"hidden"`        // number of older runs that are not in Runs
}

// MaxRuns is the largest number of runs that a Watcher follows.
const MaxRuns = 500

// Run looks at the folder once per interval, and reads at most perLook bytes each time.
const (
	interval = time.Second
	perLook  = 32 << 20
)

// A file describes a file of records at the last look at the folder.
type file struct {
	*tracker
	size    int64
	changed time.Time
	done    int64 // number of bytes read so far
	more    bool  // the last look did not reach the end of the file
}

// NewWatcher returns a Watcher for a folder.
func NewWatcher(folder string) *Watcher {
	return &Watcher{folder: folder, state: State{Folder: folder}, changed: make(chan struct{}), files: map[string]*file{}}
}

// Run looks at the folder every second until ctx ends, and then once more.
func (w *Watcher) Run(ctx context.Context) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		w.look()
		select {
		case <-ctx.Done():
			w.look()
			return
		case <-tick.C:
		}
	}
}

// State returns the current state, and a channel that is closed at the next change of the state. The caller
// must not modify the State.
func (w *Watcher) State() (State, <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state, w.changed
}

// look reads the folder once and updates the state.
func (w *Watcher) look() {
	names, hidden, err := w.list()
	next := State{Folder: w.folder, Hidden: hidden}
	if err != nil {
		next.Why = err.Error()
	}
	changed := w.read(names)
	for _, name := range names {
		if f := w.files[name.Name()]; f != nil {
			run := f.snapshot()
			run.Changed = f.changed
			next.Runs = append(next.Runs, run)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !changed && next.Why == w.state.Why && next.Hidden == w.state.Hidden && len(next.Runs) == len(w.state.Runs) {
		return
	}
	w.state = next
	close(w.changed)
	w.changed = make(chan struct{})
}

// list returns the files of records, the most recently written first. If the folder does not exist, list
// returns an error that says so.
func (w *Watcher) list() (all []os.FileInfo, hidden int, err error) {
	entries, err := os.ReadDir(w.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("the folder does not exist yet: a benchmark with LLMBENCH_OUT=%s makes it", w.folder)
	}
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".jsonl" {
			continue
		}
		// Stat follows links. On an error, the file was just removed, or the link leads nowhere.
		if info, err := os.Stat(filepath.Join(w.folder, e.Name())); err == nil && info.Mode().IsRegular() {
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b os.FileInfo) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	if len(all) > MaxRuns {
		all, hidden = all[:MaxRuns], len(all)-MaxRuns
	}
	return all, hidden, nil
}

// read reads the new parts of the files, and reports whether anything has changed.
func (w *Watcher) read(all []os.FileInfo) (changed bool) {
	seen := map[string]bool{}
	left := int64(perLook)
	for _, info := range all {
		name := info.Name()
		seen[name] = true
		f := w.files[name]
		if f == nil {
			f = &file{tracker: newTracker(w.folder, name), size: -1}
			w.files[name] = f
		}
		if left <= 0 || f.size == info.Size() && f.changed.Equal(info.ModTime()) && !f.more {
			continue
		}
		f.size, f.changed = info.Size(), info.ModTime()
		if f.read(left) {
			f.tracker, f.done = newTracker(w.folder, name), 0
			f.read(left)
		}
		f.more = f.size-f.done > left
		done := f.size - f.run.Unread
		left -= max(0, done-f.done)
		f.done = done
		changed = true
	}
	for name := range w.files {
		if !seen[name] {
			delete(w.files, name)
			changed = true
		}
	}
	return changed
}
