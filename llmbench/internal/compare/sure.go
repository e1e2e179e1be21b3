package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
)

// fresh is what the tests suppose.
const fresh = "if each run is a fresh start of the server"

// sure says how sure the differences are: as a sentence, and in words with a reason. The parameter family is the number
// of tests of the answer, where all tests of single loads count as one.
func (p *pair) sure(family int) (says string, sure Sure, why string) {
	ahead, even, behind := p.split()
	differ := append(ahead[:len(ahead):len(ahead)], behind...)
	var shown []int // the loads at which the difference is shown
	for i := range p.strata {
		if q := chanceOf(p.strata[i : i+1]); q*float64(family*len(p.strata)) <= significant && !slices.Contains(even, i) {
			shown = append(shown, i)
		}
	}
	least, most := p.runs()
	number := numbers.Count(most, "run")
	if least != most {
		number = fmt.Sprintf("%d to %s", least, numbers.Count(most, "sound run")) // of others some figures are in doubt
	}
	needed := p.needed(family)
	short := fmt.Sprintf("after %s of each: %d are needed", number, max(needed, Fewest))
	preliminary := ""
	if least < needed {
		preliminary = "preliminary " + short
	}
	agrees := p.agrees(len(ahead) - len(behind))
	overall := agrees && (len(behind) == 0 || len(ahead) == 0) && p.decides(family)
	switch {
	case len(differ) > 0 && len(shown) == len(differ) && len(p.strata) > 1:
		where := "at each load"
		if len(even) > 0 {
			where = p.where(shown)
		}
		return "More than chance " + where + ", " + fresh, Shown, where + ", after " + number + " of each"
	case overall && len(p.strata) == 1:
		return capital(p.pairs(family)) + " " + fresh, Shown, p.pairs(family)
	case overall:
		said := fmt.Sprintf("Over all loads more than chance (%s, if each run at each load is a fresh start)", p.pairs(family))
		if preliminary != "" {
			said += "; at each load " + preliminary
		}
		return said, Shown, "over all loads: " + p.pairs(family)
	case preliminary != "":
		return capital(preliminary), Preliminary, short
	case len(shown) > 0:
		return "More than chance " + p.where(shown) + ", " + fresh + "; elsewhere it may be chance", Partly, p.where(shown) + "; elsewhere it may be chance"
	case !agrees && p.decides(family):
		return "That may be chance; over all loads the runs say the opposite (" + p.pairs(family) + ")", Chance, "over all loads the runs say the opposite"
	}
	return "It may be chance: " + p.pairs(family), Chance, p.pairs(family)
}

// agrees reports whether most pairs of runs speak for the system that leads: the first one if lead is positive, the
// second one if lead is negative. If none leads, all pairs agree.
func (p *pair) agrees(lead int) bool {
	wins, pairs := ahead(p.strata)
	return p.sign*float64(lead)*(wins-pairs/2) >= 0
}

// decides reports whether the test of all loads together shows a difference. One run at each of many
// loads shows none, because the runs of one start are not independent.
func (p *pair) decides(family int) bool {
	q := chanceOf(p.strata)
	least, _ := p.runs()
	return len(p.strata) > 0 && least > 1 && q*float64(family) <= significant
}

// pairs says in how many pairs of runs the first system is ahead.
func (p *pair) pairs(family int) string {
	q := chanceOf(p.strata)
	wins, pairs := ahead(p.strata)
	if p.sign < 0 {
		wins = pairs - wins
	}
	said := fmt.Sprintf("p = %.2g", min(1, q*float64(family)))
	if q*float64(family) < 0.001 {
		said = "p < 0.001"
	}
	return fmt.Sprintf("ahead in %s of %s pairs of runs, %s", strings.TrimSuffix(fmt.Sprintf("%.1f", wins), ".0"), fmt.Sprint(pairs), said)
}

// runs returns the smallest and the largest number of runs of a system at a load.
func (p *pair) runs() (least, most int) {
	least = math.MaxInt
	for _, s := range p.strata {
		least, most = min(least, len(s.a), len(s.b)), max(most, len(s.a), len(s.b))
	}
	return least, most
}

// Fewest is the smallest number of runs of each system that readers are advised to make: as many as the gate wants of each
// side (gate.MinSamples of gate.DefaultAlpha), so that the same runs serve both.
const Fewest = 6

// needed returns with how many runs of each system the test of each load can show a difference.
func (p *pair) needed(family int) int {
	n := 2
	for 2/choose(2*n, n)*float64(family*len(p.strata)) > significant {
		n++
	}
	return n
}
