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

// Every container has these labels. The value of LabelOwner identifies the lock of the process that created
// the container, and the folder of the lock. LabelProcess is the id of the process, for people.
const (
	LabelOwner   = "llmbench.owner"
	LabelProcess = "llmbench.pid"
)

// An owner identifies this process in the labels of its containers. Its lock tells other processes whether
// this process lives. A process id would not do, because ids are reused; a lock is not, and the system
// releases it however the process ends.
type owner struct {
	dir    string // holds the file "id", and a lock file for each process
	folder string // content of the file "id", which is unique to this folder, and therefore to the machine and user
	name   string // name of this process's lock
	lock   *flock.Flock
}

// newOwner creates a lock and holds it.
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

// folderID returns the content of the file at path. If the file does not exist, folderID creates it with
// random content. If several processes do so at once, they all return the same content.
func folderID(path string) (string, error) {
	if id, err := os.ReadFile(path); err == nil {
		return string(id), nil
	}
	part := path + "." + rand.Text()
	if err := os.WriteFile(part, []byte(rand.Text()), 0o600); err != nil {
		return "", err
	}
	if err := os.Link(part, path); err != nil && !errors.Is(err, os.ErrExist) { // unlike a rename, a link never replaces a file
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

// hasEnded reports whether the process that a label identifies has ended. It returns false for labels with
// another folder, because it cannot see the locks there.
func (o *owner) hasEnded(label string) bool {
	folder, name, _ := strings.Cut(label, "/")
	if folder != o.folder || name == o.name || name == "" || !filepath.IsLocal(name) {
		return false
	}
	if _, err := os.Stat(o.file(name)); errors.Is(err, os.ErrNotExist) {
		return true // the lock file exists from before the first container is created until after the last one is removed
	}
	lock := flock.New(o.file(name))
	free, err := lock.TryLock()
	if err != nil || !free {
		return false
	}
	return lock.Unlock() == nil
}

// removeLeftovers removes the containers of processes that have ended, with their anonymous volumes. Then
// it removes the networks and the locks of those processes.
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
		if !o.hasEnded(c.Labels[LabelOwner]) {
			continue
		}
		_, err := cli.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) { // a conflict: another process is removing it
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := o.removeNetworks(ctx, cli); err != nil {
		return err
	}
	return o.removeLocks()
}

// minLockAge is the age at which a lock file that nobody holds is removed. A younger file may belong to a
// process that has created it but not locked it yet.
const minLockAge = time.Hour

// removeLocks removes old lock files of processes that have ended. The containers of these processes must
// have been removed before.
func (o *owner) removeLocks() error {
	locks, err := filepath.Glob(o.file("*"))
	if err != nil {
		return err
	}
	for _, path := range locks {
		i, err := os.Stat(path)
		name := strings.TrimSuffix(filepath.Base(path), ".lock")
		if err == nil && time.Since(i.ModTime()) > minLockAge && o.hasEnded(o.folder+"/"+name) {
			_ = os.Remove(path) // if this fails, the next run removes it
		}
	}
	return nil
}
