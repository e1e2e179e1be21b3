// Package chart draws figures: panels with axes, lines, bars and lanes. It knows nothing of
// benchmarks.
//
// A [Chart] is written as an SVG or PNG file, as CSV, or as a part of an HTML page. In a page
// each panel is an SVG of its own, so that panels stand in one column in a narrow window.
// Colours are CSS variables there, which a dark page sets to other values. [Style] and [Script]
// belong to such a page: the script shows the value under the pointer, switches series and
// axes, and saves pictures and data. Without the script the page shows the same pictures.
//
// Texts are measured in the font Liberation Sans and written with the width that was measured,
// so that they keep within their places in other fonts too.
package chart
