package report

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// luminance returns the relative luminance of a colour such as #ffffff
// (https://www.w3.org/TR/WCAG22/#dfn-relative-luminance).
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		assert.NilError(t, err, hex)
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// TestContrast checks contrasts in both themes. Texts must have at least 4.5 to what is behind
// them, and lines at least 3, as WCAG 2.2 requires for level AA.
func TestContrast(t *testing.T) {
	themes := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(pageStyle, -1)
	assert.Equal(t, len(themes), 2, "a light and a dark theme")
	for i, theme := range themes {
		colors := map[string]string{}
		for _, m := range regexp.MustCompile(`--(\w+): (#[0-9a-f]{6});`).FindAllStringSubmatch(theme[1], -1) {
			colors[m[1]] = m[2]
		}
		check := func(front, back string, least float64) {
			a, b := luminance(t, colors[front]), luminance(t, colors[back])
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < least {
				t.Errorf("theme %d: %s %s on %s %s has a contrast of %.2f, want at least %v", i, front, colors[front], back, colors[back], ratio, least)
			}
		}
		for _, text := range []string{"ink", "soft", "link"} {
			check(text, "paper", 4.5)
			check(text, "shade", 4.5)
		}
		check("ink", "warn", 4.5)
		check("edge", "paper", 3)
		n := 0
		for ; colors[fmt.Sprint("c", n+1)] != ""; n++ {
			check(fmt.Sprint("c", n+1), "paper", 3)
		}
		assert.Equal(t, n, 6)
	}
}

// TestColors checks that a light page shows pictures in the same colours as SVG files.
func TestColors(t *testing.T) {
	r, page := pageOf(t, Options{}, file(t, "a.txt", sweepFile()))
	var svg bytes.Buffer
	assert.NilError(t, r.Pictures[0].SVG(&svg))
	light := map[string]bool{}
	for _, m := range regexp.MustCompile(`--\w+: (#[0-9a-f]{6});`).FindAllStringSubmatch(strings.SplitAfter(pageStyle, "}")[0], -1) {
		light[m[1]] = true
	}
	for _, hex := range regexp.MustCompile(`#[0-9a-f]{6}`).FindAllString(svg.String(), -1) {
		assert.Assert(t, light[hex], "%s is no colour of the page", hex)
	}
	body := page[strings.Index(page, "<body>"):strings.LastIndex(page, "<script>")]
	found := regexp.MustCompile(`"#[0-9a-f]{6}"`).FindString(body)
	assert.Assert(t, found == "", "%s: a colour that a dark page cannot change", found)
}
