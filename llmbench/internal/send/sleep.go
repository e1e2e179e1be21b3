package send

import (
	"context"
	"time"
)

// Sleep waits for d. If ctx ends earlier, Sleep returns its cause at once.
func Sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
