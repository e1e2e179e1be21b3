// Package proc runs programs in process groups of their own, and ends them when the user interrupts benchgate.
package proc
