package benchdata

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// dagFormat is AIPerf's dag_jsonl (docs/benchmark-modes/dag.md in https://github.com/ai-dynamo/aiperf). A record is a conversation; a
// session is a conversation that no other one starts, with all that it starts. A conversation in forks goes on with the history of its
// parent, and nothing waits for it; unless it is in the background, its parent has no further turns. One in spawns begins afresh, and the turn join_at of its parent, by default the next one, waits for it. The
// rounds of an orchestrator, which sends nothing itself, wait for each other and then for think_time_ms. All records are held in memory.
var dagFormat = sessionFormat{
	name: "dag_jsonl", wants: "session_id, turns with messages, or orchestrator",
	is: func(first extra) bool {
		return first.has("session_id") && (first.has("orchestrator") || first.within("turns").has("messages"))
	},
	reader: func(r *sessionReader) sessionRecords {
		g := &dagFile{conversations: map[string]*dagConversation{}}
		return sessionRecords{add: func(v jsontext.Value) ([]recording, error) { return nil, g.add(r, v) }, end: g.sessions}
	},
}

type dagConversation struct {
	ID           string    `json:"session_id"`
	Turns        []dagTurn `json:"turns"`
	Orchestrator bool      `json:"orchestrator"`
	Spawns       []string  `json:"spawns"`
	Rounds       dagRounds `json:"rounds"`
	ThinkTimeMS  span      `json:"think_time_ms"`
	ContextMode  string    `json:"context_mode"`
	Before       []string  `json:"pre_session_spawns"`
	Extra        extra     `json:",embed"`
}

type dagTurn struct {
	Messages  []chatMessage `json:"messages"`
	MaxTokens tokenCount    `json:"max_tokens"`
	Forks     []dagFork     `json:"forks"`
	Spawns    []dagSpawn    `json:"spawns"`
	Delay     span          `json:"delay"` // milliseconds
	Extra     extra         `json:",embed"`
}

// A dagFork is a session_id, or an object.
type dagFork struct {
	Child      string `json:"child"`
	Background bool   `json:"background"`
	Extra      extra  `json:",embed"`
}

// UnmarshalJSON reads either form.
func (f *dagFork) UnmarshalJSON(v []byte) error {
	if jsontext.Value(v).Kind() == '"' {
		return decodeSession(v, &f.Child)
	}
	type plain dagFork
	return decodeSession(v, (*plain)(f))
}

// A dagSpawn is a session_id, or an object.
type dagSpawn struct {
	Children []string `json:"children"`
	JoinAt   *int     `json:"join_at"`
	Extra    extra    `json:",embed"`
}

// UnmarshalJSON reads either form.
func (s *dagSpawn) UnmarshalJSON(v []byte) error {
	if jsontext.Value(v).Kind() == '"' {
		s.Children = []string{""}
		return decodeSession(v, &s.Children[0])
	}
	type plain dagSpawn
	return decodeSession(v, (*plain)(s))
}

// dagRounds are a number of equal rounds, or a list.
type dagRounds struct {
	N   int
	All []dagRound
}

type dagRound struct {
	Spawns      []string `json:"spawns"`
	ThinkTimeMS *span    `json:"think_time_ms"`
	Extra       extra    `json:",embed"`
}

// UnmarshalJSON reads either form.
func (r *dagRounds) UnmarshalJSON(v []byte) error {
	if jsontext.Value(v).Kind() == '0' {
		return decodeSession(v, &r.N)
	}
	return decodeSession(v, &r.All)
}

// A dagFile has the conversations of a file.
type dagFile struct {
	order         []string
	conversations map[string]*dagConversation
}

// wholeConversations is the context_mode in which each turn has its whole conversation.
const wholeConversations = "message_array_with_responses"

func (g *dagFile) add(r *sessionReader, v jsontext.Value) error {
	c, err := decoded[dagConversation](r, v)
	switch {
	case err != nil:
		return err
	case c.ID == "" || g.conversations[c.ID] != nil:
		return fmt.Errorf(`"session_id" is %.40q: want a name that no other record has`, c.ID)
	case c.Orchestrator == (len(c.Turns) > 0):
		return fmt.Errorf(`%d "turns" and "orchestrator" %t: want turns, or an orchestrator without turns`, len(c.Turns), c.Orchestrator)
	case c.Orchestrator && len(c.children()) == 0:
		return fmt.Errorf(`"orchestrator" is true without "spawns": want the conversations that it starts`)
	case c.Rounds.N < 0 || c.Rounds.N > 1e6:
		return fmt.Errorf(`"rounds" is %d: want 1 to 1e6`, c.Rounds.N)
	}
	g.order = append(g.order, c.ID)
	g.conversations[c.ID] = &c
	return nil
}

