package history

import (
	"fmt"

	"github.com/seed-2b9cec6d/llmbench/llmbench/internal/history/internal/watch"
)

// Check judges the newest run of each machine against the machine's earlier runs. A machine counts if it has a run in
// the seven days before the newest run of all. Reruns are not judged. The runs come from [Reader.ReadAll]. Check
// returns an error only for wrong options and wrong Unit lines; if a run cannot be judged, its report says why.
//
// The report is about the machine that ran last. It has the reports about the other machines, and its verdict and
// summary are about all of them.
func (r *Reader) Check(runs []*Run, o CheckOptions) (*Report, error) {
	all, err := r.checkers(runs, o)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		c.replay(func(int, []watch.Value, watch.Result) {})
	}
	return join(all), nil
}

// replay judges each night after the nights before it, and passes each of them to see. The last night's report is in
// c.report.
func (c *checker) replay(see func(night int, values []watch.Value, result watch.Result)) {
	for night, run := range c.nights {
		c.report = newReport(run, c.options)
		c.report.shared = common(c.names)
		values := c.values(night)
		result := c.watch.Night(values)
		c.explain(night, result)
		if night == len(c.nights)-1 {
			c.finish(night, result)
		}
		see(night, values, result)
	}
	if c.wrong != nil {
		c.report.Verdict, c.report.Summary = CannotJudge, fmt.Sprintf("%s: %v", CannotJudge, c.wrong)
	}
}
