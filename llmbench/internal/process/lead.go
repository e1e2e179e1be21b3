package process

import (
	"encoding/json"
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
		data, err := c.Share("", nil)
		if err == nil {
			var told finding[T]
			if err = json.Unmarshal(data, &told); err == nil && told.Error != "" {
				err = Common{errors.New(told.Error)}
			}
			value = told.Value
		}
		return value, err
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
	data, failed := json.Marshal(told)
	if failed != nil {
		return value, c.Fail(failed)
	}
	if _, lost := c.Share("", data); lost != nil {
		return value, lost
	}
	return value, err
}

// A finding is the result of a call that the leader sends to the other processes.
type finding[T any] struct {
	Value T
	Error string // "": none
}
