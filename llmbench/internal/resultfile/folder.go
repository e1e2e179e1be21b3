package resultfile

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// A Left is a file, a folder or a link that was left out.
type Left struct{ Path, Why string }

// String returns a note.
func (l Left) String() string { return l.Path + ": left out, because " + l.Why }

// Folder returns the files in a folder and its subfolders, and what is left out. Hidden files and folders are in neither
// list. Symbolic links are followed, to files and to folders. What was found under another name already is left out,
// because it would count twice.
func Folder(path string) (paths []string, left []Left, err error) {
	w := &walk{seen: found{}}
	real, err := realPath(path)
	if err != nil {
		return nil, nil, err
	}
	if err := w.folder(path, real); err != nil {
		return nil, nil, err
	}
	for i := 0; i < len(w.links); i++ { // after the files, so that a file is known by its own name and not by a link to it
		link := w.links[i]
		real, err := realPath(link)
		if err != nil {
			w.leave(link, "the link leads nowhere: %v", err)
			continue
		}
		if err := w.folder(link, real); err != nil { // may add links
			return nil, nil, err
		}
	}
	return w.paths, w.left, nil
}

// realPath returns the absolute path of a file or folder, without symbolic links.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// A found has the path under which each file or folder was found, by its real path.
type found map[string]string

// again returns a note if a file was found before, perhaps under another name. Otherwise it remembers the file, and
// returns "".
func (f found) again(path string) string {
	real, err := realPath(path)
	if err != nil {
		return "" // reading the file fails too, or it cannot be compared with others
	}
	switch f[real] {
	case "":
		f[real] = path
		return ""
	case path:
		return path + ": counts once, although it was named twice"
	}
	return Left{path, f[real] + " is the same file"}.String()
}

// A walk is a walk through a folder.
type walk struct {
	paths []string
	left  []Left
	links []string // symbolic links that are not followed yet
	seen  found
}

// folder adds the files of a folder, whose real path has no links.
func (w *walk) folder(path, real string) error {
	return filepath.WalkDir(real, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.Join(path, strings.TrimPrefix(p, real))
		hidden := p != real && strings.HasPrefix(d.Name(), ".")
		switch {
		case hidden && d.IsDir():
			return fs.SkipDir
		case hidden:
		case w.seen[p] != "" && d.IsDir():
			w.leave(name, "%s is the same folder", w.seen[p])
			return fs.SkipDir
		case w.seen[p] != "":
			w.leave(name, "%s is the same file", w.seen[p])
		case d.IsDir():
			w.seen[p] = name
		case d.Type().IsRegular():
			w.seen[p] = name
			w.paths = append(w.paths, name)
		case d.Type()&fs.ModeSymlink != 0:
			w.links = append(w.links, name)
		default:
			w.leave(name, "it is neither a file nor a folder")
		}
		return nil
	})
}

func (w *walk) leave(path, why string, args ...any) {
	w.left = append(w.left, Left{path, fmt.Sprintf(why, args...)})
}
