package judge

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// TestCompareTexts checks how a server's counts of requests with texts to embed or rank are compared: 16 requests of
// three texts each, with 30 tokens.
func TestCompareTexts(t *testing.T) {
	one := sample.Sample{Outcome: sample.OK, TokenSource: sample.NoOutput, Inputs: 3, PromptTokens: 30}
	again, failed := one, one
	again.Resent = 1
	failed.Outcome = sample.HTTP
	sixteen := func(last sample.Sample) []sample.Sample {
		var all []sample.Sample
		for range 15 {
			all = append(all, one)
		}
		return append(all, last)
	}
	const others = "the server also served other clients"
	for _, c := range []struct {
		name   string
		last   sample.Sample
		server Counts
		text   string // a part of the text; "" means that there must be none
		fewer  bool
	}{
		{"requests", one, Counts{16, 480, 0, false, false}, "", false},
		{"texts, as vLLM", one, Counts{48, 480, 0, false, false}, "", false},
		{"texts and queries", one, Counts{64, 480, 0, false, false}, "", false},
		{"nothing, as a simulator", one, Counts{0, 0, 0, false, false}, "", true},
		{"no tokens", one, Counts{16, 0, 0, false, false}, "", true},
		{"tokens alone", one, Counts{0, 480, 0, false, false}, "", true},
		{"unknown", one, Unknown, "", false},
		{"some texts so far", one, Counts{33, 480, 0, false, false}, "", true},
		{"some requests", one, Counts{12, 480, 0, false, false}, "the server counted 12 requests, and the client 16", true},
		{"other clients", one, Counts{65, 480, 0, false, false}, "the server counted 65 requests, and the client sent 16 with 48 texts: cannot tell whether the counts agree, because " + others, false},
		{"tokens of other clients", one, Counts{48, 490, 0, false, false}, "the server counted 490 prompt tokens, and its answers report 480", false},
		{"sent again", again, Counts{51, 480, 0, false, false}, "", false},
		{"sent again, and other clients", again, Counts{69, 480, 0, false, false}, "the client sent 17 with 51 texts", false},
		{"a failure", failed, Counts{45, 450, 0, false, false}, "", false},
		{"a mock that counts requests", one, Counts{16, 480, 0, true, true}, "", false},
		{"a mock that counts too few", one, Counts{15, 480, 0, true, true}, "the server counted 15 requests, and the client 16", true},
	} {
		d := CountOwn(sample.All(sixteen(c.last)...)).Compare(c.server)
		assert.Equal(t, d.Text == "", c.text == "", "%s: %q", c.name, d.Text)
		assert.Assert(t, strings.Contains(d.Text, c.text), "%s: %q", c.name, d.Text)
		assert.Equal(t, d.Fewer, c.fewer, c.name)
	}
}
