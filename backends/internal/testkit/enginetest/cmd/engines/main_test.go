package main

import (
	"errors"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/need"
)

// TestJoin checks that a failure beside an engine that is not available is a failure.
func TestJoin(t *testing.T) {
	lacks := fmt.Errorf("vllm is %w: no gcc", need.ErrUnavailable)
	full := errors.New("dynamo: no space left on device")
	for _, tt := range []struct {
		all         []error
		want        string
		unavailable bool
	}{
		{[]error{nil, nil}, "", false},
		{[]error{nil, lacks}, "vllm is not available here: no gcc", true},
		{[]error{full, nil}, "dynamo: no space left on device", false},
		{[]error{full, lacks}, "dynamo: no space left on device\nvllm is not available here: no gcc", false},
	} {
		err := join(tt.all)
		assert.Equal(t, errors.Is(err, need.ErrUnavailable), tt.unavailable, "%v", err)
		if tt.want == "" {
			assert.NilError(t, err)
			continue
		}
		assert.Error(t, err, tt.want)
	}
}
