package judge

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/numbers"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A kind groups failures that may have the same reason.
type kind struct {
	outcome sample.Outcome
	status  int
}

func kindOf(s *sample.Sample) kind { return kind{s.Outcome, s.Status} }

// An example is a failure that is shown.
type example struct {
	kind kind
	text string
}

// cuts has the failures that a timeout between the client and the server may have caused, by kind.
type cuts struct {
	all  map[kind][]cut
	gone time.Duration // when the first request was sent that found no server, in its pass; 0 if none was
}

// A cut says when a request ended that something cut off.
type cut struct {
	after time.Duration // from the send
	quiet time.Duration // from the last delta, or -1 if a pause of this length is nothing unusual in the answer
	end   time.Duration // in its pass
}

// shortest is the shortest time that is taken for a timeout. Two times are about the same if they differ by at
// most alike, or by at most alikeShare of the longer one.
const (
	shortest   = 100 * time.Millisecond
	alike      = 10 * time.Millisecond
	alikeShare = 0.03
)

// cuttable reports whether something between the client and the server may have ended the request: it ended
// after it was sent, and neither by a deadline of the client nor with an answer that says that it is wrong.
func cuttable(s *sample.Sample) bool {
	switch s.Outcome {
	case sample.Truncated, sample.ServerError:
		return true
	case sample.Connect:
		return s.Wrote > 0
	case sample.HTTP:
		return s.Status >= 500 || s.Status == 408
	}
	return false
}

// add adds a failure.
func (c *cuts) add(s *sample.Sample) {
	if s.Outcome == sample.Connect && s.Wrote == 0 && (c.gone == 0 || s.Start < c.gone) {
		c.gone = max(1, s.Start)
	}
	if !cuttable(s) {
		return
	}
	one := cut{after: s.End - s.Start, quiet: -1, end: s.End}
	if s.Deltas > 0 {
		one.quiet = s.End - s.Last
		if len(s.Gaps) > 0 && one.quiet < 2*slices.Max(s.Gaps) {
			one.quiet = -1
		}
	}
	if c.all == nil {
		c.all = map[kind][]cut{}
	}
	c.all[kindOf(s)] = append(c.all[kindOf(s)], one)
}

// cutAt says when an answer ended that was not complete, or returns "".
func cutAt(s *sample.Sample) string {
	if s.Outcome != sample.Truncated && s.Outcome != sample.ServerError || s.Deltas == 0 {
		return ""
	}
	return fmt.Sprintf(" after %s and %s", seconds(s.End-s.Start), numbers.Count(s.Deltas, "delta"))
}

// explain joins the examples. After the first example of a kind whose failures came at about the same time after
// their sends, or after their last deltas, it says so, if no successful request shows that nothing ends
// requests then.
func (c *cuts) explain(shown []example, samples iter.Seq[*sample.Sample]) string {
	var b strings.Builder
	told := map[kind]bool{}
	for _, e := range shown {
		b.WriteString(e.text)
		if all := c.all[e.kind]; !told[e.kind] && len(all) > 1 {
			told[e.kind] = true
			b.WriteString(c.together(all, samples))
		}
	}
	return b.String()
}

// together says that the failures in all came at about the same time, or returns "".
func (c *cuts) together(all []cut, samples iter.Seq[*sample.Sample]) string {
	quiet := cluster(all, func(f cut) time.Duration { return f.quiet })
	total := cluster(all, func(f cut) time.Duration { return f.after })
	longest, silence := survivors(samples)
	switch {
	case c.serverGone(all):
	case len(quiet) > 0 && !beyond(silence, quiet):
		return fmt.Sprintf("; %s after the last delta: an idle timeout of something between?", span(quiet, len(all), ""))
	case len(total) > 0 && !beyond(longest, total):
		return fmt.Sprintf("; %s: a timeout of something between?", span(total, len(all), "after "))
	}
	return ""
}

// serverGone reports whether all failures came at one instant, and later requests found no server: the server
// has then ended, and its connections with it.
func (c *cuts) serverGone(all []cut) bool {
	ends := cluster(all, func(f cut) time.Duration { return f.end })
	return c.gone > 0 && len(ends) > 0 && c.gone >= ends[0]-alike
}

// cluster returns, sorted, the largest group of times that are about the same, if more than half of all failures
// are in it. Times below shortest do not count.
func cluster(all []cut, of func(cut) time.Duration) (most []time.Duration) {
	var times []time.Duration
	for _, f := range all {
		if t := of(f); t >= shortest {
			times = append(times, t)
		}
	}
	slices.Sort(times)
	first := 0
	for i, t := range times {
		for t-times[first] > slack(t) {
			first++
		}
		if i+1-first > len(most) {
			most = times[first : i+1]
		}
	}
	if len(most) < 2 || 2*len(most) <= len(all) {
		return nil
	}
	return most
}

// slack returns by how much a shorter time may differ from t to be about the same.
func slack(t time.Duration) time.Duration {
	return max(alike, time.Duration(alikeShare*float64(t)))
}

// beyond reports whether t is clearly longer than the times of a group.
func beyond(t time.Duration, group []time.Duration) bool {
	last := group[len(group)-1]
	return t > last+slack(last)
}

// survivors returns the longest time of a successful request, and the longest time in which one had no delta.
func survivors(samples iter.Seq[*sample.Sample]) (longest, silence time.Duration) {
	for s := range samples {
		if s.Outcome != sample.OK {
			continue
		}
		longest = max(longest, s.End-s.Start)
		if s.Deltas > 0 {
			silence = max(silence, s.First-s.Start, s.End-s.Last)
		}
		for _, gap := range s.Gaps {
			silence = max(silence, gap)
		}
	}
	return longest, silence
}

// span formats a group of times, such as "all four between 2.00 and 2.01 s". The argument at is for times that
// are all the same when they are rounded: "all four after 2.00 s".
func span(group []time.Duration, all int, at string) string {
	who := fmt.Sprintf("%d of %d", len(group), all)
	if len(group) == all {
		who = "all " + inWords(all)
		if all == 2 {
			who = "both"
		}
	}
	from, to := seconds(group[0]), seconds(group[len(group)-1])
	if from == to {
		return fmt.Sprintf("%s %s%s", who, at, from)
	}
	return fmt.Sprintf("%s between %s and %s", who, strings.TrimSuffix(from, " s"), to)
}

// seconds formats a time in seconds, with two decimal places or, below one second, three.
func seconds(t time.Duration) string {
	if t < time.Second {
		return fmt.Sprintf("%.3f s", t.Seconds())
	}
	return fmt.Sprintf("%.2f s", t.Seconds())
}

// inWords returns a number up to ten as a word.
func inWords(n int) string {
	words := []string{"three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if n >= 3 && n-3 < len(words) {
		return words[n-3]
	}
	return fmt.Sprint(n)
}
