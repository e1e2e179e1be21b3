package document

import (
	"bytes"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// YAML reads the first document of a YAML text of at most 8 MiB. Aliases become null.
func YAML(r io.Reader) (*Node, error) {
	text, err := lines(r)
	if err != nil {
		return nil, err
	}
	var root yaml.Node
	err = yaml.NewDecoder(bytes.NewReader(text)).Decode(&root)
	switch {
	case err == io.EOF || err == nil && len(root.Content) == 0:
		return &Node{}, nil
	case err != nil:
		return nil, err
	}
	c := &converter{}
	return c.value(root.Content[0], 0, 0)
}

// A converter converts YAML nodes to Nodes.
type converter struct{ nodes int }

// value converts a node. depth is the number of enclosing nodes, and arrays the number of enclosing arrays.
func (c *converter) value(from *yaml.Node, depth, arrays int) (*Node, error) {
	if c.nodes++; c.nodes > maxNodes {
		return nil, errTooMany
	}
	if depth >= maxDepth {
		return &Node{}, nil
	}
	switch from.Kind {
	case yaml.MappingNode:
		n := &Node{kind: object}
		for i := 0; i+1 < len(from.Content); i += 2 {
			v, err := c.value(from.Content[i+1], depth+1, arrays)
			if err == nil {
				err = n.set(cut(from.Content[i].Value), v)
			}
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", from.Content[i].Line, err)
			}
		}
		return n, nil
	case yaml.SequenceNode:
		n := &Node{kind: array}
		for _, item := range from.Content {
			v, err := c.value(item, depth+1, arrays+1)
			if err != nil {
				return nil, err
			}
			n.add(v, keepIn(arrays))
		}
		return n, nil
	case yaml.ScalarNode:
		return scalar(from), nil
	}
	return &Node{}, nil
}

// scalar converts a scalar.
func scalar(from *yaml.Node) *Node {
	switch from.ShortTag() {
	case "!!null":
		return &Node{}
	case "!!bool":
		n := &Node{kind: boolean}
		if from.Decode(&n.truth) == nil {
			return n
		}
	case "!!int", "!!float":
		n := &Node{kind: number}
		if from.Decode(&n.number) == nil {
			return n
		}
	}
	return &Node{kind: text, text: cut(from.Value)}
}
