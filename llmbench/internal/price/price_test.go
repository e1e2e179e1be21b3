package price

import (
	"math"
	"testing"

	"gotest.tools/v3/assert"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]float64{"2.49/h": 2.49, " 1e-3/h": 0.001, "30/h": 30} {
		got, err := Parse(text)
		assert.NilError(t, err)
		assert.Equal(t, got, want)
	}
	for _, text := range []string{"", "/h", "2.49", "2.49/d", "0/h", "-1/h", "NaN/h", "Inf/h", "2,49/h", "$2/h"} {
		_, err := Parse(text)
		assert.ErrorContains(t, err, ": want a price of an hour of the server, such as 2.49/h", "%q", text)
	}
}

// TestMillion checks a server that makes a million tokens in an hour, and servers that make none.
func TestMillion(t *testing.T) {
	for _, c := range []struct {
		hour, rate, want float64
		ok               bool
	}{{2.5, 1e6 / 3600., 2.5, true}, {3.6, 1000, 1, true}, {1, 0, 0, false}, {1, -1, 0, false}, {1, math.NaN(), 0, false}, {1e300, 1e-300, 0, false}} {
		got, ok := Million(c.hour, c.rate)
		assert.Equal(t, ok, c.ok, "%v", c)
		assert.Assert(t, !ok || got == c.want, "%v: %v", c, got)
	}
}
