package volume

import (
	"context"
	"fmt"

	"github.com/halyard/halyardd/internal/volume/runner"
)

// LVM takes thin snapshots.
type LVM struct{ run *runner.Runner }

// Snapshot makes a thin snapshot with our tag.
func (l *LVM) Snapshot(ctx context.Context, id ID) (*Snapshot, error) {
	out, err := l.run.JSON(ctx, "lvcreate", "--snapshot", "--addtag", "halyard:"+string(id), string(id))
	if err != nil {
		return nil, fmt.Errorf("lvcreate %s: %w", id, err)
	}
	return parseLV(out)
}
