package engine

import (
	"context"
	"fmt"

	"github.com/halyard/halyardd/internal/volume"
	"golang.org/x/sync/errgroup"
)

// Snapshot takes a snapshot of a volume and uploads its chunks.
func (e *Engine) Snapshot(ctx context.Context, id volume.ID) (err error) {
	thaw, err := e.hooks.Freeze(ctx, id)
	if err != nil {
		return fmt.Errorf("freeze volume %s: %w", id, err)
	}
	snapshot, err := e.driver.Snapshot(ctx, id)
	thaw()
	if err != nil {
		return fmt.Errorf("snapshot volume %s: %w", id, err)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(e.settings.ParallelUploads)
	for chunk := range snapshot.Chunks() {
		group.Go(func() error { return e.upload(ctx, chunk) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("upload snapshot %s: %w", snapshot.ID, err)
	}
	return e.writeManifest(ctx, snapshot)
}
