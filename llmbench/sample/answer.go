package sample

import "strings"

// An Answer is what a server generated for one request.
type Answer struct {
	Text      string     // without the reasoning, if the server separates the two
	Reasoning string     // "" if the server does not separate the reasoning from the text
	ToolCalls []ToolCall // in the order in which the server sent them
	Finish    string     // the server's finish reason, as the server spells it; "" if the server reported none

	// Vectors has the vector of each input of the request, in the order of the inputs, if the answer consists
	// of vectors. Scores has the scores of the inputs, in the order of the answer, if the answer consists of
	// scores. Only checks get them: a sample that is kept, and its record, have neither.
	Vectors [][]float32
	Scores  []Score
}

// A Score is the relevance of one input of a request.
type Score struct {
	Index int // index of the input, from 0
	Score float64
}

// A ToolCall is a function call that an answer asks for.
type ToolCall struct {
	Name      string // "" if the server sent more arguments than names
	Arguments string // normally a JSON object, maybe in white space; "" if there are more names than arguments
}

// ToolNames returns the names of the called functions, separated by spaces.
func (a *Answer) ToolNames() string {
	var names []string
	for _, c := range a.ToolCalls {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, " ")
}

// Arguments returns the arguments of all called functions, concatenated, as the server sent them.
func (a *Answer) Arguments() string {
	var all strings.Builder
	for _, c := range a.ToolCalls {
		all.WriteString(c.Arguments)
	}
	return all.String()
}
