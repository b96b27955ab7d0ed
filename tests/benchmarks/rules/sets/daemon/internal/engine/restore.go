package engine

import (
	"context"
	"fmt"

	"github.com/halyard/halyardd/internal/fault"
)

// Restore writes a snapshot beside the target and swaps at the end.
func (e *Engine) Restore(ctx context.Context, manifest Manifest, target string) error {
	beside, err := e.open(target + ".restoring")
	if err != nil {
		return fmt.Errorf("open %s: %w", target, err)
	}
	defer beside.Close()
	for _, chunk := range manifest.Chunks {
		data, err := e.store.Get(ctx, chunk.Key)
		if err != nil {
			return fmt.Errorf("get chunk %s: %w", chunk.Key, err)
		}
		if digest(data) != chunk.Digest {
			return fault.Corrupt("chunk %s is damaged", chunk.Key)
		}
		if _, err := beside.WriteAt(data, chunk.Offset); err != nil {
			return fmt.Errorf("write chunk %s: %w", chunk.Key, err)
		}
	}
	return e.swap(beside, target)
}
