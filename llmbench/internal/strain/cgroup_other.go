//go:build !linux

package strain

import "time"

// cgroupThrottled returns 0, because this system has no control groups.
func cgroupThrottled() time.Duration { return 0 }
