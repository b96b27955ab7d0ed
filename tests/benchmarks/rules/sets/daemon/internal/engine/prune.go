package engine

import (
	"context"
	"time"
)

const grace = 72 * time.Hour

// Prune marks what the retention policy no longer keeps, and deletes what was marked long enough ago.
func (e *Engine) Prune(ctx context.Context, policy Policy) error {
	for _, snapshot := range e.state.Snapshots() {
		if snapshot.LegalHold || snapshot.Last || policy.Keeps(snapshot) {
			continue
		}
		if snapshot.MarkedFor() < grace {
			e.state.Mark(snapshot.ID)
			continue
		}
		if err := e.store.Delete(ctx, snapshot.Keys()); err != nil {
			return err
		}
	}
	return nil
}
