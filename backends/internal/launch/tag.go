package launch

import (
	"regexp"
	"strings"
)

// Tag returns the tag of an image, or "".
func Tag(image string) string {
	name, _, _ := strings.Cut(image, "@") // a digest has a colon, too
	_, tag, _ := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	return tag
}

// TagHas reports whether an image's tag contains a version: v3.23-cuda contains 3.23, but 3.2, 13.23 and
// 3.23.1 do not.
func TagHas(image, version string) bool {
	return regexp.MustCompile(`(^|[^0-9.])` + regexp.QuoteMeta(version) + `($|[^0-9.])`).MatchString(Tag(image))
}
