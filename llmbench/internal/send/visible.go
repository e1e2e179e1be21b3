package send

import (
	"unicode"
	"unicode/utf8"
)

// visible reports whether a user sees something of a text: whether one of its characters is neither white
// space nor invisible.
func visible(text []byte) bool {
	for len(text) > 0 {
		c, n := utf8.DecodeRune(text)
		if unicode.IsGraphic(c) && !unicode.IsSpace(c) && !unicode.In(c, blank...) {
			return true
		}
		text = text[n:]
	}
	return false
}

// blank has the graphic characters that leave nothing to see. Unicode calls most of them default ignorable
// (https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point): fillers and variation selectors.
// Zero-width characters, byte order marks and controls are not graphic.
var blank = []*unicode.RangeTable{
	unicode.Zs,
	unicode.Other_Default_Ignorable_Code_Point,
	unicode.Variation_Selector,
	{R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}}}, // the Braille pattern without dots
}
