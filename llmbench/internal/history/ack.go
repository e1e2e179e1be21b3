package history

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Ack accepts the results of a run as they are, and returns the name of the file that says so. From then on,
// [Reader.Check] does not report changes that began in this run or before it on the run's machine, and misses nothing
// that this run lacks. It is no error if the run is already accepted.
func (d Dir) Ack(run string, now time.Time) (string, error) {
	if !named.MatchString(run) {
		return "", fmt.Errorf("%q: want the name of a run, as check and log print it", run)
	}
	text, err := os.ReadFile(filepath.Join(string(d), run))
	if err != nil {
		return "", err
	}
	if about, err := Stated(text); err != nil {
		return "", fmt.Errorf("%s: %w", run, err)
	} else if about.RerunOf != "" {
		return "", fmt.Errorf("%s: a rerun cannot be accepted: want the run that it repeats, %s", run, about.RerunOf)
	}
	name := AckName(run)
	if _, err := os.Lstat(filepath.Join(string(d), name)); err == nil {
		return name, nil
	}
	return name, d.write(name, fmt.Appendf(nil, "# The results of this run are accepted as they are.\nrun: %s\ndate: %s\n", run, now.UTC().Format(time.RFC3339)))
}
