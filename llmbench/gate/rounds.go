package gate

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
)

// RoundLine returns a line that precedes the sample of a round, counted from 1, in a file whose samples are pairs. first
// says that the sample was taken before the other one of the round. [Compare] judges two files with such lines as pairs,
// so that it says the same about samples of benchgate ab as benchgate ab itself.
func RoundLine(round int, first bool) string {
	turn := "second"
	if first {
		turn = "first"
	}
	return fmt.Sprintf("# benchgate: round %d, taken %s\n", round, turn)
}

// roundLine matches the lines of RoundLine, without their line ends.
var roundLine = regexp.MustCompile(`(?m)^# benchgate: round (\d+), taken (first|second)\r?$`)

// A round is what a line of RoundLine says.
type round struct {
	number int
	first  bool
}

// rounds returns what the lines of RoundLine in a file say, in order.
func (f *results) rounds() (all []round) {
	if !bytes.Contains(f.data, []byte("# benchgate: round ")) {
		return nil
	}
	for _, m := range roundLine.FindAllSubmatch(f.data, -1) {
		n, _ := strconv.Atoi(string(m[1])) // 0 if too large: no round has that number
		all = append(all, round{n, string(m[2]) == "first"})
	}
	return all
}

// newFirst returns Options.NewFirst as the lines of RoundLine in both files say, or nil if the files are no pairs: if
// their rounds differ, or if a benchmark has results that are of no round.
func newFirst(old, new *results) (order []bool) {
	was, is := old.rounds(), new.rounds()
	if len(was) != len(is) {
		return nil
	}
	for i, r := range is {
		if was[i] != (round{i + 1, !r.first}) || r.number != i+1 {
			return nil
		}
		order = append(order, r.first)
	}
	for _, f := range []*results{old, new} {
		for _, s := range f.rows {
			if s.n > len(order) {
				return nil
			}
		}
	}
	return order
}
