package redact

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestCells(t *testing.T) {
	for cell, want := range map[string]string{
		"": "", "text": "text", "a=b": "a=b", "'quoted": "'quoted", "\xff": "\xff", "-": "-",
		"-1.5": "-1.5", "+3": "+3", "1e-5": "1e-5", "-1.5E+10": "-1.5E+10", "+12.3 %": "+12.3 %", "-.5%": "-.5%", "+Inf": "+Inf", "-Inf": "-Inf",
		`=HYPERLINK("http://host")`: `'=HYPERLINK("http://host")`, "+cmd|' /C calc'!A0": "'+cmd|' /C calc'!A0", "-2+3+cmd": "'-2+3+cmd", "@SUM(A1)": "'@SUM(A1)",
		"\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1", "＝1+1": "'＝1+1", "-1e": "'-1e", "+1 ms": "'+1 ms", "--flag": "'--flag",
	} {
		assert.DeepEqual(t, Cells("a", cell), []string{"a", want})
	}
}
