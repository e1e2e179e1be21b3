package metrics

// The units of times and of prompt tokens.
const (
	ttftUnit        = "srv-ttft-ns"
	itlUnit         = "srv-itl-ns"
	e2eUnit         = "srv-e2e-ns"
	prefillUnit     = "srv-prefill-tok/s"
	computedUnit    = "srv-computed-%"
	transferredUnit = "srv-transferred-%"
)

// times are the counters of how long requests took, and of how their prompts were computed. A counter that the server
// does not have is nil.
type times struct {
	ttftSum, ttftCount, itlSum, itlCount, e2eSum, e2eCount *float64
	prefillTime, prefillTokens                             *float64
	computed, reused, transferred                          *float64
}

func (t *times) counters() []**float64 {
	return []**float64{&t.ttftSum, &t.ttftCount, &t.itlSum, &t.itlCount, &t.e2eSum, &t.e2eCount, &t.prefillTime, &t.prefillTokens, &t.computed, &t.reused, &t.transferred}
}

func (n Names) times(all families) (t times) {
	t.ttftSum, t.ttftCount = all.sum(n.TTFT)
	t.itlSum, t.itlCount = all.sum(n.ITL)
	t.e2eSum, t.e2eCount = all.sum(n.E2E)
	t.prefillTime, _ = all.sum(n.PrefillTime)
	t.prefillTokens, _ = all.sum(n.PrefillTokens)
	t.computed, _ = all.sum(n.ComputedTokens)
	t.reused, _ = all.sum(n.ReusedTokens)
	t.transferred, _ = all.sum(n.TransferredTokens)
	return t
}

// figures adds the units of t to f. It omits a mean of 0, because benchstat puts a time of 0 in a separate table.
func (t times) figures(f map[string]float64) {
	for unit, of := range map[string][2]*float64{ttftUnit: {t.ttftSum, t.ttftCount}, itlUnit: {t.itlSum, t.itlCount}, e2eUnit: {t.e2eSum, t.e2eCount}} {
		if sum, count := valueOr0(of[0]), valueOr0(of[1]); sum > 0 && count > 0 {
			f[unit] = sum / count * 1e9
		}
	}
	if tokens, seconds := valueOr0(t.prefillTokens), valueOr0(t.prefillTime); tokens > 0 && seconds > 0 {
		f[prefillUnit] = tokens / seconds
	}
	computed, transferred := valueOr0(t.computed), valueOr0(t.transferred)
	if all := computed + valueOr0(t.reused) + transferred; all > 0 && t.computed != nil {
		f[computedUnit] = 100 * computed / all
		if t.transferred != nil {
			f[transferredUnit] = 100 * transferred / all
		}
	}
}

// A prefillRounding holds the possible rounding errors of the sums of the prefill's counters.
type prefillRounding struct{ tokens, time float64 }

// add adds the possible errors of the counters before and after a pass.
func (p *prefillRounding) add(n Names, readings ...times) {
	for _, t := range readings {
		p.tokens += n.rounding(valueOr0(t.prefillTokens))
		p.time += n.lastDigit(valueOr0(t.prefillTime))
	}
}

// tooLarge reports whether an error may be more than a thousandth of its sum.
func (p prefillRounding) tooLarge(sum times) bool {
	return p.tokens > valueOr0(sum.prefillTokens)/1000 || p.time > valueOr0(sum.prefillTime)/1000
}
