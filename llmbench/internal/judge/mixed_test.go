package judge

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestMixedUp checks which lengths show that answers are mixed up.
func TestMixedUp(t *testing.T) {
	for _, c := range []struct {
		name string
		all  [][2]int // of each request, the output tokens that it allowed and got
		want string
	}{
		{"right", [][2]int{{8, 8}, {6, 6}, {8, 8}, {6, 6}}, ""},
		{"short", [][2]int{{8, 3}, {6, 3}, {8, 6}, {6, 6}}, ""},
		{"the end token counts", [][2]int{{8, 9}, {6, 7}, {7, 8}, {6, 7}}, ""},
		{"one length", [][2]int{{8, 8}, {8, 8}, {8, 8}}, ""},
		{"limits are ignored", [][2]int{{8, 20}, {6, 20}, {8, 20}, {6, 20}}, ""},
		{"all have the length of the longest", [][2]int{{8, 8}, {6, 8}, {8, 8}, {6, 8}}, ""},
		{"one answer", [][2]int{{8, 8}, {6, 8}, {8, 8}, {6, 6}}, ""},
		{"off by one", [][2]int{{8, 8}, {6, 8}, {8, 6}, {6, 8}}, "2 of 2 are longer"},
		{"off by one, many lengths", [][2]int{{8, 3}, {6, 8}, {9, 6}, {3, 9}}, "2 of 2 are longer"},
	} {
		var all []sample.Sample
		for i, lengths := range c.all {
			all = append(all, sample.Sample{Request: i, ID: "x", MaxTokens: lengths[0], OutputTokens: lengths[1]})
		}
		text := MixedUp(sample.All(all...))
		assert.Equal(t, text != "", c.want != "", "%s: %s", c.name, text)
		assert.Assert(t, strings.Contains(text, c.want), "%s: %s", c.name, text)
	}
}
