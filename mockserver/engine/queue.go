package engine

import "slices"

// A queue holds the waiting sequences: first the preempted sequences, then the others in
// the order of arrival.
type queue struct {
	all  []*Sequence
	head int // all[head] is the first sequence
}

func (q *queue) len() int { return len(q.all) - q.head }

func (q *queue) first() *Sequence { return q.all[q.head] }

func (q *queue) push(s *Sequence) { q.all = append(q.all, s) }

func (q *queue) pushFront(s *Sequence) {
	if q.head == 0 {
		q.all = slices.Insert(q.all, 0, s)
		return
	}
	q.head--
	q.all[q.head] = s
}

func (q *queue) pop() *Sequence {
	s := q.all[q.head]
	q.all[q.head] = nil
	q.head++
	if q.head > len(q.all)/2 { // so on average each pop moves at most one sequence
		q.all = slices.Delete(q.all, 0, q.head)
		q.head = 0
	}
	return s
}

func (q *queue) remove(s *Sequence) { q.all = without(q.all, s) }

// without removes a sequence from a list that has it.
func without(list []*Sequence, s *Sequence) []*Sequence {
	i := slices.Index(list, s)
	return slices.Delete(list, i, i+1)
}
