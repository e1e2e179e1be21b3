package llmbench

import (
	"fmt"
	"os"
)

// portRange is where Linux says which local ports it gives to connections.
const portRange = "/proc/sys/net/ipv4/ip_local_port_range"

// checkLimits says whether conns connections to one server can be open at once:
// before a pass, which would else fail in the middle. Of an open loop nobody can tell
// how many there will be: checked are those that are opened ahead.
func checkLimits(conns int) error {
	if err := checkFiles(conns); err != nil {
		return err
	}
	text, err := os.ReadFile(portRange)
	if err != nil {
		return nil // not Linux
	}
	return checkPorts(conns, string(text))
}

// checkPorts holds conns against a range like "32768 60999".
func checkPorts(conns int, text string) error {
	var from, to int
	if n, _ := fmt.Sscan(text, &from, &to); n != 2 || to < from {
		return nil
	}
	if ports := to - from + 1; conns > ports {
		return fmt.Errorf("load: %d connections to one server, and there are %d local ports for them (%s is %d %d): want a wider range", conns, ports, portRange, from, to)
	}
	return nil
}
