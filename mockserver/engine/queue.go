package engine

import "slices"

// A queue holds the waiting sequences in the order of their priorities. Of each priority, the preempted
// sequences are first, then the others in the order of arrival.
type queue struct {
	all  []*Sequence
	head int // all[head] is the first sequence
}

func (q *queue) len() int { return len(q.all) - q.head }

func (q *queue) first() *Sequence { return q.all[q.head] }

// push adds a sequence after the others of its priority.
func (q *queue) push(s *Sequence) {
	at := len(q.all)
	for at > q.head && q.all[at-1].Job.Priority > s.Job.Priority {
		at--
	}
	q.all = slices.Insert(q.all, at, s)
}

// pushFront adds a sequence before the others of its priority.
func (q *queue) pushFront(s *Sequence) {
	at := q.head
	for at < len(q.all) && q.all[at].Job.Priority < s.Job.Priority {
		at++
	}
	if at == q.head && q.head > 0 {
		q.head--
		q.all[q.head] = s
		return
	}
	q.all = slices.Insert(q.all, at, s)
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
