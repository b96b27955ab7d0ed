package api

import (
	"context"

	"github.com/halyard/halyardd/internal/engine"
	"github.com/halyard/halyardd/proto/halyardpb"
)

// Server answers RPCs by way of the engine.
type Server struct {
	halyardpb.UnimplementedHalyardServer
	engine *engine.Engine
}

// StartSnapshot starts a snapshot and returns its operation.
func (s *Server) StartSnapshot(ctx context.Context, in *halyardpb.StartSnapshotRequest) (*halyardpb.Operation, error) {
	operation, err := s.engine.Start(ctx, in.GetVolume())
	return toProto(operation), toStatus(err)
}
