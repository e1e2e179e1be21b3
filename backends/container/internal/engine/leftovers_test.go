package engine

import (
	"os"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestOwner checks which labels belong to processes that have ended. A process whose lock is still
// held has not ended.
func TestOwner(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // for systems on which XDG_CACHE_HOME is not used
	t.Setenv("LocalAppData", t.TempDir())
	me, err := newOwner()
	assert.NilError(t, err)
	other, err := newOwner()
	assert.NilError(t, err)
	assert.Equal(t, me.folder, other.folder)
	assert.Assert(t, me.name != other.name)
	for label, ended := range map[string]bool{
		me.label():                 false, // this process
		other.label():              false, // another process that is still running
		me.folder + "/NOSUCH":      true,
		me.folder + "/../" + "id":  false,
		me.folder + "/":            false,
		me.folder:                  false,
		"ANOTHERFOLDER/NOSUCH":     false, // a process of another user or on another machine
		"ANOTHERFOLDER/" + me.name: false,
		"":                         false,
		"/NOSUCH":                  false,
	} {
		assert.Equal(t, me.hasEnded(label), ended, "label %q", label)
	}
	assert.NilError(t, other.lock.Unlock()) // the system does the same when the process ends
	assert.Assert(t, me.hasEnded(other.label()))

	assert.NilError(t, me.removeLocks())
	_, err = os.Stat(me.file(other.name))
	assert.NilError(t, err, "a young lock was removed; its process may be about to lock it")
	old := time.Now().Add(-2 * minLockAge)
	for _, o := range []*owner{me, other} {
		assert.NilError(t, os.Chtimes(o.file(o.name), old, old))
	}
	assert.NilError(t, me.removeLocks())
	_, err = os.Stat(me.file(other.name))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = os.Stat(me.file(me.name))
	assert.NilError(t, err, "a lock was removed while it was held")
}

// TestCheckLocal checks which hosts are on this machine.
func TestCheckLocal(t *testing.T) {
	for host, ok := range map[string]bool{
		"unix:///var/run/docker.sock":    true,
		"npipe:////./pipe/docker_engine": true,
		"tcp://127.0.0.1:2375":           true,
		"tcp://localhost:2375":           true,
		"tcp://[::1]:2375":               true,
		"tcp://10.0.0.5:2375":            false,
		"ssh://somebody@gpu-box":         false,
	} {
		err := checkLocal(host)
		assert.Equal(t, err == nil, ok, "%s: %v", host, err)
	}
}
