package measure

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate/internal/command"

	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// A folder holds the samples of one comparison. A lock file ensures that only one command uses the folder at a
// time.
type folder struct {
	path string
	lock *flock.Flock
}

// lockName is the name of the lock file. A folder without this file was not made by benchgate.
const lockName = "benchgate.lock"

// openFolder opens the folder at path, or a new temporary folder if path is "". It refuses a folder that has
// other files and no lock file.
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
		return folder{}, fmt.Errorf("-out=%s: the folder holds %s: want an empty folder or one that benchgate made", path, entries[0].Name())
	}
	lock := flock.New(filepath.Join(path, lockName))
	alone, err := lock.TryLock()
	if err == nil && !alone {
		err = fmt.Errorf("-out=%s: another benchgate uses it", path)
	}
	return folder{path, lock}, err
}

func (f folder) close() { f.lock.Close() }

// join returns the path of an element of the folder.
func (f folder) join(parts ...string) string {
	return filepath.Join(append([]string{f.path}, parts...)...)
}

// An identity describes, by name, everything that the samples depend on: commits, hashes and numbers. It never
// holds the value of an environment variable, because the value may be secret, and it never holds a hash from
// which the value could be guessed; see [folder.fingerprint].
type identity map[string]string

// keyName is the name of the file with the secret key for fingerprints.
const keyName = "benchgate.key"

// fingerprint returns a function that maps equal texts to equal fingerprints. A fingerprint is an HMAC with a
// random key. The key is in a file of the folder that only the owner may read. Without the key, nobody can
// check a guess of the text against the fingerprint.
func (f folder) fingerprint() (func(text string) string, error) {
	path := f.join(keyName)
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key = []byte(rand.Text())
		err = os.WriteFile(path, key, 0o600)
	}
	if err == nil && len(key) == 0 {
		err = fmt.Errorf("%s: empty; delete the folder", path)
	}
	return func(text string) string {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return fmt.Sprintf("%x", h.Sum(nil))
	}, err
}

// seedName is the entry of an identity that holds the seed for the random order of the sides.
const seedName = "-seed"

// seed returns the seed of the samples in the folder, or a new random one if there are no samples. It is never
// 0.
func (f folder) seed() (uint64, error) {
	before, err := f.identity()
	if err != nil {
		return 0, err
	}
	if text := before[seedName]; text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil || seed == 0 {
			return 0, fmt.Errorf("%s: %s is %q: want a number above 0; delete the folder", f.join(identityName), seedName, text)
		}
		return seed, nil
	}
	return 1 + mathrand.Uint64N(1e9), nil // short enough to type
}

// identityName is the name of the file with the identity of the samples.
const identityName = "benchgate.json"

// identity returns the identity of the samples in the folder, or nil if there are none.
func (f folder) identity() (identity, error) {
	text, err := os.ReadFile(f.join(identityName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var id identity
	if err == nil {
		err = json.Unmarshal(text, &id)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.join(identityName), err)
	}
	return id, nil
}

// claim records id in a folder without samples. If the folder has samples with another identity, claim returns
// an error.
func (f folder) claim(id identity) error {
	before, err := f.identity()
	if err != nil {
		return err
	}
	if before == nil {
		text, err := json.MarshalIndent(id, "", "\t")
		if err != nil {
			return err
		}
		return command.WriteFile(f.join(identityName), text)
	}
	all := maps.Clone(before)
	maps.Copy(all, id)
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if before[name] != id[name] {
			differ = append(differ, name)
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("-out=%s: the folder has samples of another comparison: %s changed; use another folder or delete this one",
			f.path, strings.Join(differ, ", "))
	}
	return nil
}
