package conn

import (
	"fmt"
	"os"
)

// portRange is the file with the range of local ports that Linux uses for connections.
const portRange = "/proc/sys/net/ipv4/ip_local_port_range"

// CheckLimits returns an error if the process cannot open conns more connections to one server, because of
// its limit of open files or because of the range of local ports. It raises the process's limit of open
// files as far as the system allows.
func CheckLimits(conns int) error {
	if err := checkFiles(conns); err != nil {
		return err
	}
	text, err := os.ReadFile(portRange)
	if err != nil {
		return nil // not Linux
	}
	return checkPorts(conns, string(text))
}

// checkPorts returns an error if a range like "32768 60999" has fewer ports than conns.
func checkPorts(conns int, text string) error {
	var from, to int
	if n, _ := fmt.Sscan(text, &from, &to); n != 2 || to < from {
		return nil
	}
	if ports := to - from + 1; conns > ports {
		return fmt.Errorf("%d connections to one server, but only %d local ports (%s is %d %d): want a wider range", conns, ports, portRange, from, to)
	}
	return nil
}
