// Package chart draws charts: panels with axes, lines, bars and lanes. It knows nothing about
// benchmarks.
//
// A [Chart] is written as an SVG or PNG file, as CSV, or as a part of an HTML page. In a page each
// panel is a separate SVG. So the panels can be in a single column if the window is narrow. Their
// colours are CSS variables, to which a dark page gives other values. [Style] and [Script] belong
// to such a page. The script shows the value under the pointer, switches series and axes, and saves
// pictures and data. Without the script the page shows the same pictures.
//
// Texts are measured in the font Liberation Sans, and are drawn with the width that was measured.
// So they stay in their places in other fonts too.
package chart
