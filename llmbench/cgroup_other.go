//go:build !linux

package llmbench

import "time"

// cgroupThrottled is 0: there are no control groups.
func cgroupThrottled() time.Duration { return 0 }
