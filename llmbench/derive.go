package llmbench

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/process"
)

// Derive reports a metric of b that the caller has computed from the metrics of other results, for example from the
// rows of a sweep. The unit must be in the catalogue (see [RegisterUnits]) or in the Units of a load that was measured, and
// its Parts must name the units from which the metric was computed. The arguments withheld are the fields Withheld of these results. If one of them has one of the parts,
// Derive says so in one line instead, and reports the unit that says why, such as [sample.ClientBound]. Like [testing.B.ReportMetric], Derive must be called after the last call of b.Loop.
func Derive(b *testing.B, unit string, value float64, withheld ...map[string]error) {
	b.Helper()
	u := process.Unit(unit)
	if u.Parts == "" {
		b.Fatalf("derive %s: want a unit of the catalogue, or of a load, with parts", unit)
	}
	for _, of := range withheld {
		for part := range strings.FieldsSeq(u.Parts) {
			if why := of[part]; why != nil {
				for _, r := range reasons {
					if share := shareOf(why); share > 0 && errors.Is(why, r.err) {
						process.Report(b, share, r.why.Unit())
					}
				}
				process.Note(b, fmt.Sprintf("%s is withheld, because computed from %s, which is withheld: %v", unit, part, why))
				return
			}
		}
	}
	process.Report(b, value, unit)
}
