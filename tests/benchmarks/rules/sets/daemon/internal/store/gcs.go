package store

import (
	"context"
	"io"

	"cloud.google.com/go/storage"
)

// GCS keeps chunks in a bucket of Google's.
type GCS struct{ bucket *storage.BucketHandle }

// Get reads a chunk.
func (g *GCS) Get(ctx context.Context, key string) ([]byte, error) {
	reader, err := g.bucket.Object(key).NewReader(ctx)
	if err != nil {
		return nil, classify(err)
	}
	defer reader.Close()
	return io.ReadAll(reader)
}
