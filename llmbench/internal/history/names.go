package history

import (
	"regexp"
	"strings"
)

// layout is the time format in file names. It has no colon, because Windows does not allow colons in file
// names.
const layout = "2006-01-02T150405Z"

// named matches the names of a history's files: commit time, commit, and a hash of the contents.
var named = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d{6}Z)-([0-9A-Za-z._]{1,12})-([0-9a-f]{16})\.txt$`)

// unnamable matches the characters of a commit that are replaced in file names.
var unnamable = regexp.MustCompile(`[^0-9A-Za-z._]`)

// short returns the first 12 characters of a commit, made safe for a file name.
func short(commit string) string {
	commit = unnamable.ReplaceAllString(commit, "_")
	return commit[:min(len(commit), 12)]
}

// unfinishedStart and unfinishedEnd are the prefix and the suffix of files that Add is still writing.
const unfinishedStart, unfinishedEnd = ".add-", ".tmp"

// unfinished reports whether a file has the name of a run that Add is still writing, or was writing when it
// was killed.
func unfinished(name string) bool {
	return strings.HasPrefix(name, unfinishedStart) && strings.HasSuffix(name, unfinishedEnd)
}

// ackPrefix begins the names of the files that Ack writes. The name of the accepted run follows.
const ackPrefix = "ack-"

// AckName returns the name of the file by which Ack accepts a run.
func AckName(run string) string { return ackPrefix + run }

// isAck reports whether a file has a name that Ack writes.
func isAck(name string) bool {
	run, ok := strings.CutPrefix(name, ackPrefix)
	return ok && named.MatchString(run)
}

// noCommit reports whether a commit is the hash of zeros that git uses where there is no commit.
func noCommit(commit string) bool { return len(commit) >= 7 && strings.Trim(commit, "0") == "" }
