package judge

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/prefix"
	"github.com/seed-2b9cec6d/llmbench/llmbench/records"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// manyRepeated is the share of repeated prompts above which a prefix cache matters.
const manyRepeated = 0.1

// Prompts describes the prompts of all passes.
type Prompts struct {
	All      int
	Repeated int  // prompts that begin like an earlier prompt of the process
	Uncached bool // the server is known to have no prefix cache
	Seen     bool // an earlier process may have sent the same prompts
	Control  bool // a control can measure whether repeated prompts are answered sooner
}

// StatedCache judges the prefix cache without a control: by the cached tokens in answers, by the server's
// counters, or by the prompts. It returns false if only a control can tell, because more than manyRepeated
// of the prompts repeat and the server reports nothing.
func StatedCache(p Prompts, metrics map[string]float64) (c *records.PrefixCache, ok bool) {
	c = &records.PrefixCache{Prompts: p.All, Repeated: p.Repeated}
	cached, byAnswers := metrics[sample.CachedShare]
	hits, byCounters := metrics[sample.ServerHitShare]
	switch {
	case byAnswers:
		c.By, c.Cached = records.CacheByAnswers, cached/100
	case byCounters:
		c.By, c.Cached = records.CacheByCounters, hits/100
	case float64(c.Repeated) > manyRepeated*float64(c.Prompts) && p.Control:
		if !p.Uncached {
			return c, false
		}
		c.By = records.CacheByCounters
	case c.Repeated > 0 || p.Seen:
		c.Verdict = records.CacheUnknown
		return c, true
	default:
		c.Verdict = records.CacheNew
		return c, true
	}
	if c.Verdict = records.CacheCold; 100*c.Cached > manyCached {
		c.Verdict = records.CacheWarm
	}
	return c, true
}

// ControlledCache sets the result of a control in c. If the cache is warm, it also sets the unit
// [sample.WarmCache] in metrics.
func ControlledCache(c *records.PrefixCache, pairs []prefix.Pair, metrics map[string]float64) {
	v := prefix.Judge(pairs)
	c.By, c.Pairs, c.Ratio = records.CacheByControl, v.Pairs, v.Ratio
	switch {
	case v.Warm:
		c.Verdict = records.CacheWarm
		metrics[sample.WarmCache] = 1
	case v.Cold:
		c.Verdict = records.CacheCold
	default:
		c.Verdict, c.By = records.CacheUnknown, ""
	}
}

// OnlyCommon reports whether the server says how much of the prompts it took from its cache, and the tokens that all
// prompts have in common explain it. The argument common is the number of these tokens.
func OnlyCommon(metrics map[string]float64, common int) bool {
	cached, known := metrics[sample.CachedShare]
	if !known {
		cached, known = metrics[sample.ServerHitShare]
	}
	length := metrics[sample.PromptLength]
	return known && length > 0 && cached <= manyCached+100*float64(common)/length
}

// CacheNotes returns notes about the prefix cache for the reader of the metrics. [Facts.Notes] has the note
// about cached tokens that answers report.
func CacheNotes(c *records.PrefixCache, metrics map[string]float64) []records.Note {
	units := firstTokens(metrics)
	n := records.Note{Kind: records.NoteCache, Units: units, Doubt: len(units) > 0}
	repeat := fmt.Sprintf("%d of %d prompts begin like an earlier one", c.Repeated, c.Prompts)
	pairs := fmt.Sprintf("in a control of %d pairs after the passes, the TTFT of prompts that were sent before was %.3g times that of new ones of the same words (median)", c.Pairs, c.Ratio)
	switch {
	case c.By == records.CacheByCounters && c.Verdict == records.CacheWarm:
		n.Text = fmt.Sprintf("by its own counters, the server took %.3g%% of the prompts' tokens from its prefix cache, which shortens the TTFT", 100*c.Cached)
	case c.By == records.CacheByControl && c.Verdict == records.CacheWarm:
		n.Text = fmt.Sprintf("the prefix cache is warm, which shortens the TTFT: %s, and %s", repeat, pairs)
	case c.By == records.CacheByControl:
		n.Doubt, n.Text = false, fmt.Sprintf("no prefix cache shortens the TTFT: %s, but %s", repeat, pairs)
	case c.Verdict == records.CacheUnknown && c.Pairs > 0:
		n.Text = fmt.Sprintf("cannot tell whether a prefix cache shortens the TTFT: %s, and %s, which is not conclusive", repeat, pairs)
	case c.Verdict == records.CacheUnknown && c.Repeated > 0 && float64(c.Repeated) > manyRepeated*float64(c.Prompts):
		n.Text = fmt.Sprintf("cannot tell whether a prefix cache shortens the TTFT: %s, and the server reports nothing", repeat)
	default:
		return nil
	}
	return []records.Note{n}
}
