package sample

import (
	"fmt"
	"time"
)

// Check returns an error if the sample contradicts itself. It does not compare Wrote with the instants of
// the answer: one goroutine writes and another reads, so the writer may notice the end of the write only
// after the answer has been read.
func (s *Sample) Check() error {
	var gaps time.Duration
	negative := false
	for _, g := range s.Gaps {
		gaps += g
		negative = negative || g < 0
	}
	switch {
	case s.Deltas > 0 && len(s.Gaps) != s.Deltas-1:
		return fmt.Errorf("%d gaps between %d deltas", len(s.Gaps), s.Deltas)
	case negative:
		return fmt.Errorf("gaps %v: want none below 0", s.Gaps)
	case s.Deltas > 0 && gaps != s.Last-s.First:
		return fmt.Errorf("gaps add up to %v, and the last delta came %v after the first", gaps, s.Last-s.First)
	case s.Start < s.Admitted || s.Scheduled && s.Admitted < max(s.Due, s.Granted):
		return fmt.Errorf("due %v, granted %v, admitted %v, sent %v: want them in this order", s.Due, s.Granted, s.Admitted, s.Start)
	case s.Deltas > 0 && (s.Last < s.First || s.First < s.Start-ClockError):
		return fmt.Errorf("sent %v, first delta %v, last %v: want them in this order", s.Start, s.First, s.Last)
	case s.Deltas > 0 && s.FirstByte > max(1, s.First): // FirstByte is 0 if no byte came
		return fmt.Errorf("first byte %v, first delta %v: want them in this order", s.FirstByte, s.First)
	case s.FirstByte > 0 && s.FirstByte < s.Start-ClockError:
		return fmt.Errorf("sent %v, first byte %v: want them in this order", s.Start, s.FirstByte)
	case s.Outputs > s.Deltas || s.Outputs > 0 && (s.FirstOutput < s.First || s.FirstOutput > s.Last):
		return fmt.Errorf("%d of %d deltas have more than reasoning, the first at %v: want it between %v and %v", s.Outputs, s.Deltas, s.FirstOutput, s.First, s.Last)
	case s.Blank < 0 || s.Blank >= max(1, s.Deltas):
		return fmt.Errorf("%d blank deltas before the first of %d deltas with something to see", s.Blank, s.Deltas)
	case s.Cut > s.Deltas:
		return fmt.Errorf("%d of %d deltas were cut", s.Cut, s.Deltas)
	case s.Lags != nil && len(s.Lags) != s.Deltas:
		return fmt.Errorf("%d read lags for %d deltas", len(s.Lags), s.Deltas)
	case s.SentBy != 0 && s.SentBy < s.Start:
		return fmt.Errorf("sent %v, and by %v at the latest: want them in this order", s.Start, s.SentBy)
	case s.CheckMerged() != nil:
		return s.CheckMerged()
	case s.Outcome == OK && (s.End < s.Last || s.End < s.Start-ClockError):
		return fmt.Errorf("ended at %v, before its last delta at %v", s.End, s.Last)
	}
	return nil
}

// CheckMerged returns an error if Merged contradicts the number of deltas.
func (s *Sample) CheckMerged() error {
	next := 0
	for _, m := range s.Merged {
		if m.Delta < next || m.Deltas < 1 || m.Deltas > s.Deltas-m.Delta {
			return fmt.Errorf("%d merged deltas from delta %d: want them in order, and among the %d deltas", m.Deltas, m.Delta, s.Deltas)
		}
		next = m.Delta + m.Deltas
	}
	return nil
}
