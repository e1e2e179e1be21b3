package sample

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// ShedHint returns a text that says how to count failed requests as shed, if some of them have a status with
// which a server or a gateway may refuse requests because of its load: a status of 500 or more, 408, or 420. It
// returns "" if none has. A queue or a limit of a proxy often answers 503 without Retry-After.
func ShedHint(samples iter.Seq[*Sample]) string {
	var statuses []int
	for s := range samples {
		if s.Outcome == HTTP && (s.Status >= 500 || s.Status == 408 || s.Status == 420) && !slices.Contains(statuses, s.Status) {
			statuses = append(statuses, s.Status)
		}
	}
	if len(statuses) == 0 {
		return ""
	}
	slices.Sort(statuses)
	all := slices.Clone(statuses)
	for _, usual := range []int{429, 503, 529} {
		if !slices.Contains(all, usual) {
			all = append(all, usual)
		}
	}
	slices.Sort(all)
	list := func(statuses []int, between string) string {
		var texts []string
		for _, status := range statuses {
			texts = append(texts, strconv.Itoa(status))
		}
		return strings.Join(texts, between)
	}
	return fmt.Sprintf("if the server, or a gateway, refuses requests with status %s because of its load: LLMBENCH_SHED_STATUS=%s", list(statuses, " and "), list(all, ","))
}
