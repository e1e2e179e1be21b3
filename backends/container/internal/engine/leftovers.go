package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/gofrs/flock"
	"github.com/moby/moby/client"
)

// LabelOwner is the label of every container: the id of its maker's folder of
// locks, and the name of the lock that the maker holds in it. LabelProcess is
// the maker's process id, for people.
const (
	LabelOwner   = "llmbench.owner"
	LabelProcess = "llmbench.pid"
)

// An owner is this process, as the labels of its containers name it. A lock
// tells whether it lives: unlike a process id it cannot be another's, and the
// system frees it however the process ends.
type owner struct {
	dir    string // holds a file "id", and a lock for each process
	folder string // content of id: another machine's or user's folder has another
	name   string // of this process's lock
	lock   *flock.Flock
}

// newOwner takes a new lock.
func newOwner() (*owner, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = filepath.Join(os.TempDir(), fmt.Sprintf("llmbench-%d", os.Getuid()))
	}
	o := &owner{dir: filepath.Join(cache, "llmbench", "owners"), name: rand.Text()}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, err
	}
	if o.folder, err = folderID(filepath.Join(o.dir, "id")); err != nil {
		return nil, err
	}
	o.lock = flock.New(o.file(o.name))
	if locked, err := o.lock.TryLock(); err != nil || !locked {
		return nil, fmt.Errorf("lock %s: %w", o.file(o.name), err)
	}
	return o, nil
}

// folderID returns the content of the file at path, and makes it if it is not
// there. It appears whole, and only once.
func folderID(path string) (string, error) {
	if id, err := os.ReadFile(path); err == nil {
		return string(id), nil
	}
	part := path + "." + rand.Text()
	if err := os.WriteFile(part, []byte(rand.Text()), 0o600); err != nil {
		return "", err
	}
	if err := os.Link(part, path); err != nil && !errors.Is(err, os.ErrExist) { // unlike a renaming, a link replaces nothing
		return "", errors.Join(err, os.Remove(part))
	}
	if err := os.Remove(part); err != nil {
		return "", err
	}
	id, err := os.ReadFile(path)
	return string(id), err
}

func (o *owner) file(name string) string { return filepath.Join(o.dir, name+".lock") }

// label is the value of LabelOwner.
func (o *owner) label() string { return o.folder + "/" + o.name }

// dead reports whether a label is that of a process that has ended. Of labels
// of other folders it cannot know, and says no.
func (o *owner) dead(label string) bool {
	folder, name, _ := strings.Cut(label, "/")
	if folder != o.folder || name == o.name || name == "" || !filepath.IsLocal(name) {
		return false
	}
	if _, err := os.Stat(o.file(name)); errors.Is(err, os.ErrNotExist) {
		return true // the lock is made before the first container and outlives the last
	}
	lock := flock.New(o.file(name))
	free, err := lock.TryLock()
	if err != nil || !free {
		return false
	}
	return lock.Unlock() == nil
}

// removeLeftovers removes the containers of dead processes with their anonymous
// volumes, and then the locks that no container names any more.
func (o *owner) removeLeftovers(ctx context.Context, cli client.APIClient) error {
	all, err := cli.ContainerList(ctx, client.ContainerListOptions{
		All:     true,
		Filters: make(client.Filters).Add("label", LabelOwner),
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range all.Items {
		if !o.dead(c.Labels[LabelOwner]) {
			continue
		}
		_, err := cli.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) { // another process is at it
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return o.removeLocks()
}

// keepLocks is how long a lock that is free is kept, for a process that has made
// its file and not locked it yet.
const keepLocks = time.Hour

// removeLocks removes the old locks of dead processes, whose containers are gone.
func (o *owner) removeLocks() error {
	locks, err := filepath.Glob(o.file("*"))
	if err != nil {
		return err
	}
	for _, path := range locks {
		i, err := os.Stat(path)
		name := strings.TrimSuffix(filepath.Base(path), ".lock")
		if err == nil && time.Since(i.ModTime()) > keepLocks && o.dead(o.folder+"/"+name) {
			_ = os.Remove(path) // or the next run does
		}
	}
	return nil
}
