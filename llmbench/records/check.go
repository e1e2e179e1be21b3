package records

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// longest is a limit for instants, in nanoseconds. No pass takes so long. It is far below the largest
// int64, so that sums of instants do not overflow.
const longest = 30 * 24 * time.Hour

// check returns an error if the request contradicts itself.
func (q *Request) check() error {
	for _, check := range []func() error{q.checkRange, q.checkSend, q.checkText, q.checkChoices, q.checkEvents, q.checkGaps, q.checkMerged} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkRange checks each instant separately. Instants of the answer may be on the kernel's clock, and so a
// little before the pass; see [sample.ClockError].
func (q *Request) checkRange() error {
	if err := checkInstants(0, q.Due, q.Admitted, q.Start, q.Connect, q.Wrote, q.FirstByte, q.LastEvent, q.Done); err != nil {
		return err
	}
	return checkInstants(-sample.ClockError, q.First, q.Last, q.End, q.Choices.First, q.Choices.Last)
}

// checkInstants returns an error if an instant is before least or after longest.
func checkInstants(least time.Duration, instants ...time.Duration) error {
	for _, d := range instants {
		switch {
		case d < least:
			return fmt.Errorf("an instant of %d ns: want none before the pass", d)
		case d > longest:
			return fmt.Errorf("an instant of %d ns: want none after %v", d, longest)
		}
	}
	return nil
}

// earliest returns the earliest instant of the answer that does not contradict the send. The instant of the
// send is on the client's clock, but the instants of the answer may be on the kernel's.
func (q *Request) earliest() time.Duration { return q.Start - sample.ClockError }

// checkSend checks the order of the client's steps.
func (q *Request) checkSend() error {
	switch {
	case q.Start < q.Due:
		return fmt.Errorf("start_ns %d before due_ns %d", q.Start, q.Due)
	case q.Granted > q.Start || q.Granted < 0:
		return fmt.Errorf("granted_ns %d: want 0 to start_ns %d", q.Granted, q.Start)
	case q.Admitted > q.Start:
		return fmt.Errorf("admitted_ns %d after start_ns %d", q.Admitted, q.Start)
	case q.Clock != "" && q.Clock != sample.KernelClock && q.Clock != sample.UserClock:
		return fmt.Errorf("clock %.100q: not one that llmbench writes", q.Clock)
	case q.End < q.earliest():
		return fmt.Errorf("end_ns %d before start_ns %d", q.End, q.Start)
	}
	return nil
}

// checkText checks the deltas and their instants.
func (q *Request) checkText() error {
	switch {
	case q.Deltas == 0 && q.Last != 0 || q.Deltas > 0 && q.Last == 0 && q.First != 0:
		return errors.New("one of first_ns and last_ns: want both or none")
	case q.Deltas == 0 && q.gaps.len() > 0:
		return errors.New("gaps_ns without first_ns: want none")
	case q.Deltas > 0 && (q.First < q.earliest() || q.Last > q.End || q.Last < q.First):
		return fmt.Errorf("first_ns %d and last_ns %d: want them in this order between start_ns %d and end_ns %d", q.First, q.Last, q.Start, q.End)
	case q.Blank < 0 || q.Blank >= max(1, q.Deltas):
		return fmt.Errorf("blank %d: want less than the number of deltas, %d", q.Blank, q.Deltas)
	case q.Cut > q.Deltas:
		return fmt.Errorf("cut %d: want it among the %d deltas", q.Cut, q.Deltas)
	case len(q.DeltaTokens) > 0 && (len(q.DeltaTokens) != int(q.Deltas) || slices.Min(q.DeltaTokens) < 0):
		return fmt.Errorf("delta_tokens has %d elements: want one for each of %d deltas, none negative", len(q.DeltaTokens), q.Deltas)
	case q.Outputs > 0 && (q.FirstOutput < q.First || q.FirstOutput > q.Last):
		return fmt.Errorf("first_output_ns %d: want it between first_ns %d and last_ns %d", q.FirstOutput, q.First, q.Last)
	}
	return nil
}

// checkChoices checks the events with a choice.
func (q *Request) checkChoices() error {
	without := q.Choices.Before + q.Choices.Amid + q.Choices.After // events without text
	switch {
	case (q.Choices.First == 0) != (q.Choices.Last == 0) || q.Choices.First == 0 && without > 0:
		return fmt.Errorf("choices: %d events without text, first_ns %d and last_ns %d: want both instants, or nothing", without, q.Choices.First, q.Choices.Last)
	case !q.during(q.Choices.First) || !q.during(q.Choices.Last) || q.Choices.Last < q.Choices.First:
		return fmt.Errorf("choices: first_ns %d and last_ns %d: want them in this order between start_ns %d and end_ns %d", q.Choices.First, q.Choices.Last, q.Start, q.End)
	case q.Deltas > 0 && q.Choices.First > 0 && (q.Choices.First > q.First || q.Choices.Last < q.Last):
		return fmt.Errorf("choices: first_ns %d and last_ns %d: want first_ns %d and last_ns %d of the text between them", q.Choices.First, q.Choices.Last, q.First, q.Last)
	}
	return nil
}

// checkEvents checks the last event and the end marker of a stream.
func (q *Request) checkEvents() error {
	switch {
	case !q.during(q.LastEvent) || !q.during(q.Done):
		return fmt.Errorf("last_event_ns %d and done_ns %d: want them between start_ns %d and end_ns %d", q.LastEvent, q.Done, q.Start, q.End)
	case q.LastEvent != 0 && q.LastEvent < q.Choices.Last:
		return fmt.Errorf("last_event_ns %d before the last choice, %d", q.LastEvent, q.Choices.Last)
	case q.Done != 0 && q.Done < max(q.Last, q.Choices.Last, q.LastEvent):
		return fmt.Errorf("done_ns %d before another event, %d: want none after the end marker", q.Done, max(q.Last, q.Choices.Last, q.LastEvent))
	}
	return nil
}

// checkGaps checks the gaps and the read lags.
func (q *Request) checkGaps() error {
	switch {
	case q.lags.len() > 0 && q.lags.len() != int(q.Deltas):
		return fmt.Errorf("read_lags_ns has %d elements: want one for each of %d deltas", q.lags.len(), q.Deltas)
	case q.gaps.most() > longest || q.lags.most() > longest:
		return fmt.Errorf("gaps_ns or read_lags_ns: %d ns: want at most %v", max(q.gaps.most(), q.lags.most()), longest)
	case q.Deltas > 0 && q.gaps.sum() != int64(q.Last-q.First):
		return fmt.Errorf("gaps_ns add up to %d: want last_ns - first_ns, %d", q.gaps.sum(), q.Last-q.First)
	}
	return nil
}

// checkMerged checks the fields that bound an instant: merged and sent_by_ns.
func (q *Request) checkMerged() error {
	for _, m := range q.Merged {
		if m.Since > q.Last {
			return fmt.Errorf("merged: deltas since %d: want at most last_ns, %d", m.Since, q.Last)
		}
	}
	if q.SentBy != 0 && (q.SentBy < q.Start || q.SentBy > longest) {
		return fmt.Errorf("sent_by_ns %d: want it after start_ns %d", q.SentBy, q.Start)
	}
	s := q.sample()
	return s.CheckMerged()
}

// during reports whether an event of the answer, at time d, came after the request was sent and before the
// request ended. If d is 0, there was no such event, and during returns true.
func (q *Request) during(d time.Duration) bool {
	return d == 0 || d >= q.earliest() && d <= q.End
}
