package benchdata

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
)

// aibrixFormat is AIBrix' workload of agent sessions, aibrix.agent-session.v1
// (benchmarks/generator/workload_generator/agent_session_generator.py in https://github.com/vllm-project/aibrix). A record has the
// requests and events of an instant; those with the same session_id are a session. Requests and events, which are tools, retries, joins and waits, are
// nodes of a graph.
//
// A request waits for the requests that it comes after by way of events, and then as long as it is later than the last of their recorded
// ends, timestamp + expected_latency_ms. Its prompt is the whole conversation, a message of the user; without a prompt, a made-up one of
// prompt_length tokens. Requests of a session that come after no other one are sent as long after its first one as their timestamps say.
var aibrixFormat = sessionFormat{
	name: "aibrix-agent-session", wants: "schema_version, timestamp, requests",
	is: func(first extra) bool { return first.has("schema_version", "timestamp", "requests") },
	reader: func(r *sessionReader) sessionRecords {
		f := &aibrixFile{sessions: map[string]*aibrixSession{}}
		return sessionRecords{add: func(v jsontext.Value) ([]recording, error) { return nil, f.add(r, v) }, end: f.all}
	},
}

// aibrixSchema is the version of the schema.
const aibrixSchema = "aibrix.agent-session.v1"

type aibrixInstant struct {
	Schema    string          `json:"schema_version"`
	Timestamp span            `json:"timestamp"` // milliseconds
	Requests  []aibrixRequest `json:"requests"`
	Events    []aibrixEvent   `json:"events"`
	Extra     extra           `json:",embed"`
}

type aibrixRequest struct {
	Prompt  string     `json:"prompt"`
	Length  tokenCount `json:"prompt_length"`
	Output  tokenCount `json:"output_length"`
	Session string     `json:"session_id"`
	Agent   aibrixNode `json:"agent"`
	Extra   extra      `json:",embed"`
}

type aibrixNode struct {
	Node    string   `json:"node_id"`
	Parents []string `json:"parent_ids"`
	Latency span     `json:"expected_latency_ms"`

	Schema  ignored `json:"schema_version"`
	Task    ignored `json:"task_id"`
	Type    ignored `json:"node_type"`
	Turn    ignored `json:"turn"`
	Phase   ignored `json:"phase"`
	State   ignored `json:"state_refs"`
	Context ignored `json:"context_delta_tokens"`
	Extra   extra   `json:",embed"`
}

type aibrixEvent struct {
	Session string   `json:"session_id"`
	Node    string   `json:"node_id"`
	Parents []string `json:"parent_ids"`

	Schema   ignored `json:"schema_version"`
	Task     ignored `json:"task_id"`
	Type     ignored `json:"node_type"`
	Turn     ignored `json:"turn"`
	Branch   ignored `json:"branch"`
	Attempt  ignored `json:"attempt"`
	Duration ignored `json:"duration_ms"`
	Status   ignored `json:"status"`
	Effects  ignored `json:"side_effects"`
	State    ignored `json:"state_refs"`
	Context  ignored `json:"context_delta_tokens"`
	Extra    extra   `json:",embed"`
}

// An aibrixSession has the nodes of a session.
type aibrixSession struct {
	id    string
	nodes []aibrixStep
	index map[string]int // of nodes by their names
}

// An aibrixStep is a request or an event.
type aibrixStep struct {
	name    string
	at      time.Duration
	end     time.Duration // of a request
	parents []string
	request *aibrixRequest // nil for an event
}

// An aibrixFile has the sessions of a file.
type aibrixFile struct {
	order    []*aibrixSession
	sessions map[string]*aibrixSession
}

func (f *aibrixFile) add(r *sessionReader, v jsontext.Value) error {
	one, err := decoded[aibrixInstant](r, v)
	if err != nil {
		return err
	}
	if one.Schema != aibrixSchema {
		return fmt.Errorf(`"schema_version" is %.40q: want %s`, one.Schema, aibrixSchema)
	}
	at := one.Timestamp.in(time.Millisecond)
	for i, q := range one.Requests {
		s := aibrixStep{at: at, end: at + q.Agent.Latency.in(time.Millisecond), parents: q.Agent.Parents, request: &one.Requests[i]}
		if err := f.step(r, q.Session, q.Agent.Node, s); err != nil {
			return fmt.Errorf(`"requests.%d.agent.%w`, i, err)
		}
	}
	for i, e := range one.Events {
		if err := f.step(r, e.Session, e.Node, aibrixStep{at: at, parents: e.Parents}); err != nil {
			return fmt.Errorf(`"events.%d.%w`, i, err)
		}
	}
	return nil
}

// step adds a node to its session, unless that is not needed.
func (f *aibrixFile) step(r *sessionReader, session, name string, step aibrixStep) error {
	s := f.sessions[session]
	if s == nil {
		if r.want > 0 && len(f.order) == r.want {
			return nil
		}
		s = &aibrixSession{id: session, index: map[string]int{}}
		f.sessions[session] = s
		f.order = append(f.order, s)
	}
	if _, again := s.index[name]; again || name == "" {
		return fmt.Errorf(`node_id" is %.40q: want a name that no other node of session %.40q has`, name, session)
	}
	s.index[name] = len(s.nodes)
	step.name = name
	s.nodes = append(s.nodes, step)
	return nil
}

// all returns the sessions of the file.
func (f *aibrixFile) all() (sessions []recording, err error) {
	for _, s := range f.order {
		one, err := s.recording()
		if err != nil {
			return nil, fmt.Errorf("session %q: %w", s.id, err)
		}
		sessions = append(sessions, one)
	}
	return sessions, nil
}

// recording returns the session.
func (s *aibrixSession) recording() (recording, error) {
	r := recording{id: s.id, at: -1}
	parents := make([][]int, len(s.nodes))
	for i, node := range s.nodes {
		for _, p := range node.parents {
			before, known := s.index[p]
			if !known {
				return r, fmt.Errorf(`node %q has the parent %.40q: want the node_id of a node of the session`, node.name, p)
			}
			parents[i] = append(parents[i], before)
		}
	}
	order := inOrder(parents)
	if len(order) < len(s.nodes) {
		return r, fmt.Errorf("%d nodes wait for each other in a circle: want none", len(s.nodes)-len(order))
	}
	waits := make([][]int, len(s.nodes)) // the turns that must have ended before what waits for a node
	total := 0
	var ends []time.Duration // of turns
	for _, i := range order {
		node := s.nodes[i]
		var after []int
		if len(parents[i]) == 1 {
			after = waits[parents[i][0]]
		} else {
			for _, p := range parents[i] {
				after = append(after, waits[p]...)
			}
			slices.Sort(after)
			after = slices.Compact(after)
		}
		if total += len(after); total > mostWaits {
			return r, fmt.Errorf("its nodes wait for more than %d requests together", mostWaits)
		}
		q := node.request
		if q == nil {
			waits[i] = after
			continue
		}
		if r.at < 0 {
			r.at = node.at
		}
		t := recordedTurn{after: after, whole: true, input: int(q.Length), output: int(q.Output), delay: max(0, node.at-r.at)}
		if len(after) > 0 {
			last := slices.MaxFunc(after, func(a, b int) int { return cmp.Compare(ends[a], ends[b]) })
			t.delay = max(0, node.at-ends[last])
		}
		if q.Prompt != "" {
			t.messages = []llmbench.Message{{Role: "user", Content: q.Prompt}}
		}
		waits[i] = []int{r.add(t)}
		ends = append(ends, node.end)
	}
	return r, nil
}
