package conn

import "time"

// trialTime is how long the server must leave a connection open after an answer to count again as a server
// that keeps connections. It is much longer than soonAfterAnswer, because a request may fail if the server
// closes its connection at the same time.
const trialTime = time.Second

// unusable reports whether an idle connection must not be used again. If the server has closed the
// connection after an answer, unusable records this.
func (p *Pool) unusable(c *Conn) bool {
	unusable := c.unusable()
	if c.ended && c.used {
		p.noteEnd(time.Since(c.idleSince))
	}
	return unusable
}

// noteEnd records that the server closed a connection. The argument is the longest time that can have
// passed since the last answer.
func (p *Pool) noteEnd(afterAnswer time.Duration) {
	if afterAnswer <= soonAfterAnswer {
		p.ended.Add(1)
	}
}

// try handles an idle connection of a server that does not keep connections. Such a server may have closed
// the first connections for another reason, such as a restart, and may keep all others. So one connection
// at a time is on trial: it stays open without a request. If it is still open after trialTime, the server
// is assumed to keep connections. Until then, all other connections are closed.
func (p *Pool) try(c *Conn) {
	p.mu.Lock()
	trial := p.trial
	over := trial != nil && c.idleSince.Sub(trial.idleSince) > trialTime
	switch {
	case trial == nil:
		p.trial = c
	case over:
		p.trial = nil
	}
	p.mu.Unlock()
	switch {
	case trial == nil:
	case !over:
		c.stream.Close()
	case trial.unusable():
		trial.stream.Close()
		c.stream.Close()
	default:
		p.ended.Store(p.kept.Load())
		p.keep(trial)
		p.keep(c)
	}
}
