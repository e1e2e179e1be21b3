// Package fault describes what a mock server does wrong, and to which requests:
// refusals, streams that break off, stall or never end, events that are not JSON, wrong
// answers.
//
// Which requests a fault hits depends on its configuration and on the ordinals of
// the requests alone, unless [Fault].Above is set, so that a run can be repeated.
package fault
