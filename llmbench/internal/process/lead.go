package process

import (
	"errors"
	"fmt"
)

// Lead calls f in the process that leads. In all processes, it returns what f returned there, encoded and
// decoded with encoding/json. Package llmbench documents it.
func Lead[T any](name string, f func() (T, error)) (value T, err error) {
	c, several := Join(name).(*shards)
	if !several {
		return f()
	}
	c.step = "what shard 0 finds out"
	if !c.Leads() {
		told, err := ShareJSON(c, "", finding[T]{})
		if err == nil && told.Error != "" {
			err = Common{errors.New(told.Error)}
		}
		return told.Value, err
	}
	returned := false
	defer func() {
		if !returned {
			c.Fail(fmt.Errorf("%s: the function ended its goroutine, as Fatal of package testing does", name))
		}
	}()
	value, err = f()
	returned = true
	told := finding[T]{Value: value}
	if err != nil {
		told.Error = err.Error()
	}
	if _, lost := ShareJSON(c, "", told); lost != nil {
		return value, lost
	}
	return value, err
}

// A finding is the result of a call that the leader sends to the other processes.
type finding[T any] struct {
	Value T
	Error string // "": none
}