// children returns the names of all conversations that c starts.
func (c *dagConversation) children() (all []string) {
	all = slices.Concat(c.Spawns, c.Before)
	for _, r := range c.Rounds.All {
		all = append(all, r.Spawns...)
	}
	for _, t := range c.Turns {
		for _, f := range t.Forks {
			all = append(all, f.Child)
		}
		for _, s := range t.Spawns {
			all = append(all, s.Children...)
		}
	}
	return all
}

// sessions returns the sessions of the file.
func (g *dagFile) sessions() (all []recording, err error) {
	started := map[string]bool{}
	for _, id := range g.order {
		for _, child := range g.conversations[id].children() {
			started[child] = true
		}
	}
	for _, id := range g.order {
		if started[id] {
			continue
		}
		p := &dagPlay{dagFile: g, recording: recording{id: id, at: -1}, path: map[string]bool{}}
		if _, err := p.conversation(id, nil, 0, false); err != nil {
			return nil, fmt.Errorf("session %q: %w", id, err)
		}
		all = append(all, p.recording)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("each of %d conversations is started by another one: want one that is not", len(g.order))
	}
	return all, nil
}

// A dagPlay makes the session of a conversation.
type dagPlay struct {
	*dagFile
	recording recording
	path      map[string]bool // the conversations that are being added, each started by another one
	waits     int             // number of turns for which turns wait together
}

// mostDeep is the largest number of conversations that start each other.
const mostDeep = 1000

// conversation adds the turns of a conversation, of which the first waits for the turns in after and then for a delay, and goes on with the
// conversation of the first one if inherits is true. It returns the turns for which those wait that wait for the conversation.
func (p *dagPlay) conversation(id string, after []int, delay time.Duration, inherits bool) (last []int, err error) {
	c := p.conversations[id]
	switch {
	case c == nil:
		return nil, fmt.Errorf("there is no conversation %q, which is started: want its record", id)
	case p.path[id]:
		return nil, fmt.Errorf("conversation %q starts itself", id)
	case len(p.path) == mostDeep:
		return nil, fmt.Errorf("conversation %q is started by a chain of %d others: want at most %d", id, mostDeep, mostDeep-1)
	case len(p.recording.turns) > mostTurns:
		return nil, fmt.Errorf("it has more than %d turns", mostTurns)
	}
	agent := ""
	if p.path[id] = true; len(p.path) > 1 {
		agent = id
	}
	defer delete(p.path, id)
	if c.Orchestrator {
		if _, err := p.all(c.Before, after, delay); err != nil {
			return nil, err
		}
		return p.rounds(c, after, delay)
	}
	joins := map[int][]int{} // the turns for which turn k of c waits besides the one before it
	for k, t := range c.Turns {
		one := recordedTurn{agent: agent, output: int(t.MaxTokens), delay: t.Delay.in(time.Millisecond), whole: c.ContextMode == wholeConversations || k == 0 && !inherits}
		if one.messages, err = texts(t.Messages); err != nil {
			return nil, fmt.Errorf("conversation %q, turn %d: %w", id, k, err)
		}
		if one.after = append(last, joins[k]...); k == 0 {
			one.after = slices.Clone(after)
			one.delay += delay
		}
		if p.waits += len(one.after); p.waits > mostWaits {
			return nil, fmt.Errorf("its turns wait for more than %d turns together", mostWaits)
		}
		last = []int{p.recording.add(one)}
		if k == 0 {
			if _, err := p.all(c.Before, after, delay); err != nil {
				return nil, err
			}
		}
		for _, f := range t.Forks {
			if !f.Background && k < len(c.Turns)-1 {
				return nil, fmt.Errorf(`conversation %q, turn %d forks into %q, after which it ends, and is not the last turn: want "background": true`, id, k, f.Child)
			}
			if _, err := p.conversation(f.Child, last, 0, true); err != nil {
				return nil, err
			}
		}
		for _, s := range t.Spawns {
			ends, err := p.all(s.Children, last, 0)
			if err != nil {
				return nil, err
			}
			at := k + 1
			if s.JoinAt != nil {
				if at = *s.JoinAt; at <= k || at >= len(c.Turns) {
					return nil, fmt.Errorf(`conversation %q, turn %d: "join_at" is %d: want the number of a later turn, up to %d`, id, k, at, len(c.Turns)-1)
				}
			}
			joins[at] = append(joins[at], ends...)
		}
	}
	return append(last, joins[len(c.Turns)]...), nil
}

