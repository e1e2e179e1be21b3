// Package fault describes what a mock server does wrong, and to which requests. Faults are
// refusals, streams that break off, stall or never end, events that are not JSON, wrong
// answers and more.
//
// A fault hits a request if it applies to that request. Runs can be repeated: which requests
// a fault hits depends only on the fault's configuration and on the order of the requests. If
// [Fault].Above is set, the choice also depends on how many requests are in flight.
package fault
