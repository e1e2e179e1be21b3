// Package fault describes what a mock server does wrong, and to which requests:
// refusals, streams that break off, stall or never end, events that are not JSON.
//
// Which requests a fault hits depends on its configuration and on the ordinals of
// the requests alone, so that a run can be repeated.
package fault