// all adds conversations that begin afresh at the same time. It returns the turns that end them.
func (p *dagPlay) all(ids []string, after []int, delay time.Duration) (ends []int, err error) {
	for _, id := range ids {
		one, err := p.conversation(id, after, delay, false)
		if err != nil {
			return nil, err
		}
		ends = append(ends, one...)
	}
	return ends, nil
}

// rounds adds the rounds of an orchestrator.
func (p *dagPlay) rounds(c *dagConversation, after []int, delay time.Duration) (last []int, err error) {
	think := c.ThinkTimeMS.in(time.Millisecond)
	rounds := c.Rounds.All
	for range max(c.Rounds.N, 1) {
		if len(c.Spawns) > 0 {
			rounds = append(rounds, dagRound{Spawns: c.Spawns})
		}
	}
	last = after
	for _, r := range rounds {
		if last, err = p.all(r.Spawns, last, delay); err != nil {
			return nil, err
		}
		if delay = think; r.ThinkTimeMS != nil {
			delay = r.ThinkTimeMS.in(time.Millisecond)
		}
	}
	return last, nil
}

// multiTurnFormat is AIPerf's multi_turn (class MultiTurn of src/aiperf/dataset/loader/models.py in
// https://github.com/ai-dynamo/aiperf). A record is a session. A turn is sent delay milliseconds after the turn before it has ended;
// without a delay, as long after its send as their timestamps are apart.
var multiTurnFormat = sessionFormat{
	name: "multi_turn", wants: "turns with text or texts",
	is: func(first extra) bool {
		turn := first.within("turns")
		return turn.has("text") || turn.has("texts")
	},
	reader: each(multiTurn.session),
}

type multiTurn struct {
	ID    string          `json:"session_id"`
	Type  string          `json:"type"`
	Turns []multiTurnTurn `json:"turns"`
	Extra extra           `json:",embed"`
}

type multiTurnTurn struct {
	Type      string     `json:"type"`
	Role      string     `json:"role"`
	Text      string     `json:"text"`
	Texts     []string   `json:"texts"`
	Timestamp *span      `json:"timestamp"` // milliseconds
	Delay     *span      `json:"delay"`     // milliseconds
	Output    tokenCount `json:"output_length"`
	Extra     extra      `json:",embed"`
}

// session returns the session of a record.
func (m multiTurn) session() (recording, error) {
	r := recording{id: m.ID, at: -1}
	for i, q := range m.Turns {
		for _, other := range []string{"image", "images", "audio", "audios", "video", "videos"} {
			if q.Extra.has(other) {
				return r, fmt.Errorf(`"turns.%d.%s" cannot be sent: want only text`, i, other)
			}
		}
		one, err := chatMessage{Role: cmp.Or(q.Role, "user")}.message()
		if err != nil {
			return r, fmt.Errorf(`"turns.%d.role": %w`, i, err)
		}
		t := recordedTurn{output: int(q.Output)}
		for _, text := range append(q.Texts, q.Text) {
			if text != "" {
				t.messages = append(t.messages, llmbench.Message{Role: one.Role, Content: text})
			}
		}
		if i == 0 && q.Timestamp != nil {
			r.at = q.Timestamp.in(time.Millisecond)
		}
		if i > 0 {
			t.after = []int{i - 1}
			if err := t.follow(q.Delay, m.Turns[i-1].Timestamp, q.Timestamp); err != nil {
				return r, fmt.Errorf(`"turns.%d.%w`, i, err)
			}
		}
		r.add(t)
	}
	return r, nil
}

// follow sets when a turn is sent by its delay, or by its timestamp and the one of the turn before it, in milliseconds.
func (t *recordedTurn) follow(delay, before, at *span) error {
	switch {
	case delay != nil:
		t.delay = delay.in(time.Millisecond)
	case at == nil || before == nil:
	case *at < *before:
		return fmt.Errorf(`timestamp" is %g after %g: want turns of a session in order of time`, float64(*at), float64(*before))
	default:
		t.every = (*at - *before).in(time.Millisecond)
	}
	return nil
}
