package mockserver

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestSpelling checks that the shapes dumps and twice change the spelling of JSON but not its content.
func TestSpelling(t *testing.T) {
	for _, d := range dialectCases {
		body := strings.Replace(d.body, "%d", "4", 1)
		plain := call(mustNew(t, Config{Flavor: d.flavor, Shape: shaped(t, "unicode")}), "POST", d.path, body).Body.String()
		for _, shape := range []string{"dumps", "twice", "dumps,twice"} {
			got := call(mustNew(t, Config{Flavor: d.flavor, Shape: shaped(t, "unicode,"+shape)}), "POST", d.path, body).Body.String()
			if got == plain && !strings.Contains(d.name, "vllm") { // two of the vllm dialects have no key to write twice
				t.Errorf("%s with %s is the same as without", d.name, shape)
			}
			a, b := documents(t, plain, d.lines, d.stream), documents(t, got, d.lines, d.stream)
			for i := range a {
				for _, doc := range []map[string]any{a[i], b[i]} {
					response, _ := doc["response"].(map[string]any)          // nil in most dialects
					for _, name := range []string{"created_at", "created"} { // the time of day
						delete(doc, name)
						delete(response, name)
					}
				}
			}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s with %s has %v, want %v", d.name, shape, b, a)
			}
			binary := d.lines == "messages" || d.lines == "chunks"
			if shape == "dumps" && !binary && strings.ContainsFunc(got, func(r rune) bool { return r >= utf8.RuneSelf }) {
				t.Errorf("%s with %s has characters outside ASCII: %s", d.name, shape, got)
			}
		}
	}
}
