package conn

import (
	"math"
	"testing"

	"gotest.tools/v3/assert"
)

func TestCheckLimits(t *testing.T) {
	assert.NilError(t, checkPorts(28232, "32768\t60999\n"))
	assert.ErrorContains(t, checkPorts(28233, "32768\t60999\n"), "28233 connections to one server, but only 28232 local ports")
	assert.NilError(t, checkPorts(1, "not a range"))
	assert.NilError(t, CheckLimits(10))
	if err := checkFiles(math.MaxInt); err != nil { // some systems have no limit
		assert.ErrorContains(t, err, "RLIMIT_NOFILE")
	}
}
