package engine

import (
	"os"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// TestOwner checks which labels are those of dead processes: a lock that is held
// is not, whoever asks.
func TestOwner(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // of systems without the first
	t.Setenv("LocalAppData", t.TempDir())
	me, err := newOwner()
	assert.NilError(t, err)
	other, err := newOwner()
	assert.NilError(t, err)
	assert.Equal(t, me.folder, other.folder)
	assert.Assert(t, me.name != other.name)
	for label, dead := range map[string]bool{
		me.label():                 false,
		other.label():              false, // it lives
		me.folder + "/NOSUCH":      true,
		me.folder + "/../" + "id":  false,
		me.folder + "/":            false,
		me.folder:                  false,
		"ANOTHERFOLDER/NOSUCH":     false, // another user's, or another machine's
		"ANOTHERFOLDER/" + me.name: false,
		"":                         false,
		"/NOSUCH":                  false,
	} {
		assert.Equal(t, me.dead(label), dead, "label %q", label)
	}
	assert.NilError(t, other.lock.Unlock()) // as the system does for a process that ends
	assert.Assert(t, me.dead(other.label()))

	assert.NilError(t, me.removeLocks())
	_, err = os.Stat(me.file(other.name))
	assert.NilError(t, err, "a lock was removed that may be one in the making")
	old := time.Now().Add(-2 * keepLocks)
	for _, o := range []*owner{me, other} {
		assert.NilError(t, os.Chtimes(o.file(o.name), old, old))
	}
	assert.NilError(t, me.removeLocks())
	_, err = os.Stat(me.file(other.name))
	assert.ErrorIs(t, err, os.ErrNotExist)
	_, err = os.Stat(me.file(me.name))
	assert.NilError(t, err, "a lock was removed that is held")
}

// TestHere tells engines of this machine from others.
func TestHere(t *testing.T) {
	for host, ok := range map[string]bool{
		"unix:///var/run/docker.sock":    true,
		"npipe:////./pipe/docker_engine": true,
		"tcp://127.0.0.1:2375":           true,
		"tcp://localhost:2375":           true,
		"tcp://[::1]:2375":               true,
		"tcp://10.0.0.5:2375":            false,
		"ssh://somebody@gpu-box":         false,
	} {
		if err := here(host); (err == nil) != ok {
			t.Errorf("here(%q) = %v, want an error: %t", host, err, !ok)
		}
	}
}
